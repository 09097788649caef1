"""LLMBar (Zeng et al. 2024, ICLR): which of two outputs follows an instruction, of which one is known to be better.

A cell of the repository's result files is one judge with one prompt on one of five sets: accuracy with the outputs in
the released order, in the other, and in both; equal answers, and Cohen's kappa between the orders. A missing answer is
wrong there, two missing ones are equal, and kappa counts a missing answer as the second output. The corrected numbers
read answers with this program's parser, as the labels are written; an answer without a verdict is left out, and the
range says what it could be. The independent units are the pairs of outputs, each asked about in both orders."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from judge.answers.parsing.verdict.parser import VERSION, parse_verdict
from judge.base.arrays import Floats, renumbered
from judge.base.estimate import ALPHA, Estimate
from judge.base.records import Response
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import UNPUBLISHED
from judge.reproduce.cell import Cell, Place, Printed, as_printed
from judge.reproduce.judged import Judged, beside, changing, sides
from judge.reproduce.released_answers import lines, rows_of
from judge.reproduce.study import Family, Options, Study, Values
from judge.stats.agreement.confusion import confusion
from judge.stats.estimation import means
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling import bootstrap
from judge.stats.resampling.jackknife import with_jackknife

SET = "llmbar"
LABELS = ("Output (a)", "Output (b)")
JUDGES = {"answers_gpt-4": "GPT-4", "answers_chatgpt": "ChatGPT", "answers_palm2": "PaLM2"}
CELLS, POSITION, BETTER, PROMPTS = "llmbar_cells", "llmbar_position", "llmbar_judges", "llmbar_prompts"
BASE = "Vanilla"
KAPPA = "kappa"
# Column in print -> the released file's column.
COLUMNS = {
    "released order": "correct_unswapped",
    "swapped": "correct_swapped",
    "average": "correct_average",
    "both orders": "correct_both",
    "equal": "equal",
    KAPPA: "kappa_agreement",
}
_DIGITS = {KAPPA: 3}
_OVER_PAIRS = "t over pairs of outputs, 95 %"
# Points of a percentage.
_ALL = 100.0
_CHANCE = 0.5

Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One judge with one prompt on one set. All have shape (pairs, 2 orders) and hold 1 or 2 (the pairs' output that
    was preferred), NaN for none: `study` by the study's reading, `ours` by this program's; `better` (pairs,)."""

    better: Floats
    study: Floats
    ours: Floats

    def right(self, winners: Floats) -> Floats:
        """1 where the better output was preferred, 0 where the other or neither; NaN without a verdict."""
        return np.where(np.isnan(winners), np.nan, winners == self.better[:, None])


def study(options: Options) -> Study:  # noqa: ARG001  intervals need no resamples
    """The study on the files of this machine. Raises DataError if one is missing."""
    pairs, cells, *answers = (need(file, SET) for file in UNPUBLISHED[SET])
    asked = read(pairs, dict(zip(JUDGES.values(), answers, strict=True)))
    printed, rows = _printed(cells)
    tables = Family.of(
        partial(cell_values, asked, rows),
        {CELLS: 2},
        notes=(
            "the study counts a missing answer as wrong, and in kappa as the second output; ours leaves it out",
            "an answer that calls both outputs better has no verdict",
        ),
        missing=lambda place: None if rows[place[1]] in asked else "ratings of single outputs: no answers are at hand",
        remarks=partial(_remarks, asked, rows),
        decimals={(CELLS, name): digits for name, digits in _DIGITS.items()},
        judged=True,
    )
    return Study(
        name="llmbar",
        files={"pairs": pairs, "cells": cells, **dict(zip(JUDGES.values(), answers, strict=True))},
        families=[tables, _beyond(asked)],
        facts=(f"parser:{VERSION}",),
        unchecked=frozenset({"pairs", "cells", *JUDGES.values()}),
        printed=printed,
        findings=partial(findings, asked),
        judges=partial(judges, asked, pairs),
    )


