"""The definition that continues a result folder: its run.yaml, or the manifest's copy if the folder was moved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.asking.run_definition.judges import ANY
from judge.asking.run_definition.spec import load_run_spec, load_run_specs, names_judge
from judge.asking.run_definition.writing import AnySpec, is_writing, load_specs, stored_spec
from judge.asking.run_folder.layout import ResultFolder, definition_in, definition_of, folder_for
from judge.asking.run_folder.manifest import read_manifest
from judge.base.errors import RunFolderError, SpecError


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
        specs = load_run_specs(definition).judges
    except SpecError:
        return []  # judge run says what is wrong with it
    if len(specs) == 1:
        return []
    places = [folder_for(definition, spec.name, spec.judge, spec.revision) for spec in specs]
    return [spec.judge for spec, result_folder in zip(specs, places, strict=True) if not result_folder.exists()]


def _revision(manifest: dict[str, Any]) -> str | None:
    revision = (manifest.get("in_force") or {}).get("revision")
    return None if revision is None else str(revision)
