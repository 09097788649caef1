"""Generated stories: read from a journal, checked for faults and exported. Text is removed only by rules that the user
names.
"""
