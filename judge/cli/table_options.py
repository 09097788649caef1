"""Options that every table command takes, written once. Never holds a default: that stands in the command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from judge.printing.forms import Format

Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help="a run.yaml, its folder, or a result folder")]
DropSystem = Annotated[
    list[str] | None,
    typer.Option("--drop-system", help="system whose stories are left out; may be given several times"),
]
Against = Annotated[
    str | None,
    typer.Option("--against", metavar="CRITERION", help="criterion of people's that every criterion is compared with"),
]
Form = Annotated[
    Format, typer.Option("--format", metavar="FORM", help="form of the tables: table, json, csv, md or latex")
]
Rows = Literal["table", "jsonl", "json", "csv", "md", "latex"]
"""Forms of single rows: also a line of JSON for each."""

Long = Annotated[bool, typer.Option("--long", help="one row for each number")]
Output = Annotated[Path | None, typer.Option("-o", "--output", help="file to write to")]
ParserName = Annotated[str, typer.Option("--parser", help="ours or as-published")]
Criteria = Annotated[
    list[str] | None, typer.Option("--criterion", help="only this criterion; may be given several times")
]
Judges = Annotated[list[str] | None, typer.Option("--judge", help="only this judge; may be given several times")]
EvalPrompts = Annotated[
    list[str] | None, typer.Option("--eval-prompt", help="only this Eval-Prompt; may be given several times")
]
PanelName = Annotated[str | None, typer.Option("--panel", help="only people of this panel, such as expert")]
PassRate = Annotated[
    bool, typer.Option("--pass-rate", help="also a criterion 'pass rate': share of a story's binary criteria passed")
]
Picture = Annotated[Path, typer.Option("-o", "--output", help="the picture: .png, .svg or .pdf")]
Width = Annotated[str, typer.Option("--width", help="column (3.03 in) or page (6.3 in), as ACL and TACL set them")]
Resamples = Annotated[int, typer.Option("--resamples", help="number of resamples for intervals")]
Seed = Annotated[int, typer.Option("--seed", help="seed of the resamples")]
Quiet = Annotated[bool, typer.Option("--quiet", help="no progress")]
