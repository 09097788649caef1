"""Trial of a judge on one story, or on two that it compares, without a run: queries, answers, and a result sheet."""
