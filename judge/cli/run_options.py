"""Options that several commands on runs take, written once. Never holds a default: that stands in the command."""

from __future__ import annotations

from typing import Annotated

import typer

Overrides = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="another value of a key of run.yaml; may be given several times"),
]
OtherJudges = Annotated[
    list[str] | None, typer.Option("--judge", help="judge in place of the file's; may be given several times")
]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="the first N stories (or pairs) of the plan only")]
OneByOne = Annotated[bool, typer.Option("--one-by-one", help="one line for each repeat, for servers without n")]
Failed = Annotated[bool, typer.Option("--failed", help="what was given up, in place of what was never asked")]
NewerLimit = Annotated[
    bool, typer.Option("--max-completion-tokens", help="name for max_tokens (newer OpenAI models have another)")
]
