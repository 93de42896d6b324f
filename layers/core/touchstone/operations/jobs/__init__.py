"""What all jobs have in common once they are accepted: records that nothing carries any more are taken up again."""
