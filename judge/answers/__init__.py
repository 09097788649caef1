"""What judges answered: the journal that keeps it and the parsers that read it."""
