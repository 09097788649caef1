"""A Closer Look into Automatic Evaluation (Chiang and Lee 2023, Findings of EMNLP): ratings of replies in dialogues.

The study asks one model 20 times with each of six prompts, takes the first digit behind the last "Rating:" (anywhere,
without that word), and averages. Answers without a digit are left out, and counted as 0 for the prompt that has auto
CoT and explains: only so are all of its printed cells found again. Pearson's r is over all replies (Tables 2 and 3) or
the mean over dialogues (Table 4), Kendall's tau always the mean over dialogues; those with a constant side are left
out. The corrected numbers read answers with this program's parser; the independent units are the 60 dialogues."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from math import ceil
from pathlib import Path
from typing import Literal

import numpy as np

from judge.answers.parsing import parser as load_parser
from judge.base.arrays import Codes, Floats, renumbered
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.records import Criterion, Response, Scale
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import UNPUBLISHED
from judge.reproduce.cell import Cell, Place, Printed, as_printed
from judge.reproduce.judged import NO_PEOPLE, Judged, beside, changing, sides
from judge.reproduce.released_answers import lines, rows_of
from judge.reproduce.study import Family, Options, Study, Values
from judge.stats.agreement import icc
from judge.stats.correlation import coefficients
from judge.stats.estimation import means
from judge.stats.estimation.paired_differences import holm
from judge.stats.resampling.jackknife import with_jackknife

SET = "closer_look"
PROMPTS = ("geval", "geval_no_auto_cot", "llm_eval_no_cot", "rate_explain", "rate_explain_auto_cot", "analyze_rate")
SCALES = {"naturalness": (1, 3), "coherence": (1, 3), "engagingness": (1, 3), "groundedness": (0, 1)}
REPEATS = 20
# The prompt whose answers without a number the study counts as 0.
AS_ZERO = "rate_explain_auto_cot"
ICC, ENOUGH, PAIRS = "closer_icc", "closer_repeats", "closer_prompts"
RELIABLE = 0.9

Method = Literal["over all replies", "mean over dialogues"]
_OVER_DIALOGUES = "t over dialogues, 95 %"
_DIGIT = late(r"\d")
_COLUMNS = {"r": "pearson", "tau": "kendall"}


@dataclass(frozen=True, eq=False)
class Dialogues:
    """`people` has shape (replies, 4 criteria), `study` and `ours` by prompt (replies, 4 criteria, 20 repeats): NaN
    where the answer states no rating by that reading. `asked` is whether an answer was released."""

    dialogue: Codes
    people: Floats
    study: Mapping[str, Floats]
    ours: Mapping[str, Floats]
    asked: Mapping[str, Floats]

    def number(self, ratings: Floats, criterion: int, method: Method, kind: str) -> float:
        """A correlation of the mean ratings (replies, criteria, repeats) with people's."""
        x, y, group = self._both(ratings, criterion)
        if kind == "r" and method == "over all replies":
            return coefficients.pearson(x, y)
        return float(np.nanmean(coefficients.within(x, y, group, "pearson" if kind == "r" else "kendall")))

    def estimate(self, ratings: Floats, criterion: int, method: Method, kind: str) -> Estimate:
        """As `number`, with an interval in which dialogues are the independent units."""
        x, y, group = self._both(ratings, criterion)
        if kind == "r" and method == "over all replies":
            without = (group[None, :] != np.arange(group.max() + 1)[:, None]).astype(np.int64)
            left_out = coefficients.resampled(x, y, "pearson")(without)
            return with_jackknife(Estimate(coefficients.pearson(x, y), n=x.size), left_out)[0]
        return _mean_over_dialogues(coefficients.within(x, y, group, "pearson" if kind == "r" else "kendall"))

    def by_dialogue(self, prompt: str, criterion: int) -> Floats:
        """tau of each dialogue; NaN where a side is constant."""
        x = np.array([_mean(row) for row in self.ours[prompt][:, criterion]])
        return coefficients.within(x, self.people[:, criterion], self.dialogue, "kendall")

    def _both(self, ratings: Floats, criterion: int) -> tuple[Floats, Floats, Codes]:
        x = np.array([_mean(row) for row in ratings[:, criterion]])
        rated = ~np.isnan(x)
        return x[rated], self.people[rated, criterion], renumbered(self.dialogue[rated])


def _mean(row: Floats) -> float:
    given = row[~np.isnan(row)]
    return float(given.mean()) if given.size else np.nan


