"""What each analysis of an opened run does: options from words, one computation, its frame and tables."""
