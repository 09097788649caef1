"""Trial of a judge on one story, or on two beside each other, without a run: queries, answers, one sheet of them."""
