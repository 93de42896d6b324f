"""The package as others get it: built, installed into an empty environment, and used there."""
