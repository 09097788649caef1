"""What soft pairwise accuracy does a judge get that knows nothing, and how good is the figure beside it?

By the rows of `judge correlate --layout accuracy`: SPA of one more person, of noise, of a judge that has opinions of
systems and of nothing else, and of one that always gives the same rating; the mean that its own ratings get when dealt
at random; and the share of studies in which its SPA lies above 95 % of dealings.

    python -m tests.benchmarks.simulations.spa --studies 300 --jobs 1
"""

from __future__ import annotations

import numpy as np

from judge.analysis.agreement.accuracy import accuracies
from judge.analysis.options.agreement_options import AccuracyOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.benchmarks.simulations.worlds import Studies, World

FALSE = Bar(high=7.0)
NOTHING = ("noise", "opinions of systems", "always 3")


def spa_study(seed: int, world: World) -> Outcome:
    """One study of four judges."""
    rng = np.random.default_rng(seed)
    studies = Studies(world, rng)
    study = studies.study()
    opinions = rng.normal(0, 0.5, world.systems)[study.system]
    judges = {
        "one more person": studies.one_more(study),
        "noise": studies.noise_judge(study),
        "opinions of systems": studies.person(0 * study.quality + opinions),
        "always 3": np.full(study.quality.shape, 3.0),
    }
    table = study.with_judges(**judges).table(known=False)
    rows = (
        accuracies(table, AccuracyOptions(ci="none", control=False, folds=3))
        .frame.query("kind == 'judge'")
        .set_index("judge")
    )
    found: Outcome = {}
    for judge in judges:
        row = rows.loc[judge]
        found[f"{judge}: SPA x100"] = 100 * float(row["spa"])
        found[f"{judge}: by chance x100"] = 100 * float(row["spa_chance"])
        found[f"{judge}: above 95 % of dealings"] = float(row["spa"] > row["spa_chance_high"])
    return found


def _scenes() -> list[Scene]:
    bars = {f"{judge}: above 95 % of dealings": FALSE for judge in NOTHING}
    shapes = ((5, 30, 0.5), (10, 12, 0.5), (10, 30, 0.15), (10, 30, 0.5), (10, 96, 0.5), (20, 12, 0.5))
    return [
        scene(
            f"{systems} systems (spread {spread:g}) x {prompts} story-prompts",
            spa_study,
            bars,
            world=World(systems=systems, story_prompts=prompts, system_sd=spread),
        )
        for systems, prompts, spread in shapes
    ]


if __name__ == "__main__":
    raise SystemExit(run(_scenes(), __doc__))
