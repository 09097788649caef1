"""Options of the contamination commands. This module imports no numerical library, so that it loads fast."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.base.errors import OptionError

if TYPE_CHECKING:
    from judge.backends.protocol import Settings


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """Options for scoring texts with a model: which scores to compute, and how to load the model.

    Attributes
    ----------
    k : float
        Percentage of least likely tokens that Min-K% Prob uses.
    words : int or None
        Number of words to which every text is cut; None = texts are not cut.
    lowercase : bool
        Compute also the score that compares the text with its lower-case version.
    full_distribution : bool
        Compute also Min-K%++, which needs the model's whole distribution over next tokens.
    recital : bool
        Compute also the log-probability of the likeliest 50 tokens in a row.
    reference : str or None
        A second model to compare with, as ``provider/name``.
    nonmembers, shots : Path or None, int
        File of texts that the model has not seen in training, and the number of them put before each text (ReCaLL).
    revision, base_url, engine, concurrency
        As in a run definition; `engine` holds ``KEY=VALUE``.
    """

    k: float = 20
    words: int | None = None
    lowercase: bool = False
    reference: str | None = None
    full_distribution: bool = False
    recital: bool = False
    nonmembers: Path | None = None
    shots: int = 7
    revision: str | None = None
    base_url: str | None = None
    engine: tuple[str, ...] = ()
    concurrency: int = 32

    def __post_init__(self) -> None:
        for field, value in (("shots", self.shots), ("concurrency", self.concurrency)):
            if value < 1:
                raise OptionError(field, value, "must be 1 or more")

    @property
    def settings(self) -> Settings:
        """Back-end settings with which the model is loaded. Raises OptionError for an `engine` entry that is not
        ``KEY=VALUE``.
        """
        from judge.backends import Settings

        keys: dict[str, Any] = {}
        for word in self.engine:
            key, _, value = word.partition("=")
            if not key or not value:
                raise OptionError("engine", word, "is not KEY=VALUE", hint="e.g. dtype=bfloat16")
            keys[key] = int(value) if value.isdecimal() else {"true": True, "false": False}.get(value, value)
        addresses = (self.base_url,) if self.base_url else ()
        return Settings(addresses, self.revision, keys, concurrency=self.concurrency)


@dataclass(frozen=True, slots=True)
class AucOptions:
    """Options of the table that gives the AUC of each contamination score. `fpr` is the false-positive rate at which
    the true-positive rate is computed. `resamples` and `seed` are those of the bootstrap.
    """

    resamples: int = 1000
    seed: int = 1
    fpr: float = 0.05

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")
        if not 0 < self.fpr < 1:
            raise OptionError("fpr", self.fpr, "must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of the contamination report, which gives for each model the share of stories that it seems to have seen
    in training, and the mean rating of its own stories.

    `score` is the name of the contamination score that decides whether a story counts as seen. `systems` are the
    systems whose stories are counted; empty = all. `own_systems` names the systems of the dataset whose stories a model
    wrote, as ``MODEL=SYSTEM``.
    """

    score: str = "min_k_20"
    systems: tuple[str, ...] = ()
    own_systems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in self.own_systems:
            if not all(word.rpartition("=")[::2]):
                raise OptionError("own_systems", word, "is not MODEL=SYSTEM", hint="e.g. gpt2=GPT-2")

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """Pairs (model, system) from `own_systems`: the system's stories were written by the model."""
        parts = (word.rpartition("=") for word in self.own_systems)
        return tuple((model, system) for model, _, system in parts)


@dataclass(frozen=True, slots=True)
class ValidityOptions:
    """Options of the validity table, which compares a judge's agreement with people on stories with high and with low
    values of the contamination score `score`.

    With `split` ``threshold`` the stories are divided at the threshold in the scores file, with ``median`` at the
    median score. `least` is the smallest permitted number of stories in each half. `against` is the human raters'
    criterion with which every criterion is compared; None = the matching one.
    """

    score: str = "min_k_20"
    split: Literal["threshold", "median"] = "threshold"
    least: int = 50
    against: str | None = None
    resamples: int = 1000
    seed: int = 1

    def __post_init__(self) -> None:
        if self.split not in ("threshold", "median"):
            raise OptionError("split", self.split, allowed=("threshold", "median"))
        if self.least < 2:
            raise OptionError("least", self.least, "must be 2 or more")
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")


@dataclass(frozen=True, slots=True)
class CheckOptions:
    """Options of the contamination check.

    `models` are models to score with in addition to the runs' judges. `labelled` is a file of texts labelled as seen or
    unseen in training. `released` gives the months in which models were published, as ``MODEL=YYYY-MM``. `limit` is the
    number of stories to score, from the first on; None = all. `revision`, `base_url` and `engine` are as in a run
    definition; `engine` holds ``KEY=VALUE``.
    """

    models: tuple[str, ...] = ()
    labelled: Path | None = None
    released: tuple[str, ...] = ()
    limit: int | None = None
    revision: str | None = None
    base_url: str | None = None
    engine: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise OptionError("limit", self.limit, "must be 1 or more")
        for word in self.released:
            name, _, date = word.rpartition("=")
            if not name or not re.fullmatch(r"(19|20)\d\d-(0[1-9]|1[0-2])", date):
                raise OptionError("released", word, "is not MODEL=YYYY-MM", hint="e.g. my-model=2024-11")

    @property
    def scoring(self) -> ScoringOptions:
        """Options for scoring the stories in the contamination check, which request the score `recital`
        (log-probability of the likeliest 50 tokens in a row) as well.
        """
        return ScoringOptions(revision=self.revision, base_url=self.base_url, engine=self.engine, recital=True)
