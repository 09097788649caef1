"""Studies made up with a plan: panels that follow a judge or turn it round, and classes with their own relation.

Every story has a quality; a judge and people see it with noise. `signs` says for each panel how its people relate to
what the judge sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from judge.base.records import Criterion
from judge.exchange.imported_folder import Import, write_folder
from judge.ratings.ratings_table import COLUMNS, PANEL, RatingsTable
from judge.ratings.ratings_table.columns import RunFacts, noted, ordered

FACT = RunFacts(
    run="r",
    judge="j",
    dataset="tales",
    revision=None,
    repeats=1,
    criteria=(Criterion("Fun", "FU", ""),),
    eval_prompts=("ep1",),
    parser="imported",
    notes=(),
    control=False,
    path=Path(),
)


def points(values: np.ndarray, rng: np.random.Generator, noise: float = 0.7) -> np.ndarray:
    """Ratings from 1 to 5 of qualities, each with a person's or a judge's own error."""
    return np.clip(np.round(3 + values + noise * rng.normal(size=values.shape)), 1, 5)


def table_of(
    stories: pd.DataFrame, judge: np.ndarray, people: Mapping[tuple[str | None, str], np.ndarray]
) -> RatingsTable:
    """A ratings table of one judge, and of people by (panel, rater); `stories` has story, story_prompt, system."""
    base = stories.assign(run="r", dataset="tales", criterion="Fun", flags="", explanation=None, repeat=None)
    rows = [base.assign(judge="j", eval_prompt="ep1", source="judge", rater=None, rating=judge, status="imported")]
    for (panel, rater), given in people.items():
        kept = base.assign(judge=None, eval_prompt=None, source="rater", rater=rater, rating=given, status="ok")
        rows.append(kept.assign(**{PANEL: panel})[~np.isnan(given)])
    frame = pd.concat([row.reindex(columns=[*COLUMNS, PANEL]).astype(object) for row in rows], ignore_index=True)
    frame = frame.astype({"rating": "float64", "repeat": "Int64"})
    if not frame[PANEL].notna().any():
        frame = frame.drop(columns=PANEL)
    frame = frame[ordered(frame.columns)]
    known = stories.assign(dataset="tales", words=100, text="")[
        ["dataset", "story", "story_prompt", "system", "words", "text"]
    ]
    return RatingsTable(frame, known.set_index(["dataset", "story"]), tuple(noted(frame, [replace(FACT)])))


def stories_of(prompts: int, systems: int) -> pd.DataFrame:
    """One story of each system for each story-prompt; the first system is people."""
    names = ["Human", *(f"m{i}" for i in range(1, systems))]
    rows = [(f"s{p}-{s}", f"p{p}", names[s]) for p in range(prompts) for s in range(systems)]
    return pd.DataFrame(rows, columns=["story", "story_prompt", "system"])


def study(
    signs: Mapping[str, float], seed: int = 1, *, prompts: int = 30, systems: int = 4, raters: int = 3
) -> RatingsTable:
    """A judge that sees quality, and panels that follow it with these signs and strengths."""
    rng = np.random.default_rng(seed)
    stories = stories_of(prompts, systems)
    quality = rng.normal(size=len(stories))
    people = {
        (panel, f"{panel}{r}"): points(sign * quality, rng) for panel, sign in signs.items() for r in range(raters)
    }
    return table_of(stories, points(quality, rng), people)


def classed(
    kind: str, seed: int, *, prompts: int = 60, systems: int = 4, raters: int = 3, apart: float = 0.5
) -> RatingsTable:
    """A study by what a judge follows: ``honest`` quality; ``reversed`` quality turned round in people's stories;
    ``author`` who wrote a story and nothing within. Systems differ by `apart`, people's stories by twice that.
    """
    rng = np.random.default_rng([seed, len(kind)])
    stories = stories_of(prompts, systems)
    system = stories["system"].to_numpy()
    level = {name: apart * rng.normal() + (2 * apart if name == "Human" else 0.0) for name in dict.fromkeys(system)}
    shift = np.array([level[name] for name in system])
    within = rng.normal(size=len(stories))
    seen = {
        "honest": within,
        "reversed": np.where(system == "Human", -within, within),
        "author": np.zeros(len(stories)),
    }
    people = {(None, f"r{r}"): points(0.7 * (shift + within), rng) for r in range(raters)}
    return table_of(stories, points(0.7 * (shift + seen[kind]), rng), people)


def folder_of(table: RatingsTable, path: Path) -> Path:
    """The study as a result folder."""
    criteria = table.facts[0].criteria
    return write_folder(path, Import(table.frame, "j", criteria, (), (), ratings="single")).path
