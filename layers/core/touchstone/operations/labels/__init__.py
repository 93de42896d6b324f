"""People's labels of judged things: stored, counted for the cards of judges, and drawn for the next label."""
