"""Evaluators fitted on what people preferred and rated. Accuracy is told out of fold only: no story it has seen."""
