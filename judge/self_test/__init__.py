"""Self-test of the diagnostics: simulated judges with planted faults, analysed by the real steps."""

from judge.self_test.power import SEEDS, Outcome, measure, table

__all__ = ["SEEDS", "Outcome", "measure", "table"]
