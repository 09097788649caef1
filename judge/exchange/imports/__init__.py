"""Studies' released answers and scores as result folders."""
