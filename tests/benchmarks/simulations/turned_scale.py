"""One person with the scale the wrong way round: is any printed reliability impossible, and is the person named?

Through `consistency`, with people who all rated every story, or two of three. Honest studies stand beside it, and
studies in which nothing is told apart (people of pure noise), where a reliability near 0 is often estimated below it.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from judge.analysis.reliability.consistency import consistency, tables
from tests.benchmarks.simulations.runner import Bar, Outcome, run, scene
from tests.benchmarks.simulations.worlds import Studies, World


def study(seed: int, *, turned: bool, gaps: bool, noise: bool, story_prompts: int) -> Outcome:
    """What `judge consistency` prints of people."""
    rng = np.random.default_rng(seed)
    studies = Studies(World(systems=4, story_prompts=story_prompts), rng)
    drawn = studies.study()
    people = drawn.people.copy()
    if noise:
        people = rng.integers(1, 6, people.shape).astype(np.float64)
    if turned:
        people[..., 2] = 6 - people[..., 2]
    if gaps:
        people[:, np.arange(drawn.n), rng.integers(0, 3, drawn.n)] = np.nan
    table = replace(drawn, people=people).with_judges(judge=studies.one_more(drawn)).table()
    (printed,) = tables(consistency(table))
    (row,) = [one for one in printed.rows if one["judge"] == "people"]
    averages = [row[form] for form in ("ICC(1,k)", "ICC(2,k)")]
    outside = [e.value > 1 or (e.high is not None and e.high < 0) for e in averages if e.value is not None]
    return {
        "a printed reliability is impossible": float(any(outside)),
        "somebody is said to be turned": float(any("run the other way" in note for note in printed.notes)),
        "w2 is named": float(any("w2 (r = " in note for note in printed.notes)),
        "reliability undefined": float(averages[0].value is None),
    }


SCENES = [
    scene(
        f"{name}, {count} story-prompts x 4 systems{', two of three rate' if gaps else ''}",
        study,
        {"a printed reliability is impossible": Bar(high=0.0)}
        | (
            {"w2 is named": Bar(low=90.0)} if name == "one turned" else {"somebody is said to be turned": Bar(high=5.0)}
        ),
        turned=name == "one turned",
        noise=name == "noise",
        gaps=gaps,
        story_prompts=count,
    )
    for name in ("one turned", "honest", "noise")
    for count, gaps in ((10, False), (30, False), (30, True))
]

if __name__ == "__main__":
    sys.exit(run(SCENES, __doc__))
