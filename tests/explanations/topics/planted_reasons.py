"""Explanations with known reasons: each is given with one rating, about story-prompts with their own words."""

from __future__ import annotations

from typing import Any

import numpy as np

from judge.base.records import Criterion, Scale
from judge.explanations.corpus.corpus import ExplanationTexts, frame_of, stories_of

SAID = (
    ("the plot does not hold together and the events contradict each other", 1.0),
    ("the ending comes far too quickly and leaves every question open", 2.0),
    ("the sentences are clear and the language is easy to follow", 4.0),
    ("the characters are vivid and their motives are easy to believe", 5.0),
)
CRITERION = Criterion("Coherence", "CH", "", scale=Scale(1, 5))


def _name(prompt: int) -> str:
    return f"{chr(97 + prompt % 26)}{chr(97 + prompt // 26)}thing"


def texts(
    *, prompts: int = 30, stories: int = 4, repeats: int = 4, wrong: float = 0.0, seed: int = 1, judges: int = 1
) -> ExplanationTexts:
    """Four reasons, drawn at random for each explanation; people agree with the rating but for noise. With `wrong`,
    people lie that much lower (share of the scale) where the last reason is given."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for prompt in range(prompts):
        for story in range(stories):
            quality = rng.normal(0, 0.5)
            for judge in range(judges):
                for repeat in range(repeats):
                    # The second Eval-Prompt hardly gives the first reason.
                    for eval_prompt, odds in (("ep2", (0.25,) * 4), ("ep3", (0.01, 0.33, 0.33, 0.33))):
                        number = int(rng.choice(4, p=odds))
                        reason, rating = SAID[number]
                        people = 3 + 0.5 * (rating - 3) + quality - 4 * wrong * (number == 3)
                        rows.append(
                            {
                                "run": "planted", "judge": f"judge/{judge}", "dataset": "toy", "system": f"s{story}",
                                "story": f"{prompt}-{story}", "story_prompt": f"prompt {prompt}",
                                "criterion": "Coherence", "eval_prompt": eval_prompt, "repeat": repeat,
                                "rating": rating, "people": people, "status": "ok",
                                "explanation": f"In this tale of {_name(prompt)} {reason}, says reader {repeat}.",
                            }
                        )  # fmt: skip
    return ExplanationTexts(frame_of(rows), stories_of([]), (CRITERION,), (), ())
