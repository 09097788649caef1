"""The race and the verdict of `judge improve` on released ratings, without a model.

HANNA: each of four Eval-Prompts of five judges on six criteria; one is the original, the others are candidates. The
race and its test see 48 of the 96 story-prompts; the gain of what was chosen on the other 48, which the race never saw,
is the truth, with an error of its own. Closer Look: six groups of three of the twenty answers of one prompt, of which
five are candidates: nothing is better, and all that differs is the asking. And six repeats against three.

    JUDGE_DATA=... python -m tests.benchmarks.simulations.improving_released
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.base.arrays import row_means
from judge.exchange.released import CRITERIA, EVAL_PROMPTS, JUDGES, read_scores
from judge.lab.improve.material import ORIGINAL
from judge.reproduce.closer_look import PROMPTS, SCALES, Dialogues, read
from judge.stats.estimation import prompt_gain
from judge.stats.estimation.prompt_gain import Part
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.simulations.improving import raced

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cell:
    """Ratings of stories by several prompts of one judge on one criterion, (prompts, n), and people's, (n,)."""

    prompts: Floats
    people: Floats
    story_prompt: Codes
    system: Codes

    def part(self, base: int, other: int, chosen: Codes) -> Part:
        """The test part of two prompts on some story-prompts."""
        used = np.isin(self.story_prompt, chosen)
        rows = self.prompts[:, used]
        return Part(
            self.people[None, used],
            rows[base][None, None],
            rows[other][None],
            self.story_prompt[used],
            self.system[used],
        )

    def raced(self, base: int, chosen: Codes) -> tuple[int, float]:
        """The winner among the other prompts on these story-prompts, and what it promises."""
        names = {str(i): row for i, row in enumerate(self.prompts) if i != base}
        found = raced({ORIGINAL: self.prompts[base], **names}, self.people, self.story_prompt, [list(names)], chosen)
        winner = found.winners[0]
        if winner is None:
            raise ValueError("every candidate is undefined")
        return int(winner), found.promised(winner)


def hanna(data: Path) -> list[Cell]:
    """The 30 cells of five judges and six criteria, each with four Eval-Prompts."""
    frame = read_scores(data / "hanna/hanna_metric_scores_llm.csv").frame
    made = []
    for criterion in CRITERIA:
        of = frame[frame["criterion"] == criterion]
        people = of[of["source"] == "rater"].groupby("story")["rating"].mean()
        places = of.drop_duplicates("story").set_index("story").loc[people.index]
        story_prompt = np.unique(places["story_prompt"].astype(str), return_inverse=True)[1]
        system = np.unique(places["system"].astype(str), return_inverse=True)[1]
        for judge in JUDGES:
            own = of[of["judge"] == judge]
            rows = [
                own[own["eval_prompt"] == f"ep{number}"]
                .set_index("story")["rating"]
                .reindex(people.index)
                .to_numpy(float)
                for number in EVAL_PROMPTS
            ]
            made.append(Cell(np.stack(rows), people.to_numpy(float), story_prompt, system))
    return made


@dataclass(frozen=True, slots=True)
class Checked:
    """One race that was checked: promised, estimated on test, the truth, and whether the interval holds it."""

    promised: float
    gain: float
    truth: float
    holds: bool
    improved: bool


