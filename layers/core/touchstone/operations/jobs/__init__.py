"""What all jobs have in common: the intake that accepts them, and the sweep that takes up what stopped."""
