"""Commands that sum up the results of runs, on one screen or in a certificate."""
