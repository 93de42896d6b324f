"""The pages, one module for each subject. Each page reads the records that it shows, and names a template."""
