"""What `judge improve` says where nothing is better, where wording alone moves tau, and where one candidate is better.

Ten systems, three people, three repeats, on a scale of 1 to 5. A judge reads a story's quality with an error that all
of its prompts share (systems, story-prompts and stories), an error of each prompt's own and one of each repeat; prompts
differ in leniency. Calibrated on HANNA's four Eval-Prompts: tau of the original .30, correlation of two prompts .64, of
two askings of one prompt .83, standard error of a difference times the root of the story-prompts .2. The split, the
race and the verdict are those of the program. Every study asks anew for its test.

    python -m tests.benchmarks.simulations.improving --studies 300 --jobs 1
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.lab.improve.race import Race, race, rounds_for, steps
from judge.stats.estimation import prompt_gain
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene

Floats = NDArray[np.float64]
SYSTEMS, PEOPLE, REPEATS = 10, 3, 3
CANDIDATES, PARAPHRASES = 10, 3
# Shares of the error that all prompts of a judge have in common.
SHARED = 0.62
TAU = 0.30


@dataclass(frozen=True, slots=True)
class World:
    """Stories of `story_prompts` with people's mean ratings, and the error that a judge's prompts share, all (n,)."""

    quality: Floats
    people: Floats
    shared: Floats
    story_prompt: NDArray[np.int64]
    system: NDArray[np.int64]


def world(story_prompts: int, rng: np.random.Generator) -> World:
    """Stories of all systems for each story-prompt, rated by three people who differ in leniency."""
    story_prompt = np.repeat(np.arange(story_prompts), SYSTEMS)
    system = np.tile(np.arange(SYSTEMS), story_prompts)

    def parts(of_systems: float, of_prompts: float) -> Floats:
        rest = np.sqrt(1 - of_systems**2 - of_prompts**2)
        return np.asarray(
            of_systems * rng.normal(size=SYSTEMS)[system]
            + of_prompts * rng.normal(size=story_prompts)[story_prompt]
            + rest * rng.normal(size=system.size)
        )

    quality = parts(0.5, 0.3)
    leniency = rng.normal(0, 0.4, PEOPLE)
    noise = rng.normal(0, 1.0, (PEOPLE, system.size))
    people = np.clip(np.round(3 + 0.8 * quality + leniency[:, None] + noise), 1, 5).mean(axis=0)
    return World(quality, people, parts(0.4, 0.3), story_prompt, system)


@dataclass(frozen=True, slots=True)
class Prompt:
    """How well a prompt lets the judge read quality (`rho`), its leniency, and its own error, (n,)."""

    rho: float
    leniency: float
    own: Floats

    def answers(self, among: World, rng: np.random.Generator, repeats: int = REPEATS) -> Floats:
        """Mean ratings of all stories over newly asked repeats, (n,)."""
        error = np.sqrt(SHARED) * among.shared + np.sqrt(1 - SHARED) * self.own
        latent = self.rho * among.quality + np.sqrt(1 - self.rho**2) * error
        each = 3 + self.leniency + 0.9 * latent + rng.normal(0, 0.65, (repeats, latent.size))
        return np.asarray(np.clip(np.round(each), 1, 5).mean(axis=0))


@functools.cache
def _curve() -> tuple[Floats, Floats]:
    rng = np.random.default_rng(5)
    rhos = np.linspace(0.05, 0.95, 19)
    found = []
    for rho in rhos:
        values = []
        for _ in range(60):
            among = world(100, rng)
            prompt = Prompt(float(rho), 0.0, rng.normal(size=among.people.size))
            values.append(prompt_gain.mean_tau(prompt.answers(among, rng)[None], among.people[None]))
        found.append(np.mean(values))
    return rhos, np.asarray(found)


def rho_of(tau: float) -> float:
    """The `rho` that has this tau with people in large samples."""
    rhos, taus = _curve()
    return float(np.interp(tau, taus, rhos))


def prompt_of(tau: float, among: World, rng: np.random.Generator) -> Prompt:
    """A prompt with this true tau."""
    return Prompt(rho_of(tau), float(rng.normal(0, 0.35)), rng.normal(size=among.people.size))


def raced(among: World, names: Mapping[str, Floats], pools: Sequence[Sequence[str]], part: NDArray[np.int64]) -> Race:
    """The program's race on the story-prompts `part`; `names` hold answers to all stories."""
    number = rounds_for(max(len(pool) for pool in pools), part.size)
    until = steps(part.size, number)

    def scores(left: Sequence[str], step: int) -> dict[str, float]:
        used = np.isin(among.story_prompt, part[: until[step]])
        return {name: prompt_gain.mean_tau(names[name][None, used], among.people[None, used]) for name in left}

    return race("original", pools, len(until), scores)


