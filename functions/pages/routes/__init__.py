"""The pages, one module a subject: each reads what it shows and names a template."""
