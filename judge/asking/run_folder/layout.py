"""Locates a run's files, and interprets the RUN arguments of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.asking.run_definition.judges import ANY
from judge.asking.run_definition.spec import load_run_spec, load_run_specs, names_judge
from judge.asking.run_definition.writing import AnySpec, is_writing, load_specs, stored_spec
from judge.asking.run_folder.manifest import read_manifest
from judge.base import yaml_file
from judge.base.errors import RunFolderError, SpecError, yaml_mistake

DEFINITION = "run.yaml"
# The definition of stories to be written; its results lie as a run's do.
GENERATION = "generate.yaml"

MANIFEST = "manifest.json"
JOURNAL = "journal.sqlite"
# In a judge's result folder: the parts of the plan that were asked by processes of their own, a folder each.
SHARDS = "shards"

IMPORTED, IMPORTED_PARQUET = "imported.csv", "imported.parquet"
IMPORTED_PREFERENCES = "imported_preferences.csv"

_RUN = "a run.yaml, its folder, or one result folder"
# Runs named in a message.
_NAMED = 4
# Definitions whose results lie beside them: a folder holds one.
_OWN_FOLDER = (DEFINITION, GENERATION)


@dataclass(frozen=True, slots=True)
class ResultFolder:
    path: Path

    @property
    def manifest(self) -> Path:
        """What was requested, and the settings in effect."""
        return self.path / MANIFEST

    @property
    def journal(self) -> Path:
        """All requests and answers."""
        return self.path / JOURNAL

    @property
    def imported(self) -> Path:
        """Imported ratings table (CSV or Parquet), instead of a journal."""
        parquet = self.path / IMPORTED_PARQUET
        return parquet if parquet.is_file() else self.path / IMPORTED

    @property
    def preferences(self) -> Path:
        """Imported preferences table, instead of a journal."""
        return self.path / IMPORTED_PREFERENCES

    @property
    def derived(self) -> Path:
        """Folder of caches, which can be computed again."""
        return self.path / "derived"

    @property
    def server_terms(self) -> Path:
        """Cache of request formats that servers accept, learnt from refused requests."""
        return self.derived / "server_terms.json"

    def parsed(self, parser: str) -> Path:
        return self.derived / f"parsed-{re.sub(r'[^A-Za-z0-9._-]+', '-', parser)}.sqlite"

    def exists(self) -> bool:
        """Whether the folder has results to read."""
        return self.journal.is_file() or self.imported.is_file() or self.preferences.is_file()


def judge_slug(judge: str, revision: str | None = None) -> str:
    """A judge's name as a folder name, for example `openai-gpt-4o` for `openai/gpt-4o`."""
    name = judge if revision is None else f"{judge}@{revision}"
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name).strip("-.") or "judge"


def folder_for(definition: Path, name: str, judge: str, revision: str | None = None) -> ResultFolder:
    """A judge's result folder, next to run.yaml or generate.yaml, or in a folder named after the run for other file
    names."""
    parent = definition.parent if definition.name in _OWN_FOLDER else definition.parent / name
    return ResultFolder(parent / judge_slug(judge, revision))


def results_beside(definition: Path) -> list[ResultFolder]:
    """Folders that may hold a definition's results, sorted by name; where `folder_for` puts them."""
    parent = definition.parent
    if definition.name not in _OWN_FOLDER:
        parent /= str(_defined(definition).get("name") or definition.stem)
    return [ResultFolder(path) for path in _folders(parent)] if parent.is_dir() else []


def definition_in(folder: Path) -> Path | None:
    """run.yaml or generate.yaml in a folder; None without. Raises RunFolderError for both, which would share a result
    folder."""
    definitions = [folder / name for name in _OWN_FOLDER if (folder / name).is_file()]
    if len(definitions) > 1:
        raise RunFolderError(f"{folder} holds both {DEFINITION} and {GENERATION}", hint="give each a folder of its own")
    return definitions[0] if definitions else None


def definition_of(run: Path) -> Path:
    """The definition that RUN names: a file, or in the folder or its parent. Raises RunFolderError if there is none."""
    if run.is_dir():
        # The folder of a part of a plan lies in that of the whole: RUN/JUDGE/shards/1-of-4.
        above = [run.parents[2]] if run.parent.name == SHARDS and len(run.parents) > 2 else []
        for folder in (run, run.parent, *above):
            if (definition := definition_in(folder)) is not None:
                return definition
        if _runs_in(run):
            raise _without_results(run)
        raise RunFolderError(f"{run} holds no {DEFINITION}", hint="judge init NAME writes a commented one")
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint="judge init NAME writes a commented run.yaml")
    _refuse_archive(run)
    return run


def resolve(runs: Iterable[Path | str]) -> list[ResultFolder]:
    """Result folders of RUNs, in order, without duplicates. A RUN is a definition, its folder (all judges), or one
    result folder. Raises RunFolderError for a RUN without results."""
    results: dict[Path, ResultFolder] = {}
    for run in map(Path, runs):
        folders = _results_in(run)
        if not folders:
            raise _without_results(run)
        for folder in folders:
            results.setdefault(folder.path.resolve(), folder)
    return list(results.values())


def compares(folder: ResultFolder) -> bool:
    """Whether a result folder holds comparisons of stories."""
    if not folder.journal.is_file():
        return folder.preferences.is_file()
    from judge.answers.journal import JournalReader

    with JournalReader(folder.journal) as journal:
        return journal.compares


