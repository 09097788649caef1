"""Ways of `judge run`: the option that names each of them, and the options that go with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from judge.base.errors import SpecError

Batch = Literal["submit", "status", "collect"]
OtherWay = Literal[
    "--retry", "--merge", "--serve-command", "--batch submit", "--batch status", "--batch collect", "--print-schema"
]
Way = Literal["ask"] | OtherWay
"""What one call of `judge run` does: it asks, unless an option names another way."""

TAKES: Mapping[OtherWay, tuple[str, ...]] = {
    "--retry": ("--unparsed", "--set"),
    "--merge": ("--partial", "--output", "--set"),
    "--serve-command": ("--set",),
    "--batch submit": ("--judge", "--set", "--limit"),
    "--batch status": ("--format",),
    "--batch collect": (),
    "--print-schema": (),
}
"""Way -> the options that go with it. All options go with asking, except those that belong to one other way."""

_BELONGS = {"--unparsed": "--retry", "--partial": "--merge"}


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of `judge run` as the command line gives them; each way reads those that go with it."""

    judges: Sequence[str]
    overrides: Sequence[str]
    limit: int | None
    dry_run: bool
    pilot: int | None
    shard: str | None
    reuse: Path | None
    output: Path | None
    engine: Literal["async", "ray"]
    ray_address: str
    ray_actors: int | None
    quiet: bool
    form: str
    certificate: Path | None
    summary: bool | None


def way_of(flags: Sequence[str], batch: Batch | None) -> Way:
    """The way that the `flags` on the command line name; `batch` is the value of --batch.

    Raises SpecError if they name two ways, or if one of them does not go with the way.
    """
    named = [f"--batch {batch}" if flag == "--batch" else flag for flag in flags]
    ways = [way for way in TAKES if way in named]
    if not ways:
        for flag in named:
            if flag in _BELONGS:
                raise SpecError(f"{flag} goes with {_BELONGS[flag]}", hint=f"add {_BELONGS[flag]}")
        return "ask"
    way, *others = ways
    for flag in [*others, *named]:
        if flag not in (way, *TAKES[way]):
            takes = f"the options {', '.join(TAKES[way])}" if TAKES[way] else "no other option"
            raise SpecError(f"{flag} does not go with {way}", hint=f"{way} takes {takes}")
    return way