def read(pairs: Path, answers: Mapping[str, Path]) -> dict[Key, Asked]:
    """Verdicts by (set, judge, prompt), by both readings."""
    better = {(row["set"], row["pair"]): float(row["label"]) for row in lines(pairs)}
    found: dict[Key, dict[tuple[int, int], tuple[float, float]]] = {}
    for judge, path in answers.items():
        for row in lines(path):
            given = found.setdefault((row["set"], judge, row["eval_prompt"]), {})
            given[row["pair"], int(row["swapped"])] = (_winner(row["study_winner"]), _read(row))
    asked = {}
    for (name, judge, prompt), given in found.items():
        numbers = sorted({pair for pair, _ in given})
        both = np.full((len(numbers), 2, 2), np.nan)
        for (pair, order), values in given.items():
            both[numbers.index(pair), order] = values
        asked[name, judge, prompt] = Asked(
            np.array([better[name, pair] for pair in numbers]), both[..., 0], both[..., 1]
        )
    return asked


def _winner(text: str | None) -> float:
    return float(text) if text in ("1", "2") else np.nan


def _read(row: Mapping[str, str]) -> float:
    response = Response(row["text"], row["finish_reason"] or "stop")
    shown = {"first": 1.0, "second": 2.0}.get(parse_verdict(response, LABELS, tie_offered=False).preference or "")
    if shown is None:
        return np.nan
    return 3.0 - shown if row["swapped"] else shown


def _printed(cells: Path) -> tuple[dict[Place, Printed], dict[str, Key]]:
    """Printed cells, and the (set, judge, prompt) of each row."""
    printed: dict[Place, Printed] = {}
    rows: dict[str, Key] = {}
    for row in rows_of(cells):
        name = f"{row['set']}, {row['judge']}, {row['eval_prompt']}"
        rows[name] = (row["set"], row["judge"], row["eval_prompt"])
        for column, key in COLUMNS.items():
            share = re.search(r"(-?[\d.]+)%?\s*$", row[key])
            value = as_printed(float(share.group(1)), _DIGITS.get(column, 2)) if share else None
            printed[CELLS, name, column] = Printed(value, "the repository's result files")
    return printed, rows


def cell_values(asked: Mapping[Key, Asked], rows: Mapping[str, Key]) -> Values:
    """Each released number by the study's recipe, and corrected with an interval over pairs."""
    cells: dict[Place, tuple[float | None, Estimate | None]] = {}
    for name, key in rows.items():
        if key not in asked:
            cells |= {(CELLS, name, column): (None, None) for column in COLUMNS}
            continue
        one = asked[key]
        plain, ours = _as_the_study(one), _corrected(one)
        cells |= {(CELLS, name, column): (plain[column], ours[column]) for column in COLUMNS}
    return cells


def _as_the_study(one: Asked) -> dict[str, float]:
    right = np.nan_to_num(one.right(one.study))
    first, second = one.study[:, 0], one.study[:, 1]
    equal = (first == second) | (np.isnan(first) & np.isnan(second))
    # A missing answer counts as the second output.
    labels = np.where(one.study == 1, 0.0, 1.0)
    kappa = confusion(labels[:, 0], labels[:, 1], 2).statistics()[KAPPA].value
    return {
        "released order": _ALL * right[:, 0].mean(),
        "swapped": _ALL * right[:, 1].mean(),
        "average": _ALL * right.mean(),
        "both orders": _ALL * right.all(axis=1).mean(),
        "equal": _ALL * equal.mean(),
        KAPPA: np.nan if kappa is None else kappa,
    }


def _corrected(one: Asked) -> dict[str, Estimate]:
    right = one.right(one.ours)
    both = np.where(np.isnan(right).any(axis=1), np.nan, (right == 1).all(axis=1))
    equal = np.where(np.isnan(one.ours).any(axis=1), np.nan, one.ours[:, 0] == one.ours[:, 1])
    orders = confusion(one.ours[:, 0] - 1, one.ours[:, 1] - 1, 2)
    each = bootstrap.draw(np.arange(one.better.size), 1, np.random.default_rng(1), "pairs").jackknife()[0]
    kappa = with_jackknife(orders.statistics()[KAPPA], orders.values(each)[KAPPA])[0]
    return {
        "released order": _share(right[:, :1]),
        "swapped": _share(right[:, 1:]),
        "average": _share(right),
        "both orders": _share(both[:, None]),
        "equal": _share(equal[:, None]),
        KAPPA: replace(kappa, method="jackknife over pairs of outputs, 95 %") if kappa.low is not None else kappa,
    }


def _share(values: Floats, low: float = 0.0) -> Estimate:
    """Mean in per cent of `values` (pairs, k), NaN left out, with an interval over pairs."""
    pair = np.repeat(np.arange(values.shape[0]), values.shape[1])
    estimate = means.clustered(_ALL * values.reshape(-1), pair, bounds=(low, _ALL))
    return replace(estimate, method=_OVER_PAIRS) if estimate.low is not None else estimate


