"""Where a run's files lie, and what RUN on the command line means. Never creates anything."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from judge.errors import RunFolderError

DEFINITION = "run.yaml"
MANIFEST = "manifest.json"
JOURNAL = "journal.sqlite"
IMPORTED, IMPORTED_PARQUET = "imported.csv", "imported.parquet"


@dataclass(frozen=True, slots=True)
class ResultFolder:
    """One judge's results of one run."""

    path: Path

    @property
    def manifest(self) -> Path:
        """What was asked and what was in force."""
        return self.path / MANIFEST

    @property
    def journal(self) -> Path:
        """Everything asked and answered."""
        return self.path / JOURNAL

    @property
    def imported(self) -> Path:
        """A ratings table from elsewhere, in place of a journal."""
        parquet = self.path / IMPORTED_PARQUET
        return parquet if parquet.is_file() else self.path / IMPORTED

    @property
    def derived(self) -> Path:
        """What can be computed again: caches."""
        return self.path / "derived"

    def exists(self) -> bool:
        """Whether there are results to read."""
        return self.journal.is_file() or self.imported.is_file()


def judge_slug(judge: str, revision: str | None = None) -> str:
    """A judge's name as a folder name: `openai/gpt-4o` -> `openai-gpt-4o`."""
    name = judge if revision is None else f"{judge}@{revision}"
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name).strip("-.") or "judge"


def folder_for(definition: Path, name: str, judge: str, revision: str | None = None) -> ResultFolder:
    """A judge's result folder: beside run.yaml, or, for a file of another name, in a folder named after the run."""
    parent = definition.parent if definition.name == DEFINITION else definition.parent / name
    return ResultFolder(parent / judge_slug(judge, revision))


def definition_of(run: Path) -> Path:
    """The run.yaml that RUN names: the file itself, or the one in the folder."""
    if run.is_dir():
        for candidate in (run / DEFINITION, run.parent / DEFINITION):
            if candidate.is_file():
                return candidate
        raise RunFolderError(f"{run} holds no {DEFINITION}", hint="judge init NAME writes a commented one")
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint="judge init NAME writes a commented run.yaml")
    return run


def resolve(runs: Iterable[Path | str]) -> list[ResultFolder]:
    """Result folders of RUNs: a run.yaml, its folder (all its judges), or one result folder; in order, each once."""
    found: dict[Path, ResultFolder] = {}
    for run in map(Path, runs):
        folders = _results_in(run)
        if not folders:
            raise RunFolderError(f"{run} has no results yet", hint=f"judge run {run}")
        for folder in folders:
            found.setdefault(folder.path.resolve(), folder)
    return list(found.values())


def _results_in(run: Path) -> list[ResultFolder]:
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint="RUN is a run.yaml, its folder, or one result folder")
    if run.is_file():
        if run.name != DEFINITION:
            # `pilot.yaml` keeps its results in a folder named after the run, which the file itself names.
            import yaml

            data = yaml.safe_load(run.read_text(encoding="utf-8"))
            name = data.get("name") if isinstance(data, dict) else None
            return _results_in(run.parent / str(name)) if name and (run.parent / str(name)).is_dir() else []
        run = run.parent
    if ResultFolder(run).exists():
        return [ResultFolder(run)]
    return [ResultFolder(path) for path in sorted(run.iterdir()) if path.is_dir() and ResultFolder(path).exists()]
