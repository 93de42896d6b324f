"""Whether two expressions, equations or inequalities are the same: exact arithmetic, then algebra within bounds."""
