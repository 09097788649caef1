"""Result folders: their location, their manifest, and the lock that allows only one process to write."""

from judge.asking.run_folder.cost import Cost, cost_of, folder_cost
from judge.asking.run_folder.layout import ResultFolder, folder_for, judge_slug, resolve
from judge.asking.run_folder.lock import is_held, lock, writer_runs
from judge.asking.run_folder.manifest import read_manifest, write_manifest

__all__ = [
    "Cost",
    "ResultFolder",
    "cost_of",
    "folder_cost",
    "folder_for",
    "is_held",
    "judge_slug",
    "lock",
    "read_manifest",
    "resolve",
    "write_manifest",
    "writer_runs",
]
