"""How often does a judge pass the alternative annotator test that should not?

People are exchangeable: one set of thresholds and one size of errors for all, so that the expected difference d of any
person is the same, and known from one large study. *At the margin*: epsilon is that difference, so that a judge beats a
person by luck alone, and a test at 5 % should find each person beaten in 5 % of studies; the judge follows people
better on some story-prompts than on others. Printed is the share of persons found beaten before adjustment, and of
studies passed, as published and with standard errors over story-prompts. *Null judges*: how often those that know
nothing pass at epsilon .1, by the rows of `judge replace`.

    python -m tests.benchmarks.simulations.alt_test --studies 300 --jobs 1
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from judge.analysis.agreement.alternative_annotator import MEAN, PERMUTED
from judge.analysis.agreement.replacement import replacement
from judge.analysis.options.agreement_options import ReplacementOptions
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene
from tests.benchmarks.simulations.worlds import THRESHOLDS, Floats, Studies, Study, World

EXPECTED_STORY_PROMPTS = 40_000
FALSE = Bar(high=7.0)


def _reading(quality: Floats, noise: float, rng: np.random.Generator) -> Floats:
    error = noise * np.sqrt(0.6) * rng.standard_t(5, quality.shape)
    return np.asarray(1.0 + np.searchsorted(THRESHOLDS, quality + error), dtype=np.float64)


def _study(world: World, opinions: float, rng: np.random.Generator) -> Study:
    """Exchangeable people, and a judge `j` that errs by story-prompt: on some it misses the level of every story."""
    study = Studies(world, rng).study(np.zeros((1, world.systems)))
    people = np.stack([_reading(study.quality, world.noise, rng) for _ in range(world.people)], axis=2)
    missed = opinions * (rng.gamma(2.0, 1.0, world.story_prompts) - 2.0) / np.sqrt(2.0)
    judge = _reading(study.quality + missed[study.story_prompt], world.noise, rng)
    return replace(study, people=people).with_judges(j=judge)


@cache
def _margin(world: World, opinions: float) -> float:
    """A person's expected d = W_h - W_f, from one study of very many story-prompts."""
    if not opinions:
        return 0.0  # the judge is one more person
    many = replace(world, story_prompts=EXPECTED_STORY_PROMPTS // world.systems)
    rng, rows = np.random.default_rng(0), []
    for _ in range(4):
        study = _study(many, opinions, rng)
        people = replacement(study.table(), ReplacementOptions(epsilon=0.0)).people_frame
        rows.append(float((people["person_closer"] - people["judge_closer"]).mean()))
    return float(np.mean(rows))


def at_the_margin(seed: int, world: World, opinions: float) -> Outcome:
    """A judge exactly epsilon worse than each person."""
    options = ReplacementOptions(epsilon=_margin(world, opinions))
    table = _study(world, opinions, np.random.default_rng(seed)).table()
    found = replacement(table, options)
    people, rows = found.people_frame, found.frame
    judge = rows[rows["kind"] == "judge"].iloc[0]
    found: Outcome = {"epsilon": options.epsilon}
    # One person drawn a study: those of one study share its stories.
    one = people.iloc[seed % len(people)]
    found["person beaten, as published"] = float(one["p"] <= 0.05)
    found["person beaten, by story-prompt"] = float(one["clustered_p"] <= 0.05)
    found["passed, as published"] = float(judge["passed"])
    found["passed, by story-prompt"] = float(judge["clustered_passed"])
    return found


def null_judges(seed: int, world: World) -> Outcome:
    """Which judges pass at epsilon .1."""
    rng = np.random.default_rng(seed)
    studies = Studies(world, rng)
    study = studies.study()
    study = study.with_judges(j=studies.one_more(study), noise=studies.noise_judge(study))
    rows = replacement(study.table()).frame.set_index("judge")
    found: Outcome = {"people's ICC(1,1) x100": 100 * float(rows.loc["j", "people_icc"])}
    for judge, name in (("j", "one more person"), ("noise", "noise"), (MEAN, MEAN), (PERMUTED, PERMUTED)):
        found[f"{name} passes"] = float(rows.loc[judge, "passed"])
        found[f"{name}, rho x100"] = 100 * float(rows.loc[judge, "advantage"])
    return found


def _scenes() -> list[Scene]:
    made = []
    bars = {"person beaten, by story-prompt": FALSE, "passed, by story-prompt": FALSE}
    for prompts, stories in ((10, 10), (30, 10), (30, 30), (96, 10)):
        world = World(systems=10, story_prompts=prompts, stories=stories // 10)
        for opinions in (0.0, 0.7, 1.4):
            title = f"at the margin: {prompts} story-prompts x {stories} stories, judge's opinions of them {opinions:g}"
            made.append(scene(title, at_the_margin, bars, world=world, opinions=opinions))
    for noise in (0.6, 1.5, 4.0):
        world = World(systems=10, story_prompts=30, noise=noise)
        made.append(scene(f"null judges: people's errors {noise:g}", null_judges, {}, world=world))
    return made


if __name__ == "__main__":
    raise SystemExit(run(_scenes(), __doc__))