def checked(cell: Cell, base: int, design: str, rng: np.random.Generator) -> Checked | None:
    """A race and its test on half of the story-prompts, checked on the other half; None where undefined."""
    order = rng.permutation(np.unique(cell.story_prompt))
    seen, unseen = order[: order.size // 2], order[order.size // 2 :]
    train = round(0.2 * seen.size)
    cut = train + (round(0.3 * seen.size) if design == "split" else (seen.size - train) // 2)
    halves = (seen[train:cut], seen[cut:])
    pairs = (halves,) if design == "split" else (halves, halves[::-1])
    chosen = [cell.raced(base, chooses) for chooses, _ in pairs]
    parts = [cell.part(base, winner, tests) for (winner, _), (_, tests) in zip(chosen, pairs, strict=True)]
    found = prompt_gain.gain(parts, factor=prompt_gain.SWAPPED if design == "swap" else 1.0)
    truth, error = _truth(cell, base, [winner for winner, _ in chosen], unseen)
    return _held(float(np.mean([each for _, each in chosen])), found, truth, error, unseen.size)


def _held(promised: float, found: prompt_gain.Gain, truth: float, error: float, clusters: int) -> Checked | None:
    """Whether an estimate holds a truth that has an `error` of its own, over so many `clusters`."""
    if found.se is None or found.estimate.value is None:
        return None
    both = float(np.hypot(found.se, error))
    freedom = both**4 / (found.se**4 / (found.clusters - 1) + error**4 / (clusters - 1))
    value, half = found.estimate.value, float(special.stdtrit(freedom, 0.975)) * both
    return Checked(promised, value, truth, abs(value - truth) <= half, found.above)


def _truth(cell: Cell, base: int, winners: Sequence[int], unseen: Codes) -> tuple[float, float]:
    """The mean gain of the winners on story-prompts that the race never saw, and its jackknife standard error."""
    used = np.isin(cell.story_prompt, unseen)
    taus = prompt_gain.taus(cell.prompts[[base, *winners]][:, used], cell.people[used], cell.story_prompt[used])
    values = taus[1:].mean(axis=0) - taus[0]
    left = values[1:]
    return float(values[0]), float(np.sqrt((left.size - 1) / left.size * ((left - left.mean()) ** 2).sum()))


def dialogues_of(data: Path) -> Dialogues:
    """The released answers of Closer Look."""
    folder = data / "closer_look"
    return read(folder / "replies.csv", {name: folder / f"answers_{name}.jsonl.gz" for name in PROMPTS})


def reruns(dialogues: Dialogues, prompt: str, criterion: int, rng: np.random.Generator) -> Checked | None:
    """Six groups of three answers of one prompt: one is the original, five are candidates; split 24 / 18 / 18."""
    answers = dialogues.ours[prompt][:, criterion]
    drawn = rng.permutation(answers.shape[1])[:18].reshape(6, 3)
    groups = np.stack([row_means(answers[:, each]) for each in drawn])
    systems = np.arange(answers.shape[0]) % 6
    cell = Cell(groups, dialogues.people[:, criterion], dialogues.dialogue, systems)
    order = rng.permutation(np.unique(dialogues.dialogue))
    winner, promised = cell.raced(0, order[24:42])
    found = prompt_gain.gain([cell.part(0, winner, order[42:])])
    if found.estimate.value is None or found.se is None:
        return None
    return Checked(promised, found.estimate.value, 0.0, not (found.above or found.below), found.above)


def doubled(dialogues: Dialogues, prompt: str, criterion: int, rng: np.random.Generator) -> Checked | None:
    """The gain of six repeats over three of one prompt, as the two askings of a test tell it: estimated on half of the
    dialogues, checked with other answers on the other half. Select promises nothing here."""
    answers = dialogues.ours[prompt][:, criterion]
    drawn = rng.permutation(answers.shape[1])[:12].reshape(4, 3)
    groups = [row_means(answers[:, each]) for each in drawn]
    systems = np.arange(answers.shape[0]) % 6
    halves = rng.permutation(np.unique(dialogues.dialogue)).reshape(2, -1)
    gains = []
    for one, (first, second) in zip(halves, (groups[:2], groups[2:]), strict=True):
        used = np.isin(dialogues.dialogue, one)
        sides = np.stack([first, second])[:, None, used]
        people = dialogues.people[None, used, criterion]
        gains.append(
            prompt_gain.gain([Part(people, sides, sides.mean(axis=0), dialogues.dialogue[used], systems[used])])
        )
    truth = gains[1]
    if truth.se is None or truth.estimate.value is None:
        return None
    return _held(0.0, gains[0], truth.estimate.value, truth.se, truth.clusters)


def figures(found: Sequence[Checked | None]) -> list[Figure]:
    """Shares and means over races."""
    kept = [each for each in found if each is not None]
    lost = len(found) - len(kept)
    return [
        Figure("races", float(len(kept)), remark=f"{lost} undefined"),
        Figure("the interval holds the truth", 100 * float(np.mean([each.holds for each in kept])), unit="%"),
        Figure("IMPROVED", 100 * float(np.mean([each.improved for each in kept])), unit="%"),
        Figure("promised", float(np.mean([each.promised for each in kept]))),
        Figure("gain on test", float(np.mean([each.gain for each in kept]))),
        Figure("truth", float(np.mean([each.truth for each in kept]))),
    ]


def main() -> None:
    data = Path(os.environ["JUDGE_DATA"])
    cells = hanna(data)
    for design in ("split", "swap"):
        for base in (0, 2):
            rng = np.random.default_rng(1)
            found = [checked(cell, base, design, rng) for _ in range(40) for cell in cells]
            show(f"HANNA from Eval-Prompt {base + 1}, {design}", figures(found))
    dialogues = dialogues_of(data)
    rng = np.random.default_rng(1)
    made = [reruns(dialogues, prompt, i, rng) for _ in range(80) for prompt in PROMPTS for i in range(len(SCALES))]
    show("Closer Look, five reruns of one prompt as candidates", figures(made))
    rng = np.random.default_rng(1)
    more = [doubled(dialogues, prompt, i, rng) for _ in range(80) for prompt in PROMPTS for i in range(len(SCALES))]
    show("Closer Look, six repeats in place of three", figures(more))


if __name__ == "__main__":
    main()
