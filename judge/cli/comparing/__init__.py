"""Commands that compare Eval-Prompts, judges, runs, stories or systems with each other."""
