"""What `judge improve` says where nothing is better, where wording alone moves tau, and where one candidate is better.

Ten systems, three people, three repeats, on a scale of 1 to 5. A judge reads a story's quality with an error that all
of its prompts share (systems, story-prompts and stories), an error of each prompt's own and one of each repeat; prompts
differ in leniency. Calibrated on HANNA's four Eval-Prompts: tau of the original .30, correlation of two prompts .64, of
two askings of one prompt .83, standard error of a difference times the root of the story-prompts .2. The split, the
race and the verdict are those of the program. Every study asks anew for its test.

More repeats of the original race too. Where a repeat has an error of its own they are truly better, so that what is
false there is a new prompt that is called better; without that error, anything is.

A memoriser gives people's ratings of every story whose story-prompt, or a near-duplicate of it, wrote the candidates. A
third of the story-prompts are near-duplicates of others. The last two scenes show what the split is for: it is by exact
text there, or the copies share too few words to be seen.

    python -m tests.benchmarks.simulations.improving --studies 300 --jobs 1
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.records import Story
from judge.lab.improve.material import AGAIN, BASE, MORE, ORIGINAL
from judge.lab.improve.race import Race, race, rounds_for, steps
from judge.lab.improve.split import split
from judge.stats.estimation import prompt_gain
from judge.stats.regression.ridge import shrunk_weights
from tests.benchmarks.simulations.runner import Bar, Outcome, Scene, run, scene

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
SYSTEMS, PEOPLE, REPEATS = 10, 3, 3
CANDIDATES, PARAPHRASES = 10, 3
# Shares of the error that all prompts of a judge have in common, and standard deviation of a repeat's.
SHARED, NOISE = 0.62, 0.65
TAU = 0.30
# Words of a story-prompt, and those of a copy that are new: where it is seen as a near-duplicate, and where not.
WORDS, SEEN, UNSEEN = 14, 1, 6


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

    def answers(self, among: World, rng: np.random.Generator, noise: float = NOISE) -> Floats:
        """Mean ratings of all stories over newly asked repeats, (n,)."""
        error = np.sqrt(SHARED) * among.shared + np.sqrt(1 - SHARED) * self.own
        latent = self.rho * among.quality + np.sqrt(1 - self.rho**2) * error
        each = 3 + self.leniency + 0.9 * latent + rng.normal(0, noise, (REPEATS, latent.size))
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


def raced(
    names: Mapping[str, Floats], people: Floats, story_prompt: Codes, pools: Sequence[Sequence[str]], part: Codes
) -> Race:
    """The program's race on the story-prompts `part`; `names` hold answers to all stories, (n,), and the original's."""
    until = steps(part.size, rounds_for(max(len(pool) for pool in pools), part.size))

    def scores(left: Sequence[str], step: int) -> dict[str, float]:
        used = np.isin(story_prompt, part[: until[step]])
        found = {
            name: prompt_gain.mean_tau(names[name][None, used], people[None, used])
            for name in dict.fromkeys((*left, *(each for each in BASE if each in names)))
        }
        return found | {ORIGINAL: float(np.mean([found[name] for name in BASE if name in found]))}

    return race(ORIGINAL, pools, len(until), scores)


def asked(
    among: World, prompts: Mapping[str, Prompt], known: NDArray[np.bool_], noise: float, rng: np.random.Generator
) -> dict[str, Floats]:
    """Newly asked ratings by each prompt, the original's twice and their mean; "memoriser" gives people's where it has
    `known` the story."""
    told = {name: prompt.answers(among, rng, noise) for name, prompt in prompts.items()}
    if "memoriser" in told:
        told["memoriser"] = np.where(known, among.people, told["memoriser"])
    told[AGAIN] = prompts[ORIGINAL].answers(among, rng, noise)
    return told | {MORE: (told[ORIGINAL] + told[AGAIN]) / 2}


@dataclass(frozen=True, slots=True)
class Parts:
    """Story-prompts of each part that chooses with those of its test, the group of each story's, and which stories a
    memoriser knows."""

    pairs: Sequence[tuple[Codes, Codes]]
    group: Codes
    known: NDArray[np.bool_]


def parts_of(among: World, swap: bool, copied: int, by_text: bool, rng: np.random.Generator) -> Parts:
    """The program's split of the stories; a third of the story-prompts are copies with `copied` other words, or none
    where it is 0. `by_text`: copies are taken for other story-prompts."""
    count = int(among.story_prompt.max()) + 1
    words = [[f"w{word}" for word in rng.choice(2000, WORDS, replace=False)] for _ in range(count)]
    source = np.arange(count)
    if copied:
        source[2 * count // 3 :] = np.arange(count - 2 * count // 3)
        for place in range(2 * count // 3, count):
            words[place] = [*words[source[place]][copied:], *(f"new{place}x{i}" for i in range(copied))]
    told = [
        Story(str(i), f"{prompt} {prompt} {prompt}" if by_text else " ".join(words[prompt]), "m", "text")
        for i, prompt in enumerate(among.story_prompt)
    ]
    found = split(told, seed=int(rng.integers(1 << 30)), design="swap" if swap else "split")
    group = np.zeros(len(told), dtype=np.int64)
    numbers: dict[tuple[str, ...], int] = {}
    for part in (found.train, *found.chooses, *found.tests):
        for members in part:
            group[list(map(int, members))] = numbers.setdefault(members, len(numbers))
    pairs = [
        tuple(np.array([numbers[members] for members in part]) for part in pair)
        for pair in zip(found.chooses, found.tests, strict=True)
    ]
    train = np.isin(group, [numbers[members] for members in found.train])
    known = np.isin(source[among.story_prompt], source[among.story_prompt][train])
    return Parts([(chooses, tests) for chooses, tests in pairs], group, known)


def study(
    seed: int,
    story_prompts: int,
    swap: bool,
    gain: float = 0.0,
    wording: float = 0.0,
    noise: float = NOISE,
    copied: int = 0,
    by_text: bool = False,
) -> Outcome:
    """One use of the program: one candidate is better by `gain`, wording has the standard deviation `wording`. With
    `copied`, one candidate memorises."""
    rng = np.random.default_rng(seed)
    among = world(story_prompts, rng)
    candidates = [*(f"c{i}" for i in range(CANDIDATES - bool(copied))), *(["memoriser"] if copied else [])]
    paraphrases = [f"p{i}" for i in range(PARAPHRASES)]
    prompts = {ORIGINAL: prompt_of(TAU, among, rng)}
    for name in (*candidates, *paraphrases):
        prompts[name] = prompt_of(TAU + float(rng.normal(0, wording)) + gain * (name == "c0"), among, rng)
    parts = parts_of(among, swap, copied, by_text, rng)
    answers = asked(among, prompts, parts.known, noise, rng)
    pools = (candidates, paraphrases, [MORE])
    races = [raced(answers, among.people, parts.group, pools, chooses) for chooses, _ in parts.pairs]
    winners = [each.winner or MORE for each in races]
    promised = [each.promised(winner) for each, winner in zip(races, winners, strict=True)]
    words = ("IMPROVED", "by a new prompt", "by more repeats", "WORSE", "more than rewording")
    if max(promised) <= 0:
        return dict.fromkeys(words, 0.0) | {"not tested": 1.0}
    told = asked(among, prompts, parts.known, noise, rng)

    def verdict(bases: Sequence[Sequence[str]]) -> prompt_gain.Gain:
        made = []
        for base, winner, (_, tests) in zip(bases, winners, parts.pairs, strict=True):
            used = np.isin(parts.group, tests)
            stacked = np.stack([told[name] for name in base])[:, None, used]
            made.append(
                prompt_gain.Part(
                    among.people[None, used], stacked, told[winner][None, used], parts.group[used], among.system[used]
                )
            )
        return prompt_gain.gain(made, factor=prompt_gain.SWAPPED if swap else 1.0)

    over = verdict([BASE] * len(winners))
    repeats = set(winners) == {MORE}
    reworded = MORE not in winners and verdict([[each.winners[1] or ORIGINAL] for each in races]).above
    return dict(
        zip(words, (over.above, over.above and not repeats, over.above and repeats, over.below), strict=False)
    ) | {
        "more than rewording": float(over.above and reworded),
        "not tested": 0.0,
        "promised": float(np.mean(promised)),
        "gain on test": over.estimate.value,
    }


def family(seed: int, gains: Sequence[float], story_prompts: int = 48) -> Outcome:
    """The verdict on a winner that is better by one of `gains` on each criterion: what is said falsely of any of them,
    or of all together, with Holm's adjustment and without."""
    rng = np.random.default_rng(seed)
    people, base, other = [], [], []
    for gain in gains:
        among = world(story_prompts, rng)
        original, winner = prompt_of(TAU, among, rng), prompt_of(TAU + gain, among, rng)
        people.append(among.people)
        base.append([original.answers(among, rng), original.answers(among, rng)])
        other.append(winner.answers(among, rng))
    made = prompt_gain.Part(
        np.stack(people), np.array(base).swapaxes(0, 1), np.stack(other), among.story_prompt, among.system
    )
    over = prompt_gain.gain([made])
    each = {
        str(i): prompt_gain.gain(
            [prompt_gain.Part(people[i][None], made.base[:, [i]], other[i][None], made.story_prompt, made.system)]
        )
        for i in range(len(gains))
    }
    adjusted = prompt_gain.adjusted(over, each)
    better = {name for name, gain in zip(each, gains, strict=True) if gain}
    named = {name for name, p in adjusted.items() if p <= 0.05}
    up = {name for name in named if (each[name].estimate.value or 0.0) > 0}
    nothing = not better
    told: Outcome = {
        "IMPROVED falsely in the family": float((nothing and over.above) or bool(up - better)),
        "any false word in the family": float((nothing and (over.above or over.below)) or bool(named - better)),
        "any false word without Holm": float(any((each[name].p or 1.0) <= 0.05 for name in each.keys() - better)),
        "IMPROVED over all": float(over.above),
    }
    return told | ({} if nothing else {"each named where better": float(better <= up)})


