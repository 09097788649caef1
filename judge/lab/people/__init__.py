"""People rate stories: the design of who reads what, the file of their answers, signs of careless work, the report."""
