"""Art or Artifice (Chakrabarty et al. 2024, CHI): how far models' verdicts agree with experts' verdicts.

The study's notebook reads an answer as Yes if it starts with "yes" in any letter case, and every other or missing one
as No, and compares with the majority of three experts (which cannot tie), pooled over 672 pairs of story and test. The
corrected numbers read answers with this program's parser: one that is blocked, empty or missing, or that declines, has
no label and is left out. Independent units are the twelve plots, each of which four authors turned into a story."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judge.answers.parsing import parser as load_parser
from judge.base.arrays import Floats
from judge.base.errors import DataError
from judge.base.estimate import Estimate
from judge.base.records import Criterion, Response
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies.ttcw import EXPERTS, TestAnswer, read_answers, read_stories, read_verdicts
from judge.reproduce.cell import Cell, Place
from judge.reproduce.judged import ONE_ANSWER, ONE_PROMPT, Judged, changing
from judge.reproduce.study import Family, Options, Study, Values
from judge.stats.agreement import chance_agreement
from judge.stats.agreement.alt_test import alt_test
from judge.stats.agreement.confusion import confusion
from judge.stats.estimation import means
from judge.stats.resampling import bootstrap
from judge.stats.resampling.jackknife import with_jackknife

JUDGES, LABELS, AGREEMENT, AC1 = "ttcw_judges", "ttcw_labels", "ttcw_experts_agreement", "ttcw_experts_AC1"
FETCHED = ("cgpt", "claudev2", "claudev21", "claudev13", "gpt4")
# Models whose numbers are printed too, and whose answers are not among the files that the program fetches.
OTHERS = ("gemini-pro", "claude3-opus")

# Column in print -> the statistic of the confusion matrix.
STATISTICS = {
    "balanced accuracy": "balanced_accuracy",
    "precision": "precision",
    "recall": "recall",
    "F1": "f1",
    "correlation": "phi",
}

_ANSWERS = "ttcw/llm_answers/annotations_{}.jsonl"
_EXPERTS = "experts"
_PARSER = "ours"
_RESAMPLED = "95 %, expanded percentiles over resampled plots"
_JACKKNIFE = "95 %, jackknife over plots"
_LABELLED = {"Yes": 1.0, "No": 0.0}


@dataclass(frozen=True, slots=True, eq=False)
class Tests:
    """Labels for each (story, test): 1 = Yes, 0 = No, NaN = none; `experts` has shape (pairs, 3), `people`
    (pairs, 11) a column for each expert. `as_published` and
    `ours` are by model, as the study and this program's parser read the answers; only `ours` has NaN."""

    plot: NDArray[np.int64]
    experts: Floats
    people: Floats
    as_published: Mapping[str, Floats]
    ours: Mapping[str, Floats]

    @property
    def majority(self) -> Floats:
        """The experts' majority label of each pair."""
        return np.asarray(self.experts.sum(axis=1) * 2 > EXPERTS, dtype=np.float64)


def study(options: Options) -> Study:
    """The study Art or Artifice on the files of this machine. Raises DataError if one is missing."""
    stories, verdicts = (need(file, "ttcw") for file in FILES["ttcw"])
    there = {model: need(_ANSWERS.format(model), "ttcw_answers") for model in FETCHED}
    there |= {model: path for model in OTHERS if (path := find(_ANSWERS.format(model))) is not None}
    tests = read_tests(stories, verdicts, there)
    return Study(
        name="ttcw",
        files={"ttcw_stories": stories, "ttcw_verdicts": verdicts, **there},
        families=[_judges(tests, options), _experts(tests)],
        facts=("people:majority", f"parser:{load_parser(_PARSER).version}"),
        unchecked=frozenset(OTHERS),
        judges=partial(judges, tests),
    )


