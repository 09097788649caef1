"""The journal: an SQLite file with every query and answer of a run. It is the only data that cannot be recomputed."""

from judge.journal.database import fold
from judge.journal.merging import JournalMerger, Merged
from judge.journal.reader import JournalReader, Totals
from judge.journal.writer import COMMIT_WINDOW, Committed, JournalWriter

__all__ = ["COMMIT_WINDOW", "Committed", "JournalMerger", "JournalReader", "JournalWriter", "Merged", "Totals", "fold"]
