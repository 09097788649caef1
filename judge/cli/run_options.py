"""Options that several commands on runs share; each command sets its own defaults."""

from __future__ import annotations

from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="key of run.yaml with another value; may be given several times"),
]
OtherJudges = Annotated[
    list[str] | None, typer.Option("--judge", help="judge in place of the definition's; may be given several times")
]
Limit = Annotated[
    int | None, typer.Option("--limit", min=1, help="number of stories (or pairs), from the first of the plan on")
]