def tested(
    among: World,
    prompts: Mapping[str, Prompt],
    names: tuple[str, str],
    part: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[prompt_gain.Part, prompt_gain.Part]:
    """Test parts of a winner and a paraphrase: against the original asked twice anew, and against the paraphrase."""
    used = np.isin(among.story_prompt, part)
    first, second, winner, paraphrase = (
        prompts[name].answers(among, rng)[used] for name in ("original", "original", *names)
    )
    people, story_prompt, system = among.people[None, used], among.story_prompt[used], among.system[used]

    def of(base: Sequence[Floats]) -> prompt_gain.Part:
        return prompt_gain.Part(people, np.stack(base)[:, None], winner[None], story_prompt, system)

    return of([first, second]), of([paraphrase])


def study(
    seed: int, story_prompts: int, swap: bool, gain: float, wording: float, memorises: bool, original: float = 0.0
) -> Outcome:
    """One use of the program: one candidate is better by `gain`, wording has the standard deviation `wording`."""
    rng = np.random.default_rng(seed)
    among = world(story_prompts, rng)
    candidates = [f"c{i}" for i in range(CANDIDATES)]
    paraphrases = [f"p{i}" for i in range(PARAPHRASES)]
    prompts = {"original": prompt_of(TAU + original, among, rng)}
    for name in (*candidates, *paraphrases):
        prompts[name] = prompt_of(TAU + float(rng.normal(0, wording)) + gain * (name == "c0"), among, rng)
    order = rng.permutation(story_prompts)
    train, rest = order[: round(0.2 * story_prompts)], order[round(0.2 * story_prompts) :]
    cut = rest.size // 2 if swap else round(0.3 * story_prompts)
    halves = (rest[:cut], rest[cut:])
    answers = {name: prompt.answers(among, rng) for name, prompt in prompts.items()}
    if memorises:  # perfect on the stories that it was written from
        known = np.isin(among.story_prompt, train)
        answers["c1"] = np.where(known, among.people, answers["c1"])
    over: list[prompt_gain.Part] = []
    reworded: list[prompt_gain.Part] = []
    promised: list[float] = []
    for chooses, tests in (halves, halves[::-1]) if swap else (halves,):
        found = raced(among, answers, (candidates, paraphrases), chooses)
        winner, paraphrase = (name or "original" for name in found.winners)
        promised.append(found.promised(winner))
        first, second = tested(among, prompts, (winner, paraphrase), tests, rng)
        over.append(first)
        reworded.append(second)
    if max(promised) <= 0:
        return {"IMPROVED": 0.0, "WORSE": 0.0, "more than rewording": 0.0, "not tested": 1.0}
    factor = prompt_gain.SWAPPED if swap else 1.0
    verdict, wording_too = (prompt_gain.gain(parts, factor=factor) for parts in (over, reworded))
    return {
        "IMPROVED": float(verdict.above),
        "WORSE": float(verdict.below),
        "more than rewording": float(verdict.above and wording_too.above),
        "not tested": 0.0,
        "promised": float(np.mean(promised)),
        "gain on test": verdict.estimate.value,
        "standard error x root of story-prompts": (verdict.se or 0.0) * np.sqrt(verdict.clusters) / factor,
    }


_PLAIN = {"gain": 0.0, "wording": 0.0, "memorises": False}
FALSE = {"IMPROVED": Bar(high=5.0)}
SCENES: list[Scene] = [
    scene("nothing better, 96 story-prompts", study, FALSE, story_prompts=96, swap=False, **_PLAIN),
    scene("nothing better, 96 by swap", study, FALSE, story_prompts=96, swap=True, **_PLAIN),
    scene("nothing better, 40 by swap", study, FALSE, story_prompts=40, swap=True, **_PLAIN),
    scene("nothing better, 20 by swap", study, FALSE, story_prompts=20, swap=True, **_PLAIN),
    scene(
        "wording alone moves tau, 96 story-prompts",
        study,
        {"more than rewording": Bar(high=15.0)},
        story_prompts=96,
        swap=False,
        **_PLAIN | {"wording": 0.03},
    ),
    scene(
        "wording alone moves tau, 40 by swap",
        study,
        {"more than rewording": Bar(high=15.0)},
        story_prompts=40,
        swap=True,
        **_PLAIN | {"wording": 0.03},
    ),
    scene(
        "one better by .10, 96 story-prompts",
        study,
        {"IMPROVED": Bar(low=85.0)},
        story_prompts=96,
        swap=False,
        **_PLAIN | {"gain": 0.10},
    ),
    scene(
        "one better by .10, 96 by swap",
        study,
        {"IMPROVED": Bar(low=85.0)},
        story_prompts=96,
        swap=True,
        **_PLAIN | {"gain": 0.10},
    ),
    scene(
        "one better by .10, 40 by swap",
        study,
        {"IMPROVED": Bar(low=55.0)},
        story_prompts=40,
        swap=True,
        **_PLAIN | {"gain": 0.10},
    ),
    scene("a memoriser, 96 story-prompts", study, FALSE, story_prompts=96, swap=False, **_PLAIN | {"memorises": True}),
    scene("a memoriser, 40 by swap", study, FALSE, story_prompts=40, swap=True, **_PLAIN | {"memorises": True}),
]


if __name__ == "__main__":
    raise SystemExit(run(SCENES, __doc__))