def weighing(seed: int, taus: Sequence[float], story_prompts: int = 96) -> Outcome:
    """tau of sub-scores with these taus, averaged and weighted by the program's rule; it is fitted on a fifth of the
    story-prompts, with answers as noisy as one repeat, and tau is that of the rest."""
    rng = np.random.default_rng(seed)
    among = world(story_prompts, rng)
    prompts = [prompt_of(tau, among, rng) for tau in taus]
    train = among.story_prompt < round(0.2 * story_prompts)
    once = np.stack([prompt.answers(among, rng, NOISE * np.sqrt(REPEATS)) for prompt in prompts], axis=1)
    weights = shrunk_weights(once[train], among.people[train])
    scores = np.stack([prompt.answers(among, rng) for prompt in prompts], axis=1)[~train]
    people = among.people[None, ~train]
    mean, weighted = (prompt_gain.mean_tau(each[None], people) for each in (scores.mean(axis=1), scores @ weights))
    return {"tau of the mean": mean, "tau of the weighted mean": weighted, "weighted minus mean": weighted - mean}


FALSE = {"IMPROVED": Bar(high=5.0)}
FAMILY = {"IMPROVED falsely in the family": Bar(high=5.0), "any false word in the family": Bar(high=5.0)}
FALSE_PROMPT = {"by a new prompt": Bar(high=5.0)}
REWORDED = {"more than rewording": Bar(high=15.0)}
SCENES: list[Scene] = [
    scene("nothing better, 96 story-prompts", study, FALSE_PROMPT, story_prompts=96, swap=False),
    scene("nothing better, 96 by swap", study, FALSE_PROMPT, story_prompts=96, swap=True),
    scene("nothing better, 40 by swap", study, FALSE_PROMPT, story_prompts=40, swap=True),
    scene("nothing better, 20 by swap", study, FALSE_PROMPT, story_prompts=20, swap=True),
    scene("nothing better, no noise, 96 story-prompts", study, FALSE, story_prompts=96, swap=False, noise=0.0),
    scene("nothing better, no noise, 40 by swap", study, FALSE, story_prompts=40, swap=True, noise=0.0),
    scene("wording moves tau, 96 story-prompts", study, REWORDED, story_prompts=96, swap=False, wording=0.03),
    scene("wording moves tau, 40 by swap", study, REWORDED, story_prompts=40, swap=True, wording=0.03),
    scene("one better by .10, 96", study, {"IMPROVED": Bar(low=85.0)}, story_prompts=96, swap=False, gain=0.10),
    scene("one better by .10, 96 by swap", study, {"IMPROVED": Bar(low=85.0)}, story_prompts=96, swap=True, gain=0.10),
    scene("one better by .10, 40 by swap", study, {"IMPROVED": Bar(low=55.0)}, story_prompts=40, swap=True, gain=0.10),
    scene("a memoriser, 96 story-prompts", study, FALSE_PROMPT, story_prompts=96, swap=False, copied=SEEN),
    scene("a memoriser, 40 by swap", study, FALSE_PROMPT, story_prompts=40, swap=True, copied=SEEN),
    scene("a memoriser, split by exact text, 96", study, {}, story_prompts=96, swap=False, copied=SEEN, by_text=True),
    scene("a memoriser of unseen copies, 96", study, {}, story_prompts=96, swap=False, copied=UNSEEN),
    scene("six criteria, better on none", family, FAMILY, gains=(0.0,) * 6),
    scene("six criteria, better by .20 on one", family, FAMILY, gains=(0.2, *(0.0,) * 5)),
    scene("three criteria, better by .20 on two", family, FAMILY, gains=(0.2, 0.2, 0.0)),
    scene("four sub-scores alike", weighing, {}, taus=(0.25,) * 4),
    scene("four sub-scores, one is noise", weighing, {"weighted minus mean": Bar(low=0.0)}, taus=(0.3, 0.3, 0.3, 0.0)),
    scene("four sub-scores, one tells", weighing, {"weighted minus mean": Bar(low=0.0)}, taus=(0.4, 0.1, 0.1, 0.1)),
]


if __name__ == "__main__":
    raise SystemExit(run(SCENES, __doc__))
