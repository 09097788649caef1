"""Options of the contamination commands. This module imports no numerical library, so that it loads fast."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError

if TYPE_CHECKING:
    from judge.backends.protocol import Settings


@dataclass(frozen=True, slots=True)
class ScoringOptions:
    """Which scores to compute, and how to load the model.

    `k` is the percentage of least likely tokens (Min-K% Prob). `words` is the length to which texts are cut; None =
    not. `full_distribution` adds Min-K%++, `recital` the likeliest 50 tokens in a row. `reference` is a second model,
    ``provider/name``. `nonmembers` is a file of unseen texts, `shots` of which go before each text (ReCaLL).
    `revision`, `base_url`, `engine` (``KEY=VALUE``) and `concurrency` are as in a run definition."""

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
        if not 0 < self.k <= 100:
            raise OptionError("k", self.k, "is not a share in per cent", hint="give a number above 0, at most 100")
        for field, value in (("shots", self.shots), ("concurrency", self.concurrency)):
            if value < 1:
                raise OptionError(field, value, "must be 1 or more")

    @property
    def settings(self) -> Settings:
        """Settings with which the model is loaded. Raises OptionError for an `engine` entry that is not
        ``KEY=VALUE``."""
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
    """Options of the table of AUC; `fpr` is the false-positive rate at which the true-positive rate is computed."""

    resamples: int = RESAMPLES
    seed: int = 1
    fpr: float = 0.05

    def __post_init__(self) -> None:
        if self.resamples < 1:
            raise OptionError("resamples", self.resamples, "must be 1 or more")
        if not 0 < self.fpr < 1:
            raise OptionError("fpr", self.fpr, "must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of the contamination report; `score` decides whether a story counts as seen. No `systems` = all.
    `own_systems` names systems whose stories a model wrote, as ``MODEL=SYSTEM``."""

    score: str = "min_k_20"
    systems: tuple[str, ...] = ()
    own_systems: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for word in self.own_systems:
            if not all(word.rpartition("=")[::2]):
                raise OptionError("own_systems", word, "is not MODEL=SYSTEM", hint="e.g. gpt2=GPT-2")

    @property
    def own(self) -> tuple[tuple[str, str], ...]:
        """Pairs (model, system) from `own_systems`."""
        parts = (word.rpartition("=") for word in self.own_systems)
        return tuple((model, system) for model, _, system in parts)


@dataclass(frozen=True, slots=True)
class ValidityOptions:
    """Options of the comparison of a judge's agreement with people on stories with high and low scores. `split` is at
    the ``threshold`` in the scores file or at the ``median``. `least` is the smallest number of stories in each half.
    `against` is the human criterion for every criterion; None = the matching one."""

    score: str = "min_k_20"
    split: Literal["threshold", "median"] = "threshold"
    least: int = 50
    against: str | None = None
    resamples: int = RESAMPLES
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
    """Options of the contamination check; `models` are scored in addition to the runs' judges. `released` gives months
    as ``MODEL=YYYY-MM``. `limit` is the number of stories, None = all. `revision`, `base_url` and `engine`
    (``KEY=VALUE``) are as in a run definition."""

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
        """Options for scoring the stories, with `recital`."""
        return ScoringOptions(revision=self.revision, base_url=self.base_url, engine=self.engine, recital=True)
