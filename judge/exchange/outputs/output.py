"""A form in which `judge export` writes, as one record, and the options that several forms share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.analysis.options.alternatives import Form, option
from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.exchange.outputs.given_away import GiveAway, People
from judge.ratings.preferences_table import comparing

Say = Callable[[str], None]
"""Is told what was written, a line at a time."""


@dataclass(frozen=True, slots=True)
class Output(Form):
    """A form of export. `write` takes runs, the file or folder to write (None: as the form says), options, and a
    function that is told what was written.
    """

    write: Callable[[Sequence[str], Path | None, Any, Say], None]


@dataclass(frozen=True, kw_only=True)
class PeopleWords:
    """Options of a form that holds people's ratings."""

    people: People = option("identity of people: pseudonyms, their names in the data, or none", default="pseudonyms")


@dataclass(frozen=True, kw_only=True)
class TextsWords:
    """Options of a form that holds stories' texts."""

    without_texts: bool = option("hashes in place of stories and story-prompts", default=False)


@dataclass(frozen=True, kw_only=True)
class HubWords(PeopleWords, TextsWords):
    """Options of the dataset folder."""

    comments: bool = option("additional column: people's own comments", default=False)

    @property
    def choices(self) -> GiveAway:
        """What is given away."""
        return GiveAway(not self.without_texts, self.people, self.comments)


@dataclass(frozen=True, kw_only=True)
class ResampledWords:
    """Options of a form that holds intervals."""

    resamples: int = option("number of resamples for confidence intervals", default=1000)
    seed: int = option("seed of the resamples", default=1)


@dataclass(frozen=True, kw_only=True)
class NumbersWords(ResampledWords):
    """Options of a form that holds numbers of agreement."""

    parser: str = option("parser of answers: ours, or as-published", default="ours")


@dataclass(frozen=True, kw_only=True)
class RecordsWords(NumbersWords):
    """Options of the records of Every Eval Ever."""

    organization: str = option("organization that provides the data", default="unknown")


@dataclass(frozen=True, kw_only=True)
class JudgeWords:
    """Options of a form for one judge."""

    judge: str | None = option("judge: of pairs in place of people, of a batch in place of the definition's")


def needed(output: Path | None) -> Path:
    """The folder to write; SpecError where none is named."""
    if output is None:
        raise SpecError(Advice("{output} names the folder to write, which is new or empty", output="FOLDER"))
    return output


def folders_of(runs: Sequence[str]) -> list[Path]:
    """Result folders of the runs. Raises SpecError if one is a run of comparisons, since only ratings can be exported
    here.
    """
    compare, rate = comparing(runs)
    if compare:
        raise SpecError(
            f"{compare[0]} compares stories, and this is a form for ratings", hint="judge ratings RUN --preferences -o"
        )
    return [Path(folder) for folder in rate]
