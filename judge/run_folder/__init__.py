"""Result folders: location, manifest, and the lock for their one writer."""

from judge.run_folder.cost import Cost, cost_of, folder_cost
from judge.run_folder.layout import ResultFolder, folder_for, judge_slug, resolve
from judge.run_folder.lock import is_held, lock, writer_runs
from judge.run_folder.manifest import read_manifest, write_manifest

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
