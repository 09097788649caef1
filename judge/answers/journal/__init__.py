"""The journal: an SQLite file with every query and answer of a run. It is the only data that cannot be recomputed."""

from judge.answers.journal.database import fold
from judge.answers.journal.parts import JournalMerger, Merged
from judge.answers.journal.reader import JournalReader, Totals
from judge.answers.journal.writer import COMMIT_WINDOW, Committed, JournalWriter

__all__ = ["COMMIT_WINDOW", "Committed", "JournalMerger", "JournalReader", "JournalWriter", "Merged", "Totals", "fold"]
