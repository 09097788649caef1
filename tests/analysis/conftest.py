"""Ratings tables made on the spot: a small one by hand, and the released HANNA and MANS ratings in the same form."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import COLUMNS, RatingsTable, RunFacts

CRITERIA = {
    "RE": "Relevance",
    "CH": "Coherence",
    "EM": "Empathy",
    "SU": "Surprise",
    "EG": "Engagement",
    "CX": "Complexity",
}


def facts(**changes: Any) -> RunFacts:
    """Facts of one result folder."""
    known: dict[str, Any] = {
        "run": "r",
        "judge": "openai/m",
        "dataset": "toy",
        "revision": "abc",
        "repeats": 3,
        "criteria": (Criterion("Relevance", "RE", "how well", Scale(1, 5)),),
        "eval_prompts": ("ep1",),
        "parser": "ours/4",
        "notes": (),
        "control": False,
        "path": Path("r"),
    }
    return RunFacts(**{**known, **changes})


def assemble(rows: Sequence[dict[str, Any]], stories: pd.DataFrame, known: Sequence[RunFacts]) -> RatingsTable:
    """A ratings table of rows with defaults for what they do not say."""
    frame = pd.DataFrame(rows).reindex(columns=list(COLUMNS))
    frame["repeat"] = frame["repeat"].astype("Int64")
    frame["rating"] = frame["rating"].astype(float)
    return RatingsTable(frame, stories, tuple(known))


def story_facts(dataset: str, stories: Sequence[tuple[str, str, str, int | None, str]]) -> pd.DataFrame:
    """Facts of stories: (story, story-prompt, system, words, text)."""
    frame = pd.DataFrame(stories, columns=["story", "story_prompt", "system", "words", "text"])
    frame["words"] = frame["words"].astype("Int64")
    frame.insert(0, "dataset", dataset)
    return frame.set_index(["dataset", "story"])


@pytest.fixture
def make_facts() -> Callable[..., RunFacts]:
    """`facts`, for tests."""
    return facts


@pytest.fixture
def make_table() -> Callable[..., RatingsTable]:
    """A factory of small tables: systems x story-prompts, people's and a judge's ratings from a seed.

    Options: judge criterion, people's criterion, known raters, repeats, and `lost(system, prompt, repeat)` -> status or
    None, which says what was lost.
    """

    def make(
        *,
        systems: int = 4,
        prompts: int = 12,
        repeats: int = 3,
        noise: float = 0.8,
        judged: Sequence[str] = ("Relevance",),
        rated: Sequence[str] = ("Relevance",),
        known_raters: bool = True,
        lost: Callable[[int, int, int], str | None] = lambda *_: None,
        seed: int = 0,
        text: str = "",
    ) -> RatingsTable:
        rng = np.random.default_rng(seed)
        rows: list[dict[str, Any]] = []
        stories = []
        for s in range(systems):
            for p in range(prompts):
                name = f"s{s}-{p}"
                quality = 1.5 + 0.6 * s + rng.normal(0, 0.7)
                stories.append(
                    (name, f"prompt {p}", f"system {s}", int(100 + 20 * quality + rng.integers(0, 20)), text)
                )
                common = {"dataset": "toy", "story": name, "story_prompt": f"prompt {p}", "system": f"system {s}"}
                for criterion in rated:
                    for rater in range(3):
                        value = float(np.clip(round(quality + rng.normal(0, noise)), 1, 5))
                        who = f"w{rater}" if known_raters else None
                        rows.append(
                            common
                            | {"criterion": criterion, "source": "rater", "rater": who, "rating": value, "status": "ok"}
                        )
                for criterion in judged:
                    for repeat in range(repeats):
                        value = float(np.clip(round(quality + rng.normal(0, noise)), 1, 5))
                        status = lost(s, p, repeat) or "ok"
                        rows.append(
                            common
                            | {
                                "run": "r",
                                "judge": "openai/m",
                                "eval_prompt": "ep1",
                                "criterion": criterion,
                                "source": "judge",
                            }
                            | {"repeat": repeat, "rating": value if status == "ok" else np.nan, "status": status}
                        )
        criteria = tuple(Criterion(name, name[:2].upper(), "how well", Scale(1, 5)) for name in judged)
        return assemble(rows, story_facts("toy", stories), [facts(repeats=repeats, criteria=criteria)])

    return make


@pytest.fixture(scope="session")
def hanna_table(studies: Path) -> RatingsTable:
    """The released HANNA score file as a ratings table: five judges' means of repeats, raters' positions, no identity.

    Text length stands in it as one more judge, "length".
    """
    csv.field_size_limit(sys.maxsize)
    with (studies / "hanna" / "hanna_metric_scores_llm.csv").open(encoding="utf-8", newline="") as stream:
        systems = list(csv.DictReader(stream))
    parts, stories = [], []
    for row in systems:
        system = row["Model"]
        names = [f"{system}/{i}" for i in range(96)]
        prompts = [f"prompt {i}" for i in range(96)]
        words = json.loads(row["Text length ¤§"])
        stories += [(n, p, system, int(w), "") for n, p, w in zip(names, prompts, words, strict=True)]
        common = {"dataset": "hanna", "story": names, "story_prompt": prompts, "system": system}
        for short, criterion in CRITERIA.items():
            for i in (1, 2, 3):
                values = json.loads(row[f"Human {i} {short}"])
                parts.append(
                    pd.DataFrame(common | {"criterion": criterion, "source": "rater", "rating": values, "status": "ok"})
                )
            judges = {("length", 1): words} | {
                (name, ep): json.loads(row[f"{name} {short} {ep}"])
                for name in ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT", "OrcaPlatypus")
                for ep in (1, 2, 3, 4)
            }
            for (name, ep), values in judges.items():
                cell = {
                    "run": "hanna",
                    "judge": name,
                    "eval_prompt": f"ep{ep}",
                    "criterion": criterion,
                    "source": "judge",
                }
                parts.append(pd.DataFrame(common | cell | {"repeat": 0, "rating": values, "status": "imported"}))
    frame = pd.concat(parts, ignore_index=True).reindex(columns=list(COLUMNS))
    frame["repeat"] = frame["repeat"].astype("Int64")
    frame["rating"] = frame["rating"].astype(float)
    criteria = tuple(Criterion(name, short, "") for short, name in CRITERIA.items())
    known = facts(
        run="hanna", judge="imported", dataset="hanna", revision=None, repeats=0, criteria=criteria, parser="imported"
    )
    return RatingsTable(frame, story_facts("hanna", stories), (known,))


@pytest.fixture(scope="session")
def mans_table(studies: Path) -> RatingsTable:
    """MANS-ROC with people's ratings only."""
    data = json.loads((studies / "openmeva" / "mans_roc.json").read_text(encoding="utf-8"))
    rows, stories = [], []
    for number, item in data.items():
        for system, made in item["gen"].items():
            name = f"{number}/{system}"
            stories.append((name, item["prompt"], system, len(made["text"].split()), made["text"]))
            common = {"dataset": "mans_roc", "story": name, "story_prompt": item["prompt"], "system": system}
            rows += [
                common | {"criterion": "Overall", "source": "rater", "rating": float(score), "status": "ok"}
                for score in made["score"]
            ]
    return assemble(rows, story_facts("mans_roc", stories), [])


@pytest.fixture(scope="session")
def mans_length(mans_table: RatingsTable) -> RatingsTable:
    """MANS-ROC with the number of words of a story as a judge, "length"."""
    stories = mans_table.stories.reset_index()
    judge = stories[["dataset", "story", "story_prompt", "system"]].assign(
        run="r", judge="length", criterion="Overall", eval_prompt="ep1", source="judge", repeat=0, status="ok"
    )
    judge["rating"] = stories["words"].astype(float)
    frame = pd.concat([mans_table.frame, judge], ignore_index=True).reindex(columns=list(COLUMNS))
    frame["repeat"] = frame["repeat"].astype("Int64")
    return RatingsTable(frame, mans_table.stories, (facts(judge="length", dataset="mans_roc", repeats=1),))
