"""Import and export of an audit's items and answers in file formats of other programs."""
