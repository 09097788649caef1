"""Check of runs for contamination: what can be measured for each judge of the stories it rates, and what cannot."""

from judge.contamination.check.compute import check, kept, table, text
from judge.contamination.check.result import Check, Checked

__all__ = ["Check", "Checked", "check", "kept", "table", "text"]
