"""Writer of a result folder for imported preferences. What was written is checked with the reader of preferences
tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judge.asking.run_folder import ResultFolder, write_manifest
from judge.asking.run_folder.manifest import environment
from judge.base.fingerprint import sha256_file
from judge.base.records import Criterion
from judge.exchange.imports.imported_folder import STORIES, replace_folder
from judge.ratings.preferences_table.imported import read_imported


@dataclass(frozen=True, slots=True)
class PreferencesImport:
    """Content of a result folder for imported preferences: rows of the preferences table, and the stories compared.

    `stories` has the columns `dataset, story, story_prompt, system, words, text`. `orders` is "both" or, where the log
    does not record which story was shown first, "not told". `log` describes the imported log: its tool, which fields
    identify a preference, and what data it lacks.
    """

    frame: pd.DataFrame
    stories: pd.DataFrame
    judge: str
    criteria: Sequence[Criterion]
    notes: Sequence[str]
    sources: Sequence[Path]
    orders: str
    log: Mapping[str, Any]


def write_preferences(path: Path, imported: PreferencesImport) -> ResultFolder:
    """Write a result folder with the imported preferences, completely or not at all, and return it. An earlier import
    at the path is replaced.

    Raises RunFolderError where the folder has a journal or cannot be written.
    """

    def write(folder: ResultFolder) -> None:
        imported.frame.to_csv(folder.preferences, index=False, lineterminator="\n")
        imported.stories.to_csv(folder.path / STORIES, index=False, lineterminator="\n")
        manifest = {
            "judge": imported.judge,
            "criteria": [criterion.record() for criterion in imported.criteria],
            "notes": list(imported.notes),
            "orders": imported.orders,
            "sources": [{"file": source.name, "sha256": sha256_file(source)} for source in imported.sources],
            "log": dict(imported.log),
            "environment": environment(),
        }
        write_manifest(folder.manifest, manifest)
        read_imported(folder, {})

    return replace_folder(path, write)
