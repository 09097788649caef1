"""Certificates: how well a judge agrees with people, by Eval-Prompt and criterion, and whether conditions are met."""
