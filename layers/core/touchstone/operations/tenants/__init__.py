"""What an operator does with all that a tenant has: hand it out, and remove it."""
