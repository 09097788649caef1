"""The definition that a result folder goes on with: its run.yaml's, or, moved away from it, the one it keeps itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.errors import RunFolderError, SpecError
from judge.run_definition.judges import ANY
from judge.run_definition.spec import RunSpec, load_run_spec, load_run_specs, names_judge, stored_run_spec
from judge.run_folder.layout import DEFINITION, ResultFolder, definition_of, folder_for
from judge.run_folder.manifest import read_manifest


def definition_in_force(
    folder: ResultFolder, overrides: Sequence[str] = (), judge: str | None = None
) -> tuple[RunSpec, Path]:
    """The definition with which a result folder is gone on with, and the folder that its paths start from.

    `judge` is asked in place of the folder's own. Raises RunFolderError for a folder that `judge run` did not make.
    """
    manifest = read_manifest(folder.manifest)
    if "asked" not in manifest:
        raise RunFolderError(f"{folder.path} was not made by judge run", hint="there is nobody to ask")
    who = judge or str(manifest["judge"])
    try:
        definition = definition_of(folder.path)
        revision = ANY if judge else _revision(manifest)
        if names_judge(definition, who, revision):
            return load_run_spec(definition, [*overrides, f"judge={who}"], revision=revision), definition.parent
        place = definition.parent
    except RunFolderError:
        # The result folder was moved away from its run.yaml: the manifest keeps what was asked.
        place = folder.path
    return stored_run_spec(manifest["asked"], str(folder.manifest)), place


def budget_of(run: Path, overrides: Sequence[str] = ()) -> float | None:
    """What all judges of a run may spend together in one command, as its run.yaml says."""
    found = load_run_specs(definition_of(run), overrides)
    return found.max_cost if len(found.judges) > 1 else found.judges[0].max_cost


def not_begun(run: Path) -> list[str]:
    """Judges that a run.yaml, or that of a run's folder, lists and that have no results; [] where it lists none."""
    definition = run / DEFINITION if run.is_dir() else run
    if not definition.is_file():
        return []
    try:
        specs = load_run_specs(definition).judges
    except SpecError:
        return []  # judge run says what is wrong with it
    if len(specs) == 1:
        return []
    places = [folder_for(definition, spec.name, spec.judge, spec.revision) for spec in specs]
    return [spec.judge for spec, place in zip(specs, places, strict=True) if not place.exists()]


def _revision(manifest: dict[str, Any]) -> str | None:
    revision = (manifest.get("in_force") or {}).get("revision")
    return None if revision is None else str(revision)
