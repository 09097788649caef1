"""What a judge is given: stories and their features, criteria and Eval-Prompts."""
