"""Commands that set Eval-Prompts, judges, runs, stories or systems against each other."""
