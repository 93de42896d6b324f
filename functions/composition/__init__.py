"""What the functions are made of: each part is built once a process, on first use, from the environment."""