def _remarks(asked: Mapping[Key, Asked], rows: Mapping[str, Key], place: Place) -> tuple[str, ...]:
    one = asked.get(rows[place[1]])
    if one is None or place[2] != "average":
        return ()
    lost = int(np.isnan(one.ours).sum())
    if not lost:
        return ()
    right = one.right(one.ours)
    low, high = (_ALL * float(np.nan_to_num(right, nan=end).mean()) for end in (0.0, 1.0))
    return (f"{lost} of {right.size} answers have no verdict: {low:.1f} to {high:.1f} with all of them wrong or right",)


# What the study did not ask: the advantage of the first place, judges compared, and the prompt's effect.


def _beyond(asked: Mapping[Key, Asked]) -> Family:
    return Family.of(
        partial(_beyond_values, asked),
        {POSITION: 1, BETTER: 1, PROMPTS: 1},
        notes=(
            f"{POSITION}: share of verdicts for the output shown first, over all sets; 50: no advantage of a place",
            f"{BETTER}: accuracy of the first judge minus the second's, paired by output pair, in points",
            f"{PROMPTS}: accuracy with the prompt minus that with {BASE}, paired, in points",
        ),
    )


def _beyond_values(asked: Mapping[Key, Asked]) -> Values:
    whole = over_sets(asked)
    cells: dict[Place, tuple[float | None, Estimate | None]] = {}
    for (judge, prompt), one in whole.items():
        cells[POSITION, judge, prompt] = (_ALL * float(np.nanmean(_first(one.study))), _share(_first(one.ours)))
    for first, second, prompt in _judge_pairs(whole):
        cells[BETTER, f"{first} - {second}", prompt] = (None, _gap(whole[first, prompt], whole[second, prompt])[0])
    for judge, prompt in whole:
        if prompt != BASE and (judge, BASE) in whole:
            cells[PROMPTS, judge, prompt] = (None, _gap(whole[judge, prompt], whole[judge, BASE])[0])
    return cells


def over_sets(asked: Mapping[Key, Asked]) -> dict[tuple[str, str], Asked]:
    """By (judge, prompt), over the five sets in the same order."""
    whole: dict[tuple[str, str], list[Asked]] = {}
    for (_, judge, prompt), one in sorted(asked.items()):
        whole.setdefault((judge, prompt), []).append(one)
    return {
        key: Asked(*(np.concatenate([getattr(one, part) for one in own]) for part in ("better", "study", "ours")))
        for key, own in whole.items()
    }


def _first(winners: Floats) -> Floats:
    # 1 where the output shown first was preferred: output 1 in the released order, output 2 in the other.
    return np.where(np.isnan(winners), np.nan, winners == np.array([1.0, 2.0]))


def _judge_pairs(whole: Mapping[tuple[str, str], Asked]) -> list[tuple[str, str, str]]:
    prompts = list(dict.fromkeys(prompt for _, prompt in whole))
    return [
        (first, second, prompt)
        for first, second in combinations(JUDGES.values(), 2)
        for prompt in prompts
        if (first, prompt) in whole and (second, prompt) in whole
    ]


def _gap(first: Asked, second: Asked) -> tuple[Estimate, float]:
    """Paired difference of accuracy in points, and its p."""
    difference = first.right(first.ours) - second.right(second.ours)
    return _tested(difference)


def _tested(difference: Floats) -> tuple[Estimate, float]:
    flat = difference.reshape(-1)
    pair = np.repeat(np.arange(difference.shape[0]), difference.shape[1])
    present = ~np.isnan(flat)
    p = means.clustered_p(flat[present], renumbered(pair[present]))
    return _share(difference, low=-_ALL), 1.0 if p is None else p


