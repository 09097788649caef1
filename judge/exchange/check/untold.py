"""Gaps in imported ratings: what data are missing, what cannot be computed without them, and what would supply them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from judge.exchange.imports.imported_folder import Import


@dataclass(frozen=True, slots=True)
class Untold:
    """A gap in imported ratings: which data are `missing`, what `therefore` cannot be computed, and what `closes` the
    gap.
    """

    missing: str
    therefore: str
    closes: str

    @property
    def sentence(self) -> str:
        """Sentence on what is missing and what cannot be computed."""
        return f"{self.missing[:1].upper()}{self.missing[1:]}: {self.therefore}."


def untold(imported: Import) -> tuple[Untold, ...]:
    """Gaps in imported data, those with the largest consequences first."""
    frame = imported.frame
    judged, people = frame[frame["source"] == "judge"], frame[frame["source"] == "rater"]
    return (*_of_bars(imported, people), *_of_stories(frame), *_of_judges(judged))


def _of_bars(imported: Import, people: pd.DataFrame) -> Iterator[Untold]:
    if imported.stories is None or not imported.stories["text"].notna().any():
        yield Untold(
            "no texts",
            "there is no control, so it is not known whether the judge does better than one that uses length alone",
            "a column of the stories' texts",
        )
    if people.empty:
        yield Untold("no people's ratings", "agreement with people cannot be computed", "columns of people's ratings")
    elif people["rater"].isna().all():
        yield Untold(
            "no raters' names for people's ratings",
            "there is no human ceiling, so it is not known how well people agree with each other",
            "a column for each person, or a column of raters",
        )
    elif len(people["rater"].unique()) == 1:
        yield Untold(
            "one column of people's ratings",
            "for one person or a mean there is no human ceiling: how well people agree with each other is not known",
            "a column for each person, or a column of raters",
        )


def _of_stories(frame: pd.DataFrame) -> Iterator[Untold]:
    if frame["story_prompt"].isna().all():
        yield Untold(
            "no story-prompts",
            "intervals treat stories as independent, and are too narrow where several answer one prompt",
            "a column of story-prompts, or of what else stories share",
        )
    if len(frame["system"].unique()) < 2:
        yield Untold(
            "no systems",
            "results by system, the systems' order and a judge's preference for one of them cannot be computed",
            "a column of who wrote each story",
        )


def _of_judges(judged: pd.DataFrame) -> Iterator[Untold]:
    lost = int(judged["rating"].isna().sum())
    if lost:
        yield Untold(
            f"why {lost:,} of the judge's {len(judged):,} ratings are empty",
            "a refusal, a cut answer and one that was not understood look alike; all count as without a rating",
            "a column status, or the tool's own log",
        )
    if judged["repeat"].isna().all():
        yield Untold(
            "no repeats",
            "the judge's agreement with itself is not known",
            "several ratings of each story by the same judge",
        )
    if (judged["eval_prompt"] == "-").all():
        yield Untold(
            "no record of how the judge was prompted",
            "model version, prompt, temperature and what failed on the way cannot be reported",
            "the run's own log, or a run of this program",
        )