def read_tests(stories: Path, verdicts: Path, answers: Mapping[str, Path]) -> Tests:
    """Verdicts and each model's answers, matched by story and test; DataError for a pair without three experts."""
    plots = {story.id: story.story_prompt for story in read_stories(stories, verdicts, whole=True)}
    labels: dict[tuple[str, str], list[float]] = {}
    by_expert: dict[str, dict[tuple[str, str], float]] = {}
    for verdict in read_verdicts(verdicts):
        labels.setdefault((verdict.story, verdict.test), []).append(verdict.value)
        by_expert.setdefault(verdict.expert, {})[verdict.story, verdict.test] = verdict.value
    for (story, test), values in labels.items():
        if len(values) != EXPERTS:
            raise DataError(f"{story}, {test}: not {EXPERTS} experts", file=verdicts, found=len(values))
    number = {criterion.name: i for i, criterion in enumerate(load_criteria("ttcw").criteria, start=1)}
    given = {
        model: {(answer.story, answer.test): answer for answer in read_answers(path)}
        for model, path in sorted(answers.items())
    }
    asked = [(story, number[test], test) for story, test in labels]
    return Tests(
        plot=np.unique([plots[story] for story, _ in labels], return_inverse=True)[1].astype(np.int64),
        experts=np.array(list(labels.values())),
        people=np.array([[given.get(pair, np.nan) for given in by_expert.values()] for pair in labels]),
        as_published={
            model: np.array([_starts_with_yes(by_question.get((story, test))) for story, test, _ in asked])
            for model, by_question in given.items()
        },
        ours={
            model: np.array([_read(by_question.get((story, test)), name) for story, test, name in asked])
            for model, by_question in given.items()
        },
    )


@cache
def _criterion(test: str) -> Criterion:
    (criterion,) = load_criteria("ttcw").pick([test])
    return criterion


def _starts_with_yes(answer: TestAnswer | None) -> float:
    text = "" if answer is None else answer.text or ""
    return float(text.strip().lower().startswith("yes"))


def _read(answer: TestAnswer | None, test: str) -> float:
    """NaN for no label or a missing answer."""
    if answer is None or not answer.text:
        return np.nan
    criterion = _criterion(test)
    finished = "content_filter" if answer.blocked else None
    rating = load_parser(_PARSER).parse(Response(answer.text, finished), criterion).rating
    return np.nan if rating is None else rating


def _judges(tests: Tests, options: Options) -> Family:
    return Family.of(
        partial(judge_values, tests, options),
        {JUDGES: 2, LABELS: 0},
        notes=(
            "the study takes for No all that does not start with yes, and what is missing or blocked",
            "ours leaves out what states no label",
            "people: the majority of three experts, which cannot tie",
        ),
        missing=partial(_missing, tests),
        remarks=partial(_remarks, tests),
    )


def judge_values(tests: Tests, options: Options) -> Values:
    """Agreement with the experts as the study's notebook computes it, and corrected, with intervals from resampled
    plots; None without a file. Also numbers of labels."""
    drawn = None
    if options.resamples:
        drawn = bootstrap.draw(tests.plot, options.resamples, np.random.default_rng(options.seed), "boot-inputs")
    cells: dict[Place, tuple[float | None, Estimate | None]] = {}
    for model in (*FETCHED, *OTHERS):
        if model not in tests.ours:
            cells |= {(JUDGES, model, column): (None, None) for column in STATISTICS}
            continue
        printed, labels = tests.as_published[model], tests.ours[model]
        plain = confusion(printed, tests.majority, 2, positive=1).statistics()
        corrected = confusion(labels, tests.majority, 2, positive=1).statistics(drawn)
        for column, name in STATISTICS.items():
            ours = corrected[name]
            ours = ours if ours.low is None else replace(ours, method=_RESAMPLED)
            cells[JUDGES, model, column] = (plain[name].value, ours)
        own = _counts(labels)
        for name, count in _counts(printed).items():
            cells[LABELS, model, name] = (float(count), Estimate(float(own[name]), n=labels.size))
    return cells


