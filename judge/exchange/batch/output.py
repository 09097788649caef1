"""A run's missing requests as a form of export: a file for batch APIs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.analysis.options.alternatives import option
from judge.base.errors import OptionError, RunFolderError, SpecError
from judge.base.wording import Advice
from judge.exchange.batch.requests import MOST_LINES, export, numbered, wanted
from judge.exchange.outputs.hub import JudgeWords, Output, Say


@dataclass(frozen=True, kw_only=True)
class BatchWords(JudgeWords):
    limit: int | None = option("number of stories (or pairs) of a batch, from the first of the plan on")
    most_lines: int = option("largest number of lines in a file; further files are numbered", default=MOST_LINES)
    one_by_one: bool = option("separate line for each repeat, for servers that ignore n", default=False)
    failed: bool = option("repeats that failed for good, in place of those never requested", default=False)
    max_completion_tokens: bool = option(
        "max_completion_tokens in place of max_tokens, for newer OpenAI models", default=False
    )

    def __post_init__(self) -> None:
        """Raise OptionError for a number that no file can have."""
        if not 1 <= self.most_lines <= MOST_LINES:
            raise OptionError("most_lines", self.most_lines, f"must be 1 to {MOST_LINES:,}")
        if self.limit is not None and self.limit < 1:
            raise OptionError("limit", self.limit, "must be 1 or more")


def _write(runs: Sequence[str], output: Path | None, words: BatchWords, say: Say) -> None:
    if len(runs) > 1:
        raise SpecError(f"a batch holds requests of one run, and {len(runs)} are named")
    run, path = Path(runs[0]), output or Path("batch.jsonl")
    name = numbered(path)
    there = [file for file in (path, name(1)) if file.exists()]
    if there:
        hint = Advice("delete it, or name another file with {output}")
        raise RunFolderError(f"{there[0]} exists already, and may hold what was sent", hint=hint)
    asked = wanted(
        run,
        [],
        judge=words.judge,
        limit=words.limit,
        one_by_one=words.one_by_one,
        failed=words.failed,
        max_completion_tokens=words.max_completion_tokens,
    )
    exported = export(asked, name, most_lines=words.most_lines)
    names = [str(part.path) for part in exported.parts]
    if len(exported.parts) == 1:
        exported.parts[0].path.rename(path)
        names = [str(path)]
    if exported.in_flight:
        say(f"{exported.in_flight} repeats are left out: submitted batches hold them (judge run {run} --batch status)")
    if not names:
        say(f"nothing to export: {asked.result.path} lacks nothing that is to be asked")
        return
    for shown, part in zip(names, exported.parts, strict=True):
        say(f"{shown}: {part.lines} lines, {part.repeats} repeats, {part.bytes / 1e6:.2f} MB")
    say(f"answer them elsewhere, then: judge import RESULTS -o {asked.result.path}")


OUTPUTS = (
    Output("batch", "requests that a run still lacks as OpenAI-batch JSON Lines, for batch APIs", BatchWords, _write),
)
