"""Generated stories: read from a journal, checked for faults and exported; only rules that the user names remove
text."""
