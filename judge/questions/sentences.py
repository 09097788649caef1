"""What results come to, in one or two sentences that a command prints first; those of `summary` where it has some.

Each sentence imports what its own question needs: a command that prints one of them loads no other's analysis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from judge.analysis.correlation import margins as of_margins
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.base.printing.shortened import ALPHA
from judge.questions.charts.shared import height, worded
from judge.stats import near_ties

if TYPE_CHECKING:
    from judge.analysis.agreement.accuracy import Accuracies
    from judge.analysis.agreement.drift import Drift
    from judge.analysis.comparison.result import Comparison, Ranked
    from judge.analysis.correlation.correlations import CorrelatedDataset, CorrelationRow, Correlations
    from judge.analysis.correlation.margins import Margin
    from judge.analysis.coverage.coverage import Coverage
    from judge.analysis.diagnose import Diagnosis
    from judge.analysis.inputs.candidates import Subject
    from judge.analysis.jury.result import Juries
    from judge.analysis.reliability.consistency import Consistency
    from judge.analysis.repeats import Repeats
    from judge.analysis.systems import Systems

# Datasets, or groups of compared runs, of which sentences are printed; a table has the others.
_MOST = 2

# What variants have in common -> the word that joins it to their name.
_SCOPES = {"judge": "of", "eval_prompt": "with"}

# What a judge is set beside, and its words.
_BARS = ((CEILING, "one more person"), (CONTROL, "the control"))

# Kinds of faults that are named.
_KINDS = 4


def correlations(found: Correlations) -> str:
    """The judge with the highest correlation of each dataset, beside one person and the control."""
    return _first(_highest(found, dataset) for dataset in found.datasets)


def _highest(found: Correlations, dataset: CorrelatedDataset) -> str:
    means = [row for row in dataset.rows if row.averaged]
    rows = means or dataset.rows
    judges = [row for row in rows if row.subject.kind == JUDGE and row.estimate.value is not None]
    judges = [row for row in judges if not row.is_control] or judges
    if not judges:
        return ""
    best = judges[near_ties.highest([row.estimate.value for row in judges])]
    criteria = best.averaged or (best.subject.criterion,)
    found_bars = [(name, _bar(rows, kind, best)) for kind, name in _BARS]
    bars = [f"{name} {worded(bar.estimate)}" for name, bar in found_bars if bar is not None]
    # The interval of a row by itself is too short for one that was picked: `summary` has that of the picked one.
    own = best.estimate if len(judges) == 1 else replace(best.estimate, low=None, high=None)
    value = height(found.statistic, own, best.stories, criteria)
    beside = f"; {', '.join(bars)}" if bars else ""
    return f"{_named(best.subject)}{_chosen(len(judges))}: {value}{beside}."


def _bar(rows: Sequence[CorrelationRow], kind: str, best: CorrelationRow) -> CorrelationRow | None:
    own = [row for row in rows if row.subject.kind == kind and row.subject.criterion == best.subject.criterion]
    return next((row for row in own if row.estimate.value is not None), None)


def margins(found: Correlations) -> str:
    """The judge with the highest mean correlation of each dataset, with its differences from control and people."""
    every = of_margins.margins(found)
    return _first(_margin([row for row in every if row.dataset == dataset.name]) for dataset in found.datasets)


def _margin(rows: Sequence[Margin]) -> str:
    best = of_margins.best_of(rows)
    if best is None:
        return ""
    from judge.questions.summary import people

    said = " ".join(people.beside(best))
    judges = sum(not row.control for row in rows) or len(rows)
    if judges > 1:
        # The interval of a row that was picked as the highest bears no verdict: judges of noise would get one.
        return f"{best.name}{_chosen(judges)}: {said}"
    return f"{best.name}: {people.of_agreement(best).text.upper()}. {said}"


def accuracy(found: Accuracies) -> str:
    """The judge that orders most pairs of stories as people do."""
    rows = [row for row in found.rows if row.subject.kind == JUDGE and row.half.value is not None]
    if not rows:
        return ""
    best = rows[near_ties.highest([row.half.value for row in rows])]
    bars = [
        f"{name} {worded(row.half)}"
        for row in found.rows
        for kind, name in _BARS
        if (row.subject.kind, row.subject.criterion, row.subject.dataset)
        == (kind, best.subject.criterion, best.subject.dataset)
        and row.half.defined
    ]
    beside = f"; {', '.join(bars)}" if bars else ""
    value = f"right order of {worded(best.half)} % of pairs on {best.subject.criterion}"
    return f"{_named(best.subject)}{_chosen(len(rows))}: {value}{beside}. Guessing gets 50."


def drift(found: Drift) -> str:
    """In how many tests the correlation with people differs between systems or datasets."""
    tested = [row for row in found.tests if row.p_adjusted is not None]
    if not tested:
        return ""
    apart = [row for row in tested if (row.p_adjusted or 0.0) < ALPHA]
    return (
        f"Agreement with people differs between systems or datasets in {len(apart)} of {len(tested)} tests "
        f"(adjusted p below {ALPHA:g})."
    )


def consistency(found: Consistency) -> str:
    """How far repeats agree, by ICC(1,1) over all judges, Eval-Prompts and criteria."""
    estimates = [estimate for cell in found.judged if (estimate := cell.estimate("ICC(1,1)")) is not None]
    from judge.questions.summary import quality

    text, verdict = quality.with_itself(estimates, "rows")
    return f"{verdict.text.upper()}. {text}"


def repeats(found: Repeats) -> str:
    """How much agreement with people all repeats bring over one, as the mean over judges and criteria."""
    most = max((row.k for row in found.counts), default=1)
    ends: dict[int, dict[tuple[str | None, ...], float]] = {1: {}, most: {}}
    for row in found.counts:
        about = row.subject
        if row.k in ends and row.value.value is not None:
            key = (about.dataset, about.run, about.judge, about.eval_prompt, about.criterion)
            ends[row.k][key] = row.value.value
    both = [key for key in ends[1] if key in ends[most]]
    if most == 1 or not both:
        return ""
    one, every = (100 * sum(ends[k][key] for key in both) / len(both) for k in (1, most))
    return (
        f"With one repeat tau-b x100 with people is {one:.1f}, with the mean of {most} repeats {every:.1f}, on average "
        f"over {len(both)} rows."
    )


def coverage(found: Coverage) -> str:
    """How many repeats have a rating, and which kinds of stories lost more."""
    from judge.analysis.coverage import counts

    if not found.total.rows:
        return "No judge was asked."
    (row,) = found.total.rows
    return counts.said(row.rated, row.asked, row.lost, found.total.came)


def diagnosis(found: Diagnosis) -> str:
    """The faults that tests find in the judges."""
    return _first(_faults(found, name) for name in found.datasets)


def _faults(found: Diagnosis, dataset: str) -> str:
    from judge.questions.summary.quality import Faults

    faults = Faults.of(found, dataset, None)
    judges = {finding.cell for finding in faults.tests if not finding.of_people}
    who = "It" if len(judges) == 1 else "A judge here"
    text = faults.verdict.text
    return f"{text[:1].upper()}{text[1:]}. {faults.words(_KINDS, who)}".strip()


def comparison(found: Comparison) -> str:
    """The best variant of each group, and which others are tied with it."""
    from judge.analysis.comparison.result import of_two

    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[Ranked]] = {}
    for ranked in found.ranking or of_two(found.entries):
        groups.setdefault((ranked.entry.dataset, ranked.entry.contrast.shared), []).append(ranked)
    shared = [dict(names) for _, names in groups]
    differing = [name for name in _SCOPES if len({names.get(name) for names in shared}) > 1]
    scopes = ["".join(f" {_SCOPES[name]} {names[name]}" for name in differing if name in names) for names in shared]
    return _first(_best(scope, rows) for scope, rows in zip(scopes, groups.values(), strict=True))


def _best(scope: str, rows: Sequence[Ranked]) -> str:
    from judge.questions.summary import rules

    others = [(row.variant, row.below, row.both) for row in rows if row.below is not None]
    best = next((row.variant for row in rows if row.below is None), None)
    if best is None or not others:
        return ""
    verdict = rules.of_variants(others)
    whose = "the other's" if len(others) == 1 else "the others'"
    return f"{verdict.text.upper()}: {best}{scope}; difference of {whose} tau x100: {rules.listed(others, 2)}."


def jury(found: Juries) -> str:
    """How far a jury is above or below the judge that would be chosen without it, and the control."""
    from judge.analysis.jury.jury import sentences as of_jury
    from judge.analysis.jury.result import CONTROL as BASELINE
    from judge.analysis.jury.result import SINGLE

    return _first(f"{each}." for held in found.held for each in of_jury(held, (SINGLE, BASELINE)))


def systems(found: Systems) -> str:
    """The order of systems by people, and how many of their differences judges find."""
    return _first(_order(found, matrix.dataset) for matrix in found.matrices)


def _order(found: Systems, dataset: str) -> str:
    from judge.analysis.systems import AVERAGE

    matrix = next(matrix for matrix in found.matrices if matrix.dataset == dataset)
    of_people = [each for each in found.standings if each.source.is_people and each.source.matrix.dataset == dataset]
    own = next((each for each in of_people if each.criterion == AVERAGE), of_people[0] if of_people else None)
    if own is None:
        return ""
    means = [(name, mean.value) for name, mean in zip(matrix.systems, own.mean, strict=True) if mean.value is not None]
    order = ", ".join(f"{name} {value:.2f}" for name, value in sorted(means, key=lambda each: -each[1])[:_KINDS])
    rows = [row for row in found.separation.rows if row.dataset == dataset]
    if not rows:
        return f"By people: {order}."
    same = [row.same for row in rows]
    count = f"{min(same)} to {max(same)}" if min(same) < max(same) else f"{same[0]}"
    who = f"the {len(rows)} judges and Eval-Prompts tell" if len(rows) > 1 else "the judge tells"
    pairs = max(row.people for row in rows)
    return (
        f"By people: {order}. Of the {pairs} pairs of systems that people tell apart, {who} {count} apart as they do."
    )


def _named(subject: Subject) -> str:
    return subject.judge if subject.eval_prompt is None else f"{subject.judge} with {subject.eval_prompt}"


def _chosen(rows: int) -> str:
    return f" (the highest of {rows} rows, which flatters it)" if rows > 1 else ""


def _first(sentences: Iterable[str]) -> str:
    return " ".join([sentence for sentence in sentences if sentence][:_MOST])
