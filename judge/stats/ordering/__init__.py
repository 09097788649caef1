"""Orders of stories and systems: pairwise accuracy, ranks, wins."""
