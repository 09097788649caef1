"""Has a judge seen the stories it rates? As far as it can be told from a run, in one go, and what cannot be told."""

from judge.contamination.check.compute import check, kept
from judge.contamination.check.printed import table, text
from judge.contamination.check.result import Check, Checked

__all__ = ["Check", "Checked", "check", "kept", "table", "text"]
