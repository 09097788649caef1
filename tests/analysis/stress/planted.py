"""Stress runs of planted judges, as ratings tables: what was done to a story stands in its id alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from judge.base.records import Criterion, Scale
from judge.inputs.perturbations.perturbation import story_name
from judge.ratings.ratings_table import RatingsTable
from tests.analysis.conftest import assemble, facts, story_facts

Rate = Callable[[str | None, int, int, np.random.Generator], float | str]
"""From perturbation (None: untouched), strength and repeat to a rating, or a status where there is none."""

CHANGES = {"typos": (1, 2), "negation": (1, 2, 4), "lexical-repetition": (1,), "sentence-shuffle": (1,)}


def planted(
    judges: Mapping[str, Rate],
    *,
    prompts: int = 40,
    stories: int = 1,
    repeats: int = 1,
    criteria: Sequence[str] = ("Coherence",),
    changes: Mapping[str, Sequence[int]] = CHANGES,
    seed: int = 0,
    people: bool = False,
) -> RatingsTable:
    """Every judge's ratings of every story: `prompts` story-prompts with `stories` origins each."""
    rows: list[dict[str, Any]] = []
    texts = []
    kinds = [(None, 1), *((name, strength) for name, some in changes.items() for strength in some)]
    for prompt in range(prompts):
        for number in range(stories):
            for name, strength in kinds:
                story = story_name(f"p{prompt}-{number}", name, strength)
                texts.append((story, f"prompt {prompt}", "Human", 20, f"A story {prompt} told by {number}. It ends."))
                common = {"dataset": "toy", "story": story, "story_prompt": f"prompt {prompt}", "system": "Human"}
                if people and name is None:
                    said = {"criterion": "Coherence", "source": "rater", "rater": "w", "rating": 4.0, "status": "ok"}
                    rows.append(common | said)
                for judge, rate in judges.items():
                    for c, criterion in enumerate(criteria):
                        for repeat in range(repeats):
                            rng = np.random.default_rng(
                                [seed, prompt, number, kinds.index((name, strength)), c, repeat]
                            )
                            said = rate(name, strength, repeat, rng)
                            lost = isinstance(said, str)
                            rows.append(
                                common
                                | {"run": "r", "judge": judge, "eval_prompt": "ep1", "criterion": criterion}
                                | {"source": "judge", "repeat": repeat}
                                | {"rating": np.nan if lost else said, "status": said if lost else "ok"}
                            )
    known = tuple(Criterion(name, name[:2].upper(), "how well", Scale(1, 5)) for name in criteria)
    some = [facts(judge=judge, repeats=repeats, criteria=known) for judge in judges]
    return assemble(rows, story_facts("toy", texts), some)