def _mean_over_dialogues(values: Floats) -> Estimate:
    defined = values[~np.isnan(values)]
    return replace(means.clustered(defined, np.arange(defined.size), bounds=(-2.0, 2.0)), method=_OVER_DIALOGUES)


def study(options: Options) -> Study:  # noqa: ARG001  intervals need no resamples
    """The study on the files of this machine. Raises DataError if one is missing."""
    replies, printed, *answers = (need(file, SET) for file in UNPUBLISHED[SET])
    dialogues = read(replies, dict(zip(PROMPTS, answers, strict=True)))
    rows = list(rows_of(printed))
    tables = Tables(dialogues, rows)
    families = [tables.family(), _beyond(dialogues)]
    return Study(
        name="closer-look",
        files={"replies": replies, "printed": printed, **dict(zip(PROMPTS, answers, strict=True))},
        families=families,
        facts=(f"parser:{load_parser('ours').version}",),
        unchecked=frozenset({"replies", "printed", *PROMPTS}),
        printed=tables.printed,
        findings=partial(findings, dialogues),
        judges=partial(judges, dialogues, replies),
    )


def read(replies: Path, answers: Mapping[str, Path]) -> Dialogues:
    """Replies with people's means, and each prompt's answers by both readings."""
    rows = list(rows_of(replies))
    number = {row["reply"]: i for i, row in enumerate(rows)}
    people = np.array([[float(row[criterion]) for criterion in SCALES] for row in rows])
    both = {prompt: _read(prompt, path, number) for prompt, path in answers.items()}
    dialogue = np.unique([row["dialogue"] for row in rows], return_inverse=True)[1].astype(np.int64)
    parts = ({prompt: arrays[i] for prompt, arrays in both.items()} for i in range(3))
    return Dialogues(dialogue, people, *parts)


def _read(prompt: str, path: Path, number: Mapping[str, int]) -> tuple[Floats, Floats, Floats]:
    shape = (len(number), len(SCALES), REPEATS)
    study, ours, asked = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(shape)
    parse = load_parser("ours").parse
    asks = {
        name: (i, Criterion(name.capitalize(), name[:2].upper(), "", Scale(*scale)), _others(name))
        for i, (name, scale) in enumerate(SCALES.items())
    }
    known: dict[tuple[str, str], float] = {}
    for answer in lines(path):
        i, criterion, others = asks[answer["criterion"]]
        place = (number[answer["reply"]], i, answer["repeat"])
        key = (answer["criterion"], answer["text"])
        if key not in known:
            rating = parse(Response(answer["text"]), criterion, other_criteria=others).rating
            known[key] = np.nan if rating is None else rating
        asked[place], study[place], ours[place] = 1, as_the_study(answer["text"], prompt), known[key]
    return study, ours, asked


def _others(name: str) -> tuple[str, ...]:
    return tuple(other.capitalize() for other in SCALES if other != name)


def as_the_study(text: str, prompt: str) -> float:
    """The study's rating of an answer; NaN where it leaves the answer out."""
    digit = _DIGIT.search(text.rsplit("Rating:", 1)[-1])
    return float(digit.group()) if digit else 0.0 if prompt == AS_ZERO else np.nan


