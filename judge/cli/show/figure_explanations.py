"""Commands `judge figure explanations` and `judge figure audit`: figures of the map from `judge explain` and of error
rates from an audit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from judge.cli.table_options import Criteria, EvalPrompts, Judges, Picture, Runs, Width


@dataclass(frozen=True, slots=True)
class Drawn:
    """Map of explanations to be drawn, collected from the result folders that hold parts of it. `points` has an entry
    for each explanation, `model` is the embedding model, `method` the method of projection, and `keywords` maps
    clusters to their keywords.
    """

    signature: str
    model: str
    method: str
    points: Sequence[Mapping[str, Any]]
    keywords: Mapping[str, Sequence[str]] = field(default_factory=dict)


def explanations(
    runs: Runs,
    output: Picture,
    by: Annotated[
        str,
        typer.Option(
            "--by", help="variable that colours the points: criterion, cluster, rating, eval_prompt, judge or system"
        ),
    ] = "criterion",
    criterion: Criteria = None,
    judge: Judges = None,
    eval_prompt: EvalPrompts = None,
    drop_system: Annotated[
        list[str] | None,
        typer.Option("--drop-system", help="system to leave out, with all explanations of its stories"),
    ] = None,
    width: Width = "page",
) -> None:
    """Picture of the map of explanations (UMAP) that `judge explain` stored, one point for each explanation.

    Example: judge figure explanations runs/hanna --by cluster -o map.pdf
    """
    from judge.charts.explanation_map import BY, explanation_map
    from judge.errors import SpecError
    from judge.figures import explanations as figure
    from judge.figures import page

    page.check_suffix(output)
    inches = page.inches_of(width)
    if by not in BY:
        raise SpecError(f"--by {by!r} is not known; allowed: {', '.join(BY)}")
    drawn = _kept(_stored(runs), criterion, judge, eval_prompt, drop_system)
    page.write(figure.draw(explanation_map(drawn, [by]), inches), output)
    typer.echo(f"{output}: {len(drawn.points)} explanations by {by}")


def audit(
    audit_file: Annotated[Path, typer.Argument(metavar="AUDIT", help="audit file, or the folder of its run")],
    output: Picture,
    annotator: Annotated[
        list[str] | None,
        typer.Option(
            "--annotator", help="annotator whose answers are counted; may be given several times; default: all"
        ),
    ] = None,
    width: Width = "page",
) -> None:
    """An audit's error rates, by each way of counting, and its annotators' agreement (AC1), as dots with intervals.

    The same numbers as a table: judge audit report. Needs the extra `report`.

    Example: judge figure audit runs/hanna/audit.sqlite -o audit.pdf
    """
    from judge.audit.file.snapshot import read_audit
    from judge.audit.results.options import ReportOptions
    from judge.audit.results.report import report
    from judge.charts import audit as chart
    from judge.figures import forest, page

    page.check_suffix(output)
    inches = page.inches_of(width)
    path = audit_file / "audit.sqlite" if audit_file.is_dir() else audit_file
    audited = report(read_audit(path), ReportOptions(by=(), annotators=tuple(annotator or ())))
    drawing = chart.forest(audited)
    page.write(forest.draw(drawing, inches), output)
    typer.echo(f"{output}: {len(drawing.lines)} errors, {len(audited.annotators)} annotators")


def _stored(runs: list[str]) -> Drawn:
    """The map of explanations stored in these result folders. Raises SpecError unless one call of `judge explain`
    produced it for all of the folders.
    """
    from judge.errors import SpecError
    from judge.explanations.mapping.stored import read
    from judge.run_folder import resolve

    again = f"judge explain {' '.join(runs)}"
    folders = resolve(runs)
    drawings = [read(folder) for folder in folders]
    for folder, drawing in zip(folders, drawings, strict=True):
        if drawing is None:
            raise SpecError(f"{folder.path} holds no map of explanations", hint=again)
    kept = [drawing for drawing in drawings if drawing is not None]
    if len({(drawing.signature, drawing.method) for drawing in kept}) > 1:
        raise SpecError("these runs' explanations were looked at apart: points of two maps share no plane", hint=again)
    points = [point for drawing in kept for point in drawing.points if point["x"] is not None]
    if not points:
        raise SpecError("explanations were looked at without drawing a map", hint=f"{again}, without --no-map")
    return Drawn(kept[0].signature, kept[0].embedded_by, kept[0].method, points, kept[0].keywords)


def _kept(
    drawn: Drawn,
    criterion: list[str] | None,
    judge: list[str] | None,
    eval_prompt: list[str] | None,
    drop_system: list[str] | None,
) -> Drawn:
    """The map of explanations with only the points of the selected criteria, judges and Eval-Prompts, and without the
    points of dropped systems. The map's signature names the selection.
    """
    from dataclasses import replace

    from judge.errors import SpecError, unknown

    parts = []
    points = list(drawn.points)
    wanted = (("criterion", criterion, "crit"), ("judge", judge, "judge"), ("eval_prompt", eval_prompt, "ep"))
    for key, names, short in (*wanted, ("system", drop_system, "drop")):
        if not names:
            continue
        levels = {str(point[key]).casefold(): str(point[key]) for point in drawn.points}
        for name in names:
            if name.casefold() not in levels:
                option = "--drop-system" if key == "system" else f"--{key.replace('_', '-')}"
                raise SpecError(unknown(option, name, levels.values()))
        chosen = {levels[name.casefold()] for name in names}
        points = [point for point in points if (str(point[key]) in chosen) != (key == "system")]
        parts.append(f"{short}:{','.join(sorted(chosen))}")
    return replace(drawn, points=points, signature="|".join([drawn.signature, *(f"only {part}" for part in parts)]))