def _counts(labels: Floats) -> dict[str, int]:
    counts = {name: int((labels == code).sum()) for name, code in _LABELLED.items()}
    return counts | {"without a label": int(np.isnan(labels).sum())}


def _missing(tests: Tests, place: Place) -> str | None:
    if place[1] in tests.ours:
        return None
    return (
        "its answers are not among the files that this program fetches; from the study's repository: put "
        f"annotations_{place[1]}.jsonl beside the others, in ttcw/llm_answers"
    )


def _remarks(tests: Tests, place: Place) -> tuple[str, ...]:
    if place[0] != JUDGES or place[1] not in tests.ours:
        return ()
    labels = tests.ours[place[1]]
    lost = int(np.isnan(labels).sum())
    return (f"{lost} of {labels.size} answers state no label",) if lost else ()


def _experts(tests: Tests) -> Family:
    return Family.of(
        partial(expert_values, tests),
        {AGREEMENT: 3, AC1: 2},
        notes=("experts: all three pairs of experts on each of the 672 stories and tests, pooled",),
        remarks=partial(_beside_agreement, tests),
    )


def expert_values(tests: Tests) -> dict[Place, tuple[float | None, Estimate]]:
    """Share of agreeing pairs of experts, and AC1, over all stories and tests; corrected with jackknife intervals over
    plots."""
    plain, ours = chance_agreement.gwet(tests.experts), chance_agreement.gwet(tests.experts, story=tests.plot)
    return {
        (AGREEMENT, _EXPERTS, "pairs"): (plain.raw.value, replace(ours.raw, method=_JACKKNIFE)),
        (AC1, _EXPERTS, "AC1"): (plain.estimate.value, replace(ours.estimate, method=_JACKKNIFE)),
    }


def _beside_agreement(tests: Tests, place: Place) -> tuple[str, ...]:
    kappa = chance_agreement.fleiss(tests.experts).estimate.value
    return (f"Fleiss' kappa {kappa:.2f}",) if place[0] == AC1 and kappa is not None else ()


# The advantage that an expert is allowed over a judge, as the authors of the test suggest.
_EPSILON = 0.2


def judges(tests: Tests, cells: Sequence[Cell]) -> list[Judged]:
    """Each model whose answers are at hand, in six answers."""
    found = []
    for model, labels in tests.ours.items():
        test = alt_test(labels, tests.people, epsilon=_EPSILON, measure="exact", cluster=tests.plot)
        won = [bool(person.clustered_won) for person in test.people]
        balanced = _balanced(labels, tests)
        gap = means.clustered(labels - tests.majority, tests.plot)
        low, high = balanced.low or 0, balanced.high or 1
        word = "above" if low > _CHANCE else "below" if high < _CHANCE else "cannot tell"
        yes = "more" if (gap.low or 0) > 0 else "less" if (gap.high or 0) < 0 else None
        found.append(
            Judged(
                model,
                replace=f"{'yes' if test.clustered_passed else 'no'}: wins against {sum(won)} of {len(won)} experts",
                control=f"{word} (balanced accuracy {balanced.value or 0:.2f} [{low:.2f}, {high:.2f}], chance .5)",
                consistent=ONE_ANSWER,
                prompt=ONE_PROMPT,
                faults=f"says Yes {yes} often than experts ({gap.value or 0:+.2f})"
                if yes
                else "none told: share of Yes",
                cells=changing(cell for cell in cells if cell.row == model),
            )
        )
    return found


_CHANCE = 0.5


def _balanced(labels: Floats, tests: Tests) -> Estimate:
    matrix = confusion(labels, tests.majority, 2, positive=1)
    each = bootstrap.draw(tests.plot, 1, np.random.default_rng(1), "plots").jackknife()[0]
    name = STATISTICS["balanced accuracy"]
    return with_jackknife(matrix.statistics()[name], matrix.values(each)[name], bounds=(0.0, 1.0))[0]
