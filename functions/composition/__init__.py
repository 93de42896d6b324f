"""The parts that the functions are made of, built from the environment: most once per process, on first use."""
