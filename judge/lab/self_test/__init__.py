"""Self-test of the diagnostics on simulated judges with known faults, with the same steps as `judge diagnose`."""

from judge.lab.self_test.power import SEEDS, Outcome, measure, table

__all__ = ["SEEDS", "Outcome", "measure", "table"]
