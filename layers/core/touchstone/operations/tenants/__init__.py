"""What an operator does with all the data of a tenant: export it, and delete it."""
