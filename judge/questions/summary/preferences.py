"""Answers of a summary about runs that compare stories: agreement with people, order effect, systems, lost comparisons.

Where the best of several results is shown, the answer says so, since selection makes it look too good. For a
difference, it says whether its interval contains 0. For an undefined value, it gives the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.coverage.counts import VerdictCoverage
from judge.analysis.preference.agreement import AgreementRow, OrderRow
from judge.analysis.preference.ranked import Ranked
from judge.analysis.preference.standings import SystemStandings
from judge.base.credentials.providers import JudgeName
from judge.base.estimate import Estimate
from judge.questions.summary.result import Answer, Verdict
from judge.questions.summary.rules import of_loss
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable


class Compared(Protocol):
    """Results of runs that compare stories. `rates`: runs that rate stories are summarised too; `unasked` counts
    planned repeats that have not been requested yet.
    """

    @property
    def preferences_table(self) -> PreferencesTable: ...
    @property
    def preferences(self) -> Ranked: ...
    @property
    def compared_facts(self) -> tuple[ComparisonFacts, ...]: ...
    @property
    def verdicts(self) -> VerdictCoverage: ...
    @property
    def unasked(self) -> int: ...
    @property
    def rates(self) -> bool: ...


def answers(compared: Compared) -> list[Answer]:
    """The limits of the figures (if any), agreement with people, order effect, systems, and missing answers."""
    first = tuple(_caveats(compared))
    answered = [Answer("What limits these figures?", first, None, "worth")] if first else []
    ranked = compared.preferences
    datasets = list(dict.fromkeys(fact.dataset for fact in compared.compared_facts))
    for dataset in datasets:
        on = f" on {dataset}" if len(datasets) > 1 else ""
        rows = [row for row in ranked.agreement.rows if row.dataset == dataset]
        orders = [row for row in ranked.order.rows if row.dataset == dataset and row.third is None]
        standings = [
            standing
            for standing in ranked.systems.standings
            if standing.dataset == dataset and standing.kind != "implied"
        ]
        answered.append(_agreement(dataset, on, rows))
        answered += [_place(on, orders)] if orders else []
        answered += [_systems(on, standings)] if standings else []
    return [*answered, _loss(compared)]


def _caveats(compared: Compared) -> Iterator[str]:
    judges = dict.fromkeys(fact.judge for fact in compared.compared_facts)
    for judge in judges:
        if JudgeName.of(judge).is_scripted:
            yield f"{judge} gives scripted answers: figures about it say nothing about any judge."
    if judges and all(JudgeName.of(judge).is_control for judge in judges):
        yield (
            "The only judge that compared is the control, which is not a language model: the figures show how the "
            "program works, not how good a judge is."
        )
    frame = compared.preferences_table.frame
    for dataset in dict.fromkeys(fact.dataset for fact in compared.compared_facts):
        sources = set(frame.loc[frame["dataset"] == dataset, "source"])
        if "rater" not in sources and "implied" in sources:
            yield (
                f"Nobody compared the stories of {dataset}: what people prefer is implied, the story with the higher "
                "mean of their ratings."
            )


def _agreement(dataset: str, on: str, rows: Sequence[AgreementRow]) -> Answer:
    question = f"Does the judge prefer what people prefer{on}?"
    judged = [row for row in rows if row.kind == "judge"]
    if not judged:
        nobody = f"Nobody's preferences or ratings of {dataset} are known beside a judge's: nothing can be said."
        return Answer(question, (nobody,), label="prefers")
    defined = [row for row in judged if row.agreement.half.defined]
    if not defined:
        reason = judged[0].agreement.half.reason
        return Answer(question, (f"Accuracy is {reason}.",), Verdict("undefined", "by accuracy"), label="prefers")
    best = max(defined, key=lambda row: row.agreement.half.value or 0.0)
    beside = [row for row in rows if row.against == best.against]
    sentences = [_best(best, len(judged)), *_bars(best, beside)]
    return Answer(question, tuple(sentences), of_preferences(best), label="prefers")


def of_preferences(best: AgreementRow) -> Verdict:
    """A judge's accuracy (how often it prefers the story that people prefer) beside guessing and then the control."""
    half, over = best.agreement.half, best.over_control
    if half.low is None or half.high is None:
        return Verdict("no interval", "of accuracy")
    rule = "by the 95 % interval of accuracy"
    if half.low <= 0.5 <= half.high:
        return Verdict("not told apart from guessing", rule)
    if half.high < 0.5:
        return Verdict("less often than by guessing", rule)
    shown = leaves_zero_out(over)
    if over.value is None or shown is None:
        return Verdict("more often than by guessing", rule)
    rule = "by the 95 % interval of the paired difference"
    if not shown:
        return Verdict("not told apart from the control", rule)
    return Verdict("above the control" if over.value > 0 else "below the control", rule)


def _best(best: AgreementRow, rows: int) -> str:
    half = best.agreement.half
    picked = f" (the highest of {rows} rows, one a judge, Eval-Prompt and criterion, which flatters it)"
    return (
        f"{_named(best)} prefers the story that people prefer, on {best.criterion}, in {_percent(half)} of {half.n:,} "
        f"pairs of which people prefer one, its ties counted one half{picked if rows > 1 else ''}."
    )


