"""Oracle: submissions to a task gated, scored band first, and ranked side by side."""
