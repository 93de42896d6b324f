"""Every job of a judge done by a real model, for which nothing here wrote the replies."""