def findings(asked: Mapping[Key, Asked]) -> list[str]:
    """What the numbers beyond the released cells come to, a sentence each."""
    whole = over_sets(asked)
    shares = {key: _share(_first(one.ours)) for key, one in whole.items()}
    leaning = [key for key, share in shares.items() if _beside(share, _ALL * _CHANCE)]
    furthest = max(shares, key=lambda key: abs((shares[key].value or 0) - _ALL * _CHANCE))
    judges = [_gap(whole[a, prompt], whole[b, prompt]) for a, b, prompt in _judge_pairs(whole)]
    apart = int((holm(np.array([p for _, p in judges])) <= 0.05).sum())
    effects = {key: _gap(one, whole[key[0], BASE]) for key, one in whole.items() if key[1] != BASE}
    adjusted = holm(np.array([p for _, p in effects.values()]))
    better = [
        key
        for (key, (gap, _)), p in zip(effects.items(), adjusted, strict=True)
        if p <= 0.05 and gap.value is not None and gap.value > 0
    ]
    otherwise = sum(
        int((one.study[~np.isnan(one.ours)] != one.ours[~np.isnan(one.ours)]).sum()) for one in asked.values()
    )
    read = sum(int((~np.isnan(one.ours)).sum()) for one in asked.values())
    extreme = f"furthest {' '.join(furthest)}, {shares[furthest].value:.0f} % for the first"
    named = f": {', '.join(' '.join(key) for key in better)}" if better else ""
    return [
        f"position: {len(leaning)} of {len(shares)} judges and prompts prefer one place; {extreme}",
        f"judges: {apart} of {len(judges)} paired differences of accuracy are told from 0 (Holm, 5 %)",
        f"prompts: {len(better)} of {len(effects)} are better than {BASE} (Holm, 5 %){named}",
        f"reading: {otherwise} of {read:,} verdicts are read otherwise than by the study",
    ]


def _beside(share: Estimate, value: float) -> bool:
    return share.low is not None and share.high is not None and not share.low <= value <= share.high


def judges(asked: Mapping[Key, Asked], pairs: Path, cells: Sequence[Cell]) -> list[Judged]:
    """Each judge whose answers are at hand, in six answers."""
    whole = over_sets(asked)
    longer = _longer(pairs)
    # Where the longer output is seldom the better one, a guess is the bar.
    bar = longer if longer.mean() > _CHANCE else np.full(longer.size, _CHANCE)
    control = "the longer output" if longer.mean() > _CHANCE else "a guess"
    found = []
    for judge in JUDGES.values():
        own = {prompt: one for (name, prompt), one in whole.items() if name == judge}
        lead = _tested(_over_prompts([one.right(one.ours) for one in own.values()]) - bar[:, None])
        places = [_tested(_first(one.ours) - _CHANCE) for one in own.values()]
        gains = {prompt: _gap(one, own[BASE]) for prompt, one in own.items() if prompt != BASE}
        first, second = sides(places)
        adjusted = holm(np.array([p for _, p in gains.values()]))
        better = [
            (gap.value or 0, prompt)
            for (prompt, (gap, _)), p in zip(gains.items(), adjusted, strict=True)
            if p <= ALPHA and (gap.value or 0) > 0
        ]
        base = own[BASE]
        kappa = confusion(base.ours[:, 0] - 1, base.ours[:, 1] - 1, 2).statistics()[KAPPA].value
        found.append(
            Judged(
                judge,
                replace="cannot be tested: people's single choices are not released",
                control=beside(*sides([lead]), 1, f"accuracy less that of {control}: {_points(lead[0])}"),
                consistent=f"kappa between the two orders {kappa or 0:.2f} with {BASE}",
                prompt=", ".join(f"{name} (+{gap:.0f} points)" for gap, name in sorted(better, reverse=True))
                or f"none told to be better than {BASE}",
                faults=f"the first place is preferred with {first} of {len(places)} prompts, the second with {second}",
                cells=changing(cell for cell in cells if cell.row.split(", ")[1:2] == [judge]),
            )
        )
    return found


def _points(estimate: Estimate) -> str:
    return f"{estimate.value or 0:+.0f} points"


def _over_prompts(right: Sequence[Floats]) -> Floats:
    """Mean over prompts, (pairs, 2 orders); NaN where none gave a verdict."""
    stacked = np.array(right)
    given = (~np.isnan(stacked)).sum(axis=0)
    return np.where(given > 0, np.nansum(stacked, axis=0) / np.maximum(given, 1), np.nan)


def _longer(pairs: Path) -> Floats:
    """1 where the better output of a pair has more words, one half where both have as many; as `over_sets` orders."""
    rows = sorted(lines(pairs), key=lambda row: (row["set"], row["pair"]))
    words = np.array([[len(row[f"output_{i}"].split()) for i in (1, 2)] for row in rows])
    better = np.array([row["label"] for row in rows]) - 1
    own = words[np.arange(better.size), better]
    other = words[np.arange(better.size), 1 - better]
    return np.where(own == other, 0.5, own > other)