def _bars(best: AgreementRow, rows: Sequence[AgreementRow]) -> Iterator[str]:
    bars = {row.kind: row for row in rows if row.kind in ("longer", "control", "people") and row.agreement.half.defined}
    if "longer" in bars:
        yield f"The longer story is the preferred one in {_of(bars['longer'], best)}."
    if "control" in bars:
        yield (
            "The control, which reads nothing but the surface of a text, finds it in "
            f"{_of(bars['control'], best)}{_distance(best.over_control)}."
        )
    if "people" in bars:
        yield f"One person agrees with the others in {_of(bars['people'], best)}."
    if best.over_implied.value is not None:
        yield f"The preferences that its own ratings imply stand beside it{_distance(best.over_implied)}."


def _of(row: AgreementRow, best: AgreementRow) -> str:
    half = row.agreement.half
    return _percent(half) + ("" if half.n == best.agreement.half.n else f" of {half.n:,} pairs")


def _distance(over: Estimate) -> str:
    if over.value is None:
        return ""
    shown = leaves_zero_out(over)
    verdict = {
        None: "without an interval, this may be chance",
        False: "its 95 % interval contains 0, so other story-prompts might reverse it",
    }
    tail = verdict.get(shown, "its 95 % interval leaves out 0")
    points = f"{abs(100 * over.value):.1f} points {'above' if over.value >= 0 else 'below'}"
    return f": on the same pairs the judge lies {points}{_interval(over, 100, 1)}; {tail}"


def _place(on: str, rows: Sequence[OrderRow]) -> Answer:
    # The strongest effect is shown, since one is enough for a warning.
    question = f"Does the place of a story matter{on}?"
    rule = "by the 95 % interval of the position's log odds"
    defined = [row for row in rows if row.position.value is not None]
    if not defined:
        sentences = [
            f"{_named(row)}: {_first(row)}; the position's log odds are {row.position.reason}." for row in rows
        ]
        return Answer(question, tuple(sentences), Verdict("undefined", rule), label="place")
    moved = [row for row in defined if leaves_zero_out(row.position)]
    most = max(moved or defined, key=lambda row: abs(row.position.value or 0.0))
    where = "first" if (most.position.value or 0.0) > 0 else "second"
    verdict = Verdict(f"the {where} place is an advantage", rule) if moved else Verdict("not shown", rule)
    value = round(most.position.value or 0.0, 2) + 0.0  # no minus before zero
    logit = f"log odds of the first place {value:.2f}{_interval(most.position, 1, 2)}"
    count = f" The interval leaves out 0 in {len(moved)} of {len(defined)} rows; this one is the strongest."
    sentences = [f"{_named(most)}, on {most.criterion}: {_first(most)}; {logit}.{count if len(defined) > 1 else ''}"]
    if most.swapped.value is not None:
        again = f", and {_percent(most.same)} when asked again in the same order" if most.same.defined else ""
        sentences.append(f"Another comparison of a pair gives the same preference in {_percent(most.swapped)} when the "
                    f"stories' places are swapped{again}.")  # fmt: skip
    return Answer(question, tuple(sentences), verdict, label="place")


def _first(row: OrderRow) -> str:
    return f"the story shown first is preferred in {_percent(row.first)} of {row.comparisons:,} comparisons"


def _systems(on: str, standings: Sequence[SystemStandings]) -> Answer:
    question = f"Which systems win{on}?"
    rule = "strengths, told apart by Holm's method at 5 %"
    sentences = [_top(standing) for standing in standings]
    first = next((standing for standing in standings if standing.kind == "judge"), standings[0])
    if not first.top:
        return Answer(question, tuple(sentences), Verdict("undefined", rule), label="wins")
    word = first.top[0] if len(first.top) == 1 else f"{len(first.top)} not told apart at the top"
    return Answer(question, tuple(sentences), Verdict(word, f"{rule}; by {_named(first)}"), label="wins")


def _top(standing: SystemStandings) -> str:
    who = f"By {_named(standing)}, on {standing.criterion}"
    if not standing.rows[0].strength.defined:
        return f"{who}: strengths are {standing.rows[0].strength.reason}."
    if not standing.top:
        return f"{who}: which systems differ is not determined."
    if len(standing.top) == 1:
        rate = standing.rows[0].win_rate
        share = f", with {_percent(rate)} of its comparisons won against the field" if rate.value is not None else ""
        return f"{who}: {standing.top[0]} is the strongest of {len(standing.rows)} systems{share}."
    return f"{who}: {', '.join(standing.top)} are not told apart at the top of {len(standing.rows)} systems."


def _loss(compared: Compared) -> Answer:
    question = "What share of the comparisons has no verdict?"
    rows = compared.verdicts.by_prompt
    asked, decided = sum(row.asked for row in rows), sum(row.decided for row in rows)
    if not asked:
        return Answer(question, ("No judge was asked.",), label="lost")
    if asked == decided:
        first = f"Nothing was lost: each of the {asked:,} comparisons asked has a preference or a tie."
    else:
        counts = {cause: sum(row.lost.get(cause, 0) for row in rows) for cause in compared.verdicts.causes}
        lost = ", ".join(f"{cause.replace('_', ' ')} {count:,}" for cause, count in counts.items() if count)
        share = f"{100 * decided / asked:.1f} %"
        first = f"Of {asked:,} comparisons asked, {share} have a preference or a tie; the others ({lost}) stay missing."
    left = (f"{compared.unasked:,} planned repeats have not been requested yet.",) if compared.unasked else ()
    return Answer(question, (first, *left), of_loss(decided, asked), label="lost")


def _named(row: AgreementRow | OrderRow | SystemStandings) -> str:
    return f"{row.judge} with {row.eval_prompt}" if row.eval_prompt else row.judge


def _percent(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0.0):.1f} %{_interval(estimate, 100, 1)}"


def _interval(estimate: Estimate, factor: float, digits: int) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"