def comparing(runs: Sequence[Path | str]) -> tuple[list[Path], list[Path]]:
    """(Result folders with comparisons, other result folders) of `runs`: definitions, run folders, or result
    folders."""
    folders = resolve(runs)
    compared = [folder.path for folder in folders if compares(folder)]
    return compared, [folder.path for folder in folders if folder.path not in compared]


def _results_in(run: Path) -> list[ResultFolder]:
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint=f"RUN is {_RUN}")
    if run.is_file():
        if run.name not in _OWN_FOLDER:
            # `pilot.yaml` keeps its results in a folder named after the run: as the file says, or like the file.
            name = _defined(run).get("name") or run.stem
            return _results_in(run.parent / str(name)) if name and (run.parent / str(name)).is_dir() else []
        run = run.parent
    if ResultFolder(run).exists():
        return [ResultFolder(run)]
    return [ResultFolder(path) for path in _folders(run) if ResultFolder(path).exists()]


def _defined(file: Path) -> dict[str, Any]:
    # Another kind of file, such as a bundle, is a RunFolderError.
    import yaml

    _refuse_archive(file)
    why = ""
    data = None
    try:
        data = yaml_file.load(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        pass
    except yaml.YAMLError as error:
        # Where it breaks helps whoever wrote it as YAML; of a page or a table it would tell nothing.
        why = f": {yaml_mistake(error)}" if file.suffix.lower() in (".yaml", ".yml") else ""
    except OSError as error:
        raise RunFolderError(f"{file} cannot be read: {error.strerror}") from error
    if not isinstance(data, dict):
        raise RunFolderError(f"{file} is no run definition (keys and values in YAML){why}", hint=f"RUN is {_RUN}")
    return data


def _refuse_archive(file: Path) -> None:
    if file.suffix.lower() == ".zip":
        raise RunFolderError(
            f"{file} is an archive, and RUN is {_RUN}",
            hint=f"judge status {file} --verify checks a bundle as it is; else unpack it and name a folder in runs/",
        )


def _without_results(run: Path) -> RunFolderError:
    if run.name == GENERATION or (run / GENERATION).is_file():
        return RunFolderError(f"{run} has no stories yet", hint=f"judge data generate {run}")
    if run.is_file() or (run / DEFINITION).is_file():
        return RunFolderError(f"{run} has no results yet", hint=f"judge run {run}")
    runs = _runs_in(run)
    if not runs:
        return RunFolderError(f"{run} holds neither {DEFINITION} nor results", hint=f"RUN is {_RUN}")
    named = " ".join(map(str, runs[:_NAMED])) + (" ..." if len(runs) > _NAMED else "")
    count = f"{len(runs)} runs" if len(runs) > 1 else "a run"
    return RunFolderError(f"{run} holds {count} and is none itself", hint=f"name one or several: {named}")


def _runs_in(folder: Path) -> list[Path]:
    return [path for path in _folders(folder) if (path / DEFINITION).is_file() or _results_in(path)]


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be read: {error.strerror}") from error


# The definition that continues a result folder: its run.yaml, or the manifest's copy if the folder was moved.


def definition_in_force(
    folder: ResultFolder, overrides: Sequence[str] = (), judge: str | None = None
) -> tuple[AnySpec, Path]:
    """The definition, and the folder of its relative paths. `judge` replaces the folder's own. Raises RunFolderError
    for a folder that `judge run` did not make."""
    manifest = read_manifest(folder.manifest)
    if "asked" not in manifest:
        raise RunFolderError(
            f"{folder.path} was not made by judge run", hint="its judge is unknown: nothing can be requested"
        )
    who = judge or str(manifest["judge"])
    try:
        definition = definition_of(folder.path)
        if is_writing(definition):
            (spec,) = load_specs(definition, overrides, [who]).asked
            return spec, definition.parent
        revision = ANY if judge else _revision(manifest)
        if names_judge(definition, who, revision):
            return load_run_spec(definition, [*overrides, f"judge={who}"], revision=revision), definition.parent
        base = definition.parent
    except RunFolderError:
        # The result folder was moved away from its run.yaml: the manifest keeps what was asked.
        base = folder.path
    return stored_spec(manifest["asked"], str(folder.manifest)), base


def budget_of(run: Path, overrides: Sequence[str] = ()) -> float | None:
    """Budget in dollars for all judges of a run together, in one command; None if there is no limit."""
    specs = load_specs(definition_of(run), overrides)
    return specs.max_cost if len(specs.asked) > 1 else specs.asked[0].max_cost


def not_begun(run: Path) -> list[str]:
    """Judges of a run.yaml (or its folder) without results yet. [] with fewer than two judges, or no valid file."""
    definition = definition_in(run) if run.is_dir() else run
    if definition is None or not definition.is_file():
        return []
    try:
        if is_writing(definition):
            return []
        specs = load_run_specs(definition).asked
    except SpecError:
        return []  # judge run says what is wrong with it
    if len(specs) == 1:
        return []
    places = [folder_for(definition, spec.name, spec.judge, spec.revision) for spec in specs]
    return [spec.judge for spec, result_folder in zip(specs, places, strict=True) if not result_folder.exists()]


def _revision(manifest: dict[str, Any]) -> str | None:
    revision = (manifest.get("in_force") or {}).get("revision")
    return None if revision is None else str(revision)
