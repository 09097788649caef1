"""The alternative annotator test (Calderon, Reichart and Dror 2025, ACL) on three of its sets: 18 judges' two numbers.

The winning rate is the share of people against whom the judge wins, the advantage probability the mean share of items
on which it is at least as close to the others. Closeness is the share of equal labels. The corrected numbers take what
items share (a question, a post) as the independent unit, where the paper takes single items. A judge that gives the
commonest label to everything stands beside them: what it reaches, no judge need be good to reach."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from judge.base.arrays import Codes, Floats
from judge.base.estimate import Estimate
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import UNPUBLISHED
from judge.reproduce.cell import Cell, Place, Printed
from judge.reproduce.judged import ONE_ANSWER, ONE_PROMPT, Judged, changing
from judge.reproduce.released_answers import rows_of
from judge.reproduce.study import Family, Options, Study, Values
from judge.stats.agreement.alt_test import PASS, AltTest, alt_test, person_differences
from judge.stats.resampling.jackknife import with_jackknife

SET = "alttest"
RATES, CONTROL = "alttest", "alttest_control"
WINS, ADVANTAGE = "winning rate", "advantage probability"
COMMONEST = "commonest label"


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """One set: `people` (items, people) and each judge's labels (items,) as codes, NaN where none; `unit` (items,) is
    the question or post that items share; `epsilon` the advantage that a person is allowed."""

    people: Floats
    judges: Mapping[str, Floats]
    unit: Codes
    epsilon: float


def study(options: Options) -> Study:  # noqa: ARG001  intervals need no resamples
    """The study on the files of this machine. Raises DataError if one is missing."""
    printed, *files = (need(file, SET) for file in UNPUBLISHED[SET])
    rows = list(rows_of(printed))
    by_name = {path.parent.name: path.parent for path in files}
    sets = {name: read(folder, _epsilon(rows, name)) for name, folder in by_name.items()}
    names = {f"{path.parent.name} {path.stem.split('_')[0]}": path for path in files}
    return Study(
        name="alttest",
        files={"printed": printed, **names},
        families=[_rates(sets, rows), _controls(sets)],
        facts=("measure:exact",),
        unchecked=frozenset({"printed", *names}),
        printed=_printed(rows),
        findings=partial(findings, sets),
        judges=partial(judges, sets),
    )


def _epsilon(rows: Sequence[Mapping[str, str]], name: str) -> float:
    return next(float(row["epsilon"]) for row in rows if row["dataset"] == name)


def read(folder: Path, epsilon: float) -> Labels:
    """People's and judges' labels of one set. A judge's item that no person labelled is left out."""
    people, judges = (
        json.loads((folder / f"{kind}_annotations.json").read_text(encoding="utf-8")) for kind in ("human", "llm")
    )
    items = sorted({item for given in people.values() for item in given})
    labels = sorted({label for given in (*people.values(), *judges.values()) for label in given.values()})
    code = {label: float(i) for i, label in enumerate(labels)}

    def column(given: Mapping[str, str]) -> Floats:
        return np.array([code[given[item]] if item in given else np.nan for item in items])

    unit = np.unique([item.split("__")[0] for item in items], return_inverse=True)[1].astype(np.int64)
    return Labels(
        np.array([column(given) for given in people.values()]).T,
        {name: column(given) for name, given in judges.items()},
        unit,
        epsilon,
    )


def _printed(rows: Sequence[Mapping[str, str]]) -> dict[Place, Printed]:
    source = "Calderon et al. 2025"
    return {
        (RATES, f"{row['dataset']}, {row['judge']}", column): Printed(float(row[key]), source)
        for row in rows
        for column, key in ((WINS, "winning_rate"), (ADVANTAGE, "advantage_probability"))
    }


def _rates(sets: Mapping[str, Labels], rows: Sequence[Mapping[str, str]]) -> Family:
    def values() -> Values:
        cells: dict[Place, tuple[float | None, Estimate | None]] = {}
        for row in rows:
            cells |= _cells(RATES, f"{row['dataset']}, {row['judge']}", sets[row["dataset"]], row["judge"])
        return cells

    return Family.of(
        values,
        {RATES: 2},
        notes=("corrected: what items share (a question, a post) is the independent unit",),
        judged=True,
    )


def _controls(sets: Mapping[str, Labels]) -> Family:
    def values() -> Values:
        cells: dict[Place, tuple[float | None, Estimate | None]] = {}
        for name, labels in sets.items():
            cells |= _cells(CONTROL, f"{name}, {COMMONEST}", labels, None)
        return cells

    return Family.of(values, {CONTROL: 2}, notes=(f"{CONTROL}: every item gets the label that people give most often",))


