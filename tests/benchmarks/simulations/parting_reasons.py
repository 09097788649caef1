"""Where judge and people part: how often a topic stands out where none does, and how often a planted one is found.

On 86,000 real explanations of replies in 60 dialogues (JUDGE_DATA). Without an effect people's ratings are permuted
over replies, over the replies of each system, or whole dialogues are exchanged. A planted topic holds 3 % of all texts,
at random among those on one criterion or all about the same replies, and people lie .3 of the scale lower there.

    JUDGE_DATA=... python -m tests.benchmarks.simulations.parting_reasons [STUDIES] [SEED]
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.explanations.topics import parting
from judge.explanations.topics.parting import partings
from judge.explanations.topics.reasons import Reasons, reasons
from tests.explanations.topics.test_real_reasons import read_all

NULLS = ("replies", "replies of a system", "dialogues")
PLANTED = ("texts", "replies")
SHARE, WRONG = 0.03, 0.3


def without_effect(found: Reasons, how: str, rng: np.random.Generator) -> bool:
    """Whether a topic stands out although people's ratings were permuted."""
    reply, system, dialogue = (
        np.asarray(found.rows.groupby(name).ngroup()) for name in ("story", "system", "story_prompt")
    )
    _, first = np.unique(reply, return_index=True)
    table = np.full((first.size, len(found.criteria)), np.nan)
    table[reply, found.criterion] = found.people
    people = table.copy()
    if how == "dialogues":
        at = {(dialogue[i], system[i]): reply[i] for i in first}
        other = rng.permutation(dialogue.max() + 1)
        source = [at.get((other[dialogue[i]], system[i]), reply[i]) for i in first]
        people = table[source]
    else:
        groups = np.zeros(first.size, dtype=np.int64) if how == "replies" else system[first]
        for group in np.unique(groups):
            own = np.flatnonzero(groups == group)
            for column in range(table.shape[1]):
                people[own, column] = table[rng.permutation(own), column]
    return bool(partings(replace(found, people=people[reply, found.criterion])).significant)


def planted(found: Reasons, how: str, rng: np.random.Generator) -> bool:
    """Whether a planted topic stands out."""
    own = np.flatnonzero(found.criterion == rng.integers(len(found.criteria)))
    wanted = round(SHARE * found.criterion.size)
    if how == "texts":
        some = rng.choice(own, wanted, replace=False)
    else:
        reply = np.asarray(found.rows.groupby("story").ngroup())[own]
        size = np.bincount(reply)
        order = rng.permutation(np.flatnonzero(size))
        some = own[np.isin(reply, order[: int(np.searchsorted(np.cumsum(size[order]), wanted)) + 1])]
    number = found.topics.count
    topic, people = found.topics.topic.copy(), found.people.copy()
    topic[some], people[some] = number, people[some] - WRONG
    of: Codes = np.append(found.topics.criterion, found.criterion[some[0]])
    topics = replace(found.topics, topic=topic, criterion=of, theme=np.append(found.topics.theme, 0))
    result = partings(replace(found, topics=topics, people=people, names=(*found.names, "planted")))
    return number in {row.topic for row in result.significant}


def main(studies: int = 100, seed: int = 1) -> None:
    parting.HALVES = 0  # held-out figures take most of the time, and choose nothing
    found = reasons(read_all(Path(os.environ["JUDGE_DATA"])))
    for name, run, ways in (("no effect", without_effect, NULLS), ("planted", planted, PLANTED)):
        for how in ways:
            rng = np.random.default_rng([seed, *how.encode()])
            hits: Floats = np.array([run(found, how, rng) for _ in range(studies)], dtype=np.float64)
            error = 100 * float(np.sqrt(hits.mean() * (1 - hits.mean()) / studies))
            sys.stdout.write(f"{name}, {how}: {100 * hits.mean():.1f} % of {studies} (SE {error:.1f})\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
