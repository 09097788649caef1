"""Results as people and machines read them: tables in every format, LaTeX, dollars, the terminal's width."""
