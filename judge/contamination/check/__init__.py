"""Check of runs for contamination: has a judge seen the stories it rates? States what can be measured for each judge
and what cannot.
"""

from judge.contamination.check.compute import check, kept, table, text
from judge.contamination.check.result import Check, Checked

__all__ = ["Check", "Checked", "check", "kept", "table", "text"]
