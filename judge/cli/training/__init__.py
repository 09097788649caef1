"""Command `judge train`: trains an evaluator."""
