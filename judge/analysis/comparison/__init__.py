"""Comparisons of Eval-Prompts, judges and runs on the same stories."""