def _cells(table: str, row: str, labels: Labels, judge: str | None) -> Values:
    result, advantage = tested(labels, judge)
    return {
        (table, row, WINS): (result.winning_rate.value, result.clustered_rate),
        (table, row, ADVANTAGE): (result.advantage.value, advantage),
    }


def tested(labels: Labels, judge: str | None) -> tuple[AltTest, Estimate]:
    """The test of a judge, or of the commonest label, and its advantage probability with an interval over units."""
    result = _test(labels, judge)
    estimate = with_jackknife(result.advantage, _left_out(labels, judge), bounds=(0.0, 1.0))[0]
    return result, replace(estimate, n=int(labels.unit.max()) + 1)


def _given(labels: Labels, judge: str | None) -> Floats:
    return labels.judges[judge] if judge is not None else np.full(labels.unit.size, _commonest(labels.people))


def _test(labels: Labels, judge: str | None) -> AltTest:
    given = _given(labels, judge)
    return alt_test(given, labels.people, epsilon=labels.epsilon, measure="exact", cluster=labels.unit)


def _left_out(labels: Labels, judge: str | None) -> Floats:
    """The advantage probability without each unit in turn."""
    # d is 1 where the person is closer, 0 for a tie, -1 where the judge is.
    d = person_differences(_given(labels, judge), labels.people, measure="exact")
    compared = ~np.isnan(d)
    closer = np.where(compared, d <= 0, 0.0)
    units = int(labels.unit.max()) + 1
    hits, of = (
        np.array([np.bincount(labels.unit, weights=part[:, k], minlength=units) for k in range(d.shape[1])])
        for part in (closer, compared.astype(np.float64))
    )
    people = of.sum(axis=1) > 0
    hits, of = hits[people], of[people]
    without = (hits.sum(axis=1, keepdims=True) - hits) / (of.sum(axis=1, keepdims=True) - of)
    return np.asarray(without.mean(axis=0), dtype=np.float64)


def above_control(labels: Labels, judge: str) -> Estimate:
    """Advantage probability minus that of the commonest label, with an interval over units."""
    value = (_test(labels, judge).advantage.value or 0) - (_test(labels, None).advantage.value or 0)
    units = int(labels.unit.max()) + 1
    return with_jackknife(Estimate(value, n=units), _left_out(labels, judge) - _left_out(labels, None))[0]


def _commonest(people: Floats) -> float:
    return float(Counter(people[~np.isnan(people)].tolist()).most_common(1)[0][0])


def findings(sets: Mapping[str, Labels]) -> list[str]:
    """What the numbers come to, a sentence each."""
    tests = cache(lambda name, judge: tested(sets[name], judge)[0])
    judged = [(name, judge) for name, labels in sets.items() for judge in labels.judges]
    passed = [key for key in judged if tests(*key).passed]
    clustered = [key for key in judged if tests(*key).clustered_passed]
    above = [
        (name, judge)
        for name, judge in judged
        if (tests(name, judge).advantage.value or 0) > (tests(name, None).advantage.value or 0)
    ]
    controls = ", ".join(f"{name} {tests(name, None).advantage.value or 0:.2f}" for name in sets)
    replaced = f"{len(passed)} of {len(judged)} judges win against at least {PASS:.0%} of the people"
    compared = f"{len(above)} of {len(judged)} judges have a higher one"
    return [
        f"replace: {replaced}, {len(clustered)} with shared units",
        f"control: the commonest label has an advantage probability of {controls}; {compared}",
    ]


def judges(sets: Mapping[str, Labels], cells: Sequence[Cell]) -> list[Judged]:
    """Each judge on each set, in six answers."""
    found = []
    for name, labels in sets.items():
        for judge in labels.judges:
            result, lead = _test(labels, judge), above_control(labels, judge)
            won = [bool(person.clustered_won) for person in result.people]
            low, high = lead.low or 0, lead.high or 0
            word = "above" if low > 0 else "below" if high < 0 else "cannot tell"
            passed = "no" if not result.clustered_passed else "yes" if low > 0 else "cannot tell"
            lost = int(np.isnan(labels.judges[judge]).sum())
            found.append(
                Judged(
                    f"{judge} on {name}",
                    replace=f"{passed}: wins against {sum(won)} of {len(won)} people",
                    control=f"{word} (advantage over the {COMMONEST} {lead.value or 0:+.2f} [{low:.2f}, {high:.2f}])",
                    consistent=ONE_ANSWER,
                    prompt=ONE_PROMPT,
                    faults=f"not tested: the labels have no order; {lost} items without a label",
                    cells=changing(cell for cell in cells if cell.row == f"{name}, {judge}"),
                )
            )
    return found
