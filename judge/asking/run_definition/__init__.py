"""Reads run.yaml: the definition of a run and of its judges."""
