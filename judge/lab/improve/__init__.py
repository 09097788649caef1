"""Better Eval-Prompts for a run's judge: candidates, a race on one part of the story-prompts, a verdict on another."""