class Tables:
    """Tables 2 to 4 with their printed numbers, the study's and ours."""

    def __init__(self, dialogues: Dialogues, rows: Sequence[Mapping[str, str]]) -> None:
        self.dialogues = dialogues
        self.rows = {
            (_table(row["table"]), row["row"], f"{row['criterion']} {kind}"): (row, kind)
            for row in rows
            for kind in _COLUMNS
        }

    @property
    def printed(self) -> Mapping[Place, Printed]:
        """The printed cells."""
        return {
            place: Printed(float(row[_COLUMNS[kind]]), f"Chiang and Lee 2023, Table {row['table']}")
            for place, (row, kind) in self.rows.items()
        }

    def family(self) -> Family:
        """The tables' cells; a row that holds the numbers of others says whose."""
        return Family.of(
            self.values,
            dict.fromkeys(dict.fromkeys(table for table, _, _ in self.rows), 3),
            notes=(
                "the study takes the first digit behind the last Rating:, so that 2.5 counts as 2; ours reads 2.5",
                "answers without a number are left out; of rate_explain_auto_cot the study counts them as 0",
            ),
            known_cause=self._cause,
            remarks=self._remarks,
            judged=True,
        )

    def values(self) -> Values:
        """The number by the study's recipe, and corrected."""
        cells: dict[Place, tuple[float | None, Estimate | None]] = {}
        for place, (row, kind) in self.rows.items():
            criterion, method = list(SCALES).index(row["criterion"]), _method(row["table"])
            given = self._found[row["file"], method, kind][criterion]
            cells[place] = (given, self.dialogues.estimate(self.dialogues.ours[row["file"]], criterion, method, kind))
        return cells

    @cached_property
    def _found(self) -> dict[tuple[str, Method, str], list[float]]:
        """The study's number for each criterion, by file, method and coefficient."""
        methods: tuple[tuple[Method, str], ...] = (
            ("over all replies", "r"),
            ("mean over dialogues", "r"),
            ("over all replies", "tau"),
            ("mean over dialogues", "tau"),
        )
        return {
            (prompt, method, kind): [
                self.dialogues.number(self.dialogues.study[prompt], criterion, method, kind)
                for criterion in range(len(SCALES))
            ]
            for prompt in PROMPTS
            for method, kind in methods
        }

    def _cause(self, place: Place) -> str | None:
        # Whose numbers a whole printed row holds, found among all files and both methods.
        _, kind = self.rows[place]
        own = {p: row for p, (row, other) in self.rows.items() if p[:2] == place[:2] and other == kind}
        printed = [float(row[_COLUMNS[kind]]) for row in own.values()]
        for (prompt, method, other), numbers in self._found.items():
            if other == kind and [as_printed(number, 3) for number in numbers] == printed:
                return f"the row's {kind} are those of {prompt}, {method if kind == 'r' else 'as every tau'}"
        return None

    def _remarks(self, place: Place) -> tuple[str, ...]:
        row, kind = self.rows[place]
        prompt, criterion = row["file"], list(SCALES).index(row["criterion"])
        asked, ours = self.dialogues.asked[prompt], self.dialogues.ours[prompt]
        lost = (asked[:, criterion] > 0) & np.isnan(ours[:, criterion])
        parts = (row["note"],) if row["note"] else ()
        if not lost.any():
            return parts
        ends = []
        for end in SCALES[row["criterion"]]:
            filled = ours.copy()
            filled[:, criterion][lost] = end
            ends.append(self.dialogues.number(filled, criterion, _method(row["table"]), kind))
        bounds = f"{min(ends):.3f} to {max(ends):.3f} with all of them at an end of the scale"
        count = f"{int(lost.sum())} of {int(asked[:, criterion].sum()):,} answers state no rating"
        return (*parts, f"{count}: {bounds}")


def _table(number: str) -> str:
    return f"closer_table_{number}"


def _method(table: str) -> Method:
    return "mean over dialogues" if table == "4" else "over all replies"


# What the study did not ask: consistency of 20 repeats, how many are enough, and which prompt is better.


def _beyond(dialogues: Dialogues) -> Family:
    return Family.of(
        partial(_beyond_values, dialogues),
        {ICC: 3, ENOUGH: 3, PAIRS: 3},
        notes=(
            f"{ENOUGH}: repeats whose mean has ICC(1,k) of {RELIABLE:g} or more, by Spearman and Brown's formula",
            f"{ENOUGH}: mean tau within dialogues of single repeats, and tau of the mean of all {REPEATS}",
            f"{PAIRS}: paired difference of tau within dialogues, first prompt minus second",
        ),
    )


def _beyond_values(dialogues: Dialogues) -> Values:
    cells: dict[Place, tuple[float | None, Estimate | None]] = {}
    for prompt in PROMPTS:
        for i, criterion in enumerate(SCALES):
            ratings = dialogues.ours[prompt][:, i]
            single = icc.family(ratings)["ICC(1,1)"].estimate
            cells[ICC, prompt, criterion] = (None, single)
            enough = repeats_enough(single.value)
            cells[ENOUGH, f"{prompt}, {criterion}", "repeats"] = (
                None,
                Estimate.undefined("no number of repeats is enough")
                if enough is None
                else Estimate(float(enough), REPEATS),
            )
            ones = [
                dialogues.number(dialogues.ours[prompt][:, :, k : k + 1], i, "mean over dialogues", "tau")
                for k in range(REPEATS)
            ]
            cells[ENOUGH, f"{prompt}, {criterion}", "tau of 1"] = (None, Estimate(float(np.mean(ones)), n=REPEATS))
            cells[ENOUGH, f"{prompt}, {criterion}", "tau of 20"] = (
                None,
                dialogues.estimate(dialogues.ours[prompt], i, "mean over dialogues", "tau"),
            )
    cells |= {
        (PAIRS, f"{first} - {second}", criterion): (None, difference)
        for (first, second, criterion), (difference, _) in prompt_differences(dialogues).items()
    }
    return cells


