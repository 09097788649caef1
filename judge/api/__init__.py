"""Python interface for notebooks: opens datasets, runs and audits, and gives the results of analyses as frames and
tables.
"""

from judge.api.opened_run import LoadedDataset, OpenedRun, load_dataset, open_audit, open_run, run
from judge.questions.answer import Answer

__all__ = ["Answer", "LoadedDataset", "OpenedRun", "load_dataset", "open_audit", "open_run", "run"]
