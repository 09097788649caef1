"""Eval-Prompts, judges and runs set against each other on the same stories."""
