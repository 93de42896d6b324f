"""Where code that nobody trusts runs: bounded, alone, and gone without a trace before the next run."""
