"""What all jobs share: the intake that accepts them, and the sweep that restarts those that stopped."""
