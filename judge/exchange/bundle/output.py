"""The bundle as a form of export."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judge.analysis.options.alternatives import option
from judge.base.errors import OptionError
from judge.base.wording import Advice, joined
from judge.exchange.bundle.archive import BundleChoices, bundle
from judge.exchange.bundle.run_copy import TableChoices
from judge.exchange.outputs.dataset_folder import Output, ResampledWords, TextsWords
from judge.exchange.reader import Say


@dataclass(frozen=True, kw_only=True)
class BundleWords(ResampledWords, TextsWords):
    with_batches: bool = option("additional files batches.json and batches/", default=False)

    def __post_init__(self) -> None:
        """Raise OptionError for a number of resamples that is none."""
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")


def _write(runs: Sequence[str], output: Path | None, words: BundleWords, say: Say) -> None:
    tables = TableChoices(resamples=words.resamples, seed=words.seed)
    choices = BundleChoices(not words.without_texts, words.with_batches, tables)
    result = bundle([Path(run) for run in runs], output, choices, say)
    for note in result.notes:
        say(joined("note: ", note))
    say(f"{result.path}: {result.files} files, {result.rows} ratings, {result.bytes / 1e6:.1f} MB")
    if not words.without_texts:
        say(Advice("it holds the stories' texts, under their dataset's licence; {without_texts} leaves them out"))
    say(f"check it anywhere: judge status {result.path} --verify")


OUTPUTS = (
    Output("bundle", "one archive for artifact review: definition, journal, tables, checksums", BundleWords, _write),
)
