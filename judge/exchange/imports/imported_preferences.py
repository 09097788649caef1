"""Writer of a result folder for imported preferences, checked by the tables' own reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from judge.exchange.imports.imported_folder import STORIES, replace_folder
from judge.fingerprint import sha256_file
from judge.preferences_table.imported import read_imported
from judge.records import Criterion
from judge.run_folder import ResultFolder, write_manifest
from judge.run_folder.manifest import environment


@dataclass(frozen=True, slots=True)
class PreferencesImport:
    """Content of an import's folder: rows with the preferences table's columns, and the stories they are about.

    `stories` has `dataset, story, story_prompt, system, words, text`; `orders` says how pairs were shown, `log` which
    tool's log this was, what identifies a preference in it, and what it could not tell.
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
    """Write the folder whole or not at all; an earlier import in the same place is replaced.

    Raises RunFolderError where a journal lies there or nothing can be written.
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