def repeats_enough(single: float | None) -> int | None:
    """Smallest number of repeats whose mean has ICC(1,k) >= .9, from ICC(1,1) by Spearman and Brown's formula."""
    if single is None or single <= 0:
        return None
    return max(1, ceil(RELIABLE * (1 - single) / (single * (1 - RELIABLE)) - 1e-9))


def prompt_differences(dialogues: Dialogues) -> dict[tuple[str, str, str], tuple[Estimate, float]]:
    """Paired difference of tau within dialogues of every two prompts on each criterion, and its p."""
    found: dict[tuple[str, str, str], tuple[Estimate, float]] = {}
    for i, criterion in enumerate(SCALES):
        taus = {prompt: dialogues.by_dialogue(prompt, i) for prompt in PROMPTS}
        for first, second in combinations(PROMPTS, 2):
            found[first, second, criterion] = _tested(taus[first] - taus[second])
    return found


def findings(dialogues: Dialogues) -> list[str]:
    """What the numbers beyond the printed tables come to, a sentence each."""
    pairs = prompt_differences(dialogues)
    adjusted = holm(np.array([p for _, p in pairs.values()]))
    apart = [key for key, p in zip(pairs, adjusted, strict=True) if p <= 0.05]
    wins: dict[str, int] = dict.fromkeys(PROMPTS, 0)
    for first, second, criterion in apart:
        value = pairs[first, second, criterion][0].value or 0.0
        wins[first if value > 0 else second] += 1
    best = max(wins, key=lambda prompt: wins[prompt])
    singles = [icc.family(dialogues.ours[p][:, i])["ICC(1,1)"].estimate.value for p in PROMPTS for i in range(4)]
    known = [value for value in singles if value is not None]
    enough = [repeats_enough(value) or REPEATS + 1 for value in known]
    halves = sum(int((ratings[~np.isnan(ratings)] % 1 != 0).sum()) for ratings in dialogues.ours.values())
    told = f"{len(apart)} of {len(pairs)} paired differences of tau within dialogues are told from 0 (Holm, 5 %)"
    leads = f"{best} is the better one in {wins[best]} of them" if apart else "no prompt can be told to be better"
    repeats = f"{min(enough)} to {max(enough)} repeats give a mean with ICC {RELIABLE:g}"
    return [
        f"best prompt: {told}; {leads}",
        f"consistency: ICC(1,1) of {REPEATS} repeats is {min(known):.2f} to {max(known):.2f}; {repeats}",
        f"{halves:,} answers give half points, which the study cuts to whole ones",
    ]


def judges(dialogues: Dialogues, replies: Path, cells: Sequence[Cell]) -> list[Judged]:
    """The model that the study asks, in six answers."""
    words = np.array([float(len(row["text"].split())) for row in rows_of(replies)])
    leads, gaps = [], []
    for i, (low, high) in enumerate(SCALES.values()):
        people = dialogues.people[:, i]
        length = coefficients.within(words, people, dialogues.dialogue, "kendall")
        # The mean over all prompts: none is chosen on these dialogues.
        taus = np.mean([dialogues.by_dialogue(prompt, i) for prompt in PROMPTS], axis=0)
        # The number of words where it goes with people; where it goes against them it is no bar.
        leads.append(_tested(taus - (length if np.nanmean(length) > 0 else 0 * length)))
        means_of = np.mean([[_mean(row) for row in dialogues.ours[prompt][:, i]] for prompt in PROMPTS], axis=0)
        gap = (means_of - people) / (high - low)
        gaps.append(
            _tested(np.array([np.nanmean(gap[dialogues.dialogue == d]) for d in np.unique(dialogues.dialogue)]))
        )
    above, below = sides(leads)
    higher, lower = sides(gaps)
    best, consistency, _ = findings(dialogues)
    return [
        Judged(
            "gpt-3.5-turbo-0613",
            replace=NO_PEOPLE,
            control=beside(above, below, len(leads), "criteria, tau within dialogues against the number of words"),
            consistent=consistency.removeprefix("consistency: "),
            prompt=best.removeprefix("best prompt: "),
            faults=f"rates higher than people on {higher} of {len(gaps)} criteria, lower on {lower}",
            cells=changing(cells),
        )
    ]


def _tested(values: Floats) -> tuple[Estimate, float]:
    defined = values[~np.isnan(values)]
    p = means.clustered_p(defined, np.arange(defined.size))
    return _mean_over_dialogues(defined), 1.0 if p is None else p
