"""Generated stories read from a journal, with their faults. Texts change only by rules that the user names."""
