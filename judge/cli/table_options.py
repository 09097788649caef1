"""Options that all table commands share; each command sets its own defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from judge.base.printing.forms import Format

Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="a run.yaml, its folder, or a result folder")]
DropSystem = Annotated[
    list[str] | None,
    typer.Option(
        "--drop-system", metavar="SYSTEM", help="system to leave out, with all its stories; may be given several times"
    ),
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="CRITERION", help="people's criterion that every criterion is compared with"),
]
Form = Annotated[
    Format, typer.Option("--format", metavar="FORM", help="form of the tables: table, json, csv, md or latex")
]
Full = Annotated[bool, typer.Option("--full", help="everything: all tables, rows, columns and notes")]
Rows = Literal["table", "jsonl", "json", "csv", "md", "latex"]
"""Forms of single rows: also a line of JSON for each."""

Long = Annotated[bool, typer.Option("--long", help="long layout: one row for each number")]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", metavar="FILE", help="file for the output; .csv, .json, .md or .tex chooses the form"
    ),
]
ParserName = Annotated[str, typer.Option("--parser", help="parser of answers: ours, or as-published")]
Criteria = Annotated[
    list[str] | None,
    typer.Option("--criterion", metavar="NAME", help="criterion to include; may be given several times; default: all"),
]
Judges = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="NAME", help="judge to include; may be given several times; default: all"),
]
EvalPrompts = Annotated[
    list[str] | None,
    typer.Option(
        "--eval-prompt", metavar="NAME", help="Eval-Prompt to include; may be given several times; default: all"
    ),
]
PanelName = Annotated[
    str | None, typer.Option("--panel", metavar="NAME", help="panel of people to include, such as expert; default: all")
]
PassRate = Annotated[
    bool,
    typer.Option(
        "--pass-rate", help="additional criterion 'pass rate': share of a story's binary criteria that it passes"
    ),
]
ScoresFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--contamination", metavar="FILE", help="scores file of judge contamination score; may be given several times"
    ),
]
Width = Annotated[
    str, typer.Option("--width", help="width of the picture: column (3.03 in) or page (6.3 in), as in ACL and TACL")
]
Resamples = Annotated[int, typer.Option("--resamples", help="number of resamples for confidence intervals")]
Seed = Annotated[int, typer.Option("--seed", help="seed of the resamples")]
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress messages")]
"""Every command is given it (`judge.cli.rare`)."""


_IMAGES = (".png", ".svg", ".pdf", ".jpg", ".jpeg", ".gif", ".bmp", ".tif", ".tiff", ".webp", ".eps", ".ps")


def is_picture(output: Path | None) -> bool:
    """Whether a file for the output asks for a picture, by its suffix. Raises SpecError for a form of pictures that is
    not drawn.
    """
    if output is None or output.suffix.lower() not in _IMAGES:
        return False
    from judge.questions.figures.page import check_suffix

    check_suffix(output)
    return True
