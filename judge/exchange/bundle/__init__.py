"""One archive of runs for artifact review, and its verification."""
