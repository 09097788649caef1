"""Do the statistics find what is there? Simulated judges with planted faults, put through the real steps."""

from judge.self_test.power import SEEDS, Outcome, measure, table

__all__ = ["SEEDS", "Outcome", "measure", "table"]
