"""Commands that set a judge's repeats beside each other."""
