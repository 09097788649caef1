"""Checklist items about runs of comparisons: how many, in which orders, how many were lost, and baselines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from judge.analysis.coverage import counts
from judge.analysis.preference.agreement import LEAST_PAIRS
from judge.base.references import DATASETS
from judge.ratings.preferences_table import ComparisonFacts
from judge.show.report.inputs import ReportInputs

# Methods sentences about comparisons: which pairs, how they were shown, and which statistics of preferences were
# computed.

# Helpers for the sentences of the methods paragraph: citations in pandoc's form, and lists of names.


def cite(*keys: str) -> str:
    """Citation of the works with these keys, in pandoc's form."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


def listed(names: Sequence[str]) -> str:
    """`a, b and c`; "nothing" without names."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


_ORDERS = {
    "both": "each pair in both orders",
    "random": "each pair in one order, drawn at random",
    "as-given": "each pair in the one order in which it was given",
}


def stories(inputs: ReportInputs) -> Iterator[str]:
    """Sentences on each dataset's pairs, and on the people whose preferences are the reference."""
    frame, datasets = inputs.preferences_table.frame if inputs.compared else None, {m.dataset for m in inputs.matrices}
    if frame is None:
        return
    for dataset in dict.fromkeys(fact.dataset for fact in inputs.compared_facts):
        part = frame[(frame["dataset"] == dataset) & (frame["source"] == "judge")]
        texts = {*part["first"], *part["second"]}
        systems = {*part["first_system"], *part["second_system"]} - set(inputs.options.drop_systems)
        out = f", without {listed(inputs.options.drop_systems)}" if inputs.options.drop_systems else ""
        keys = next((keys for name, keys in DATASETS.items() if dataset.startswith(name)), ())
        source = f" {cite(*keys)}" if keys and dataset not in datasets else ""
        yield (
            f"The pairs compared are {part['pair'].nunique():,} of the dataset {dataset}{source}, of {len(texts):,} "
            f"stories for {part['story_prompt'].nunique():,} story-prompts by {len(systems)} "
            f"system{'' if len(systems) == 1 else 's'}{out}."
        )
        preferred = frame[(frame["dataset"] == dataset) & (frame["source"] == "rater")]
        people = preferred[preferred["pair"].isin(set(part["pair"]))]
        if len(people):
            raters = people["rater"].nunique()
            who = f"{raters} people" if raters else "people whose identity is not known"
            yield f"They are held against {len(people):,} preferences by {who}."
        elif (frame["source"] == "implied").any():
            yield "People did not compare them: of each pair the story with the higher mean of people's ratings counts."


def shown(fact: ComparisonFacts) -> str:
    """Phrase on the orders in which pairs were shown, and on whether a tie was offered."""
    tie = "a tie was offered" if fact.ties else "no tie was offered"
    return f"{_ORDERS.get(fact.orders, fact.orders)} ({tie})"


def statistics(inputs: ReportInputs) -> Iterator[str]:
    """Sentences on parsing, and on every statistic of the page."""
    parsers = listed(list(dict.fromkeys(fact.parser for fact in inputs.compared_facts)))
    yield f"Preferences were read from the answers by parser {parsers}; none was imputed, and a tie is an outcome."
    share = inputs.verdicts.share
    if share is not None:
        lost = "; the others count as missing" if share < 1 else ""
        yield f"Of the requested comparisons, {100 * share:.1f} % have a preference or a tie{lost}."
    yield from _agreement(inputs)
    if any(standing.kind != "implied" for standing in inputs.preferences.systems.standings):
        yield (
            f"Systems' strengths are those of the Bradley-Terry model {cite('bradley-terry-1952-rank')} with ties as "
            f"an outcome of their own {cite('davidson-1970-extending')} and, of judges, an advantage of the first "
            "place; they have 95 % intervals from a sandwich variance clustered by story-prompt; where wins do not "
            "connect the systems nothing is estimated. Differences between them are adjusted by Holm's method "
            f"{cite('holm-1979-simple')}."
        )
    if any(row.triads.strict or row.triads.uneven for row in inputs.preferences.transitivity.rows):
        yield f"Transitivity is the share of cyclic triads of stories {cite('kendall-babington-smith-1940-method')}."


def _agreement(inputs: ReportInputs) -> Iterator[str]:
    rows = inputs.preferences.agreement.rows
    if not rows:
        return
    yield (
        "Agreement is the share of pairs, of those of which people prefer one story, whose preferred story is the "
        "judge's too; its own ties count one half (and, beside it, as wrong), all orders and repeats of a pair are "
        "taken together, and 95 % intervals are clustered by story-prompt. Over all pairs, with ties as an outcome, "
        f"Cohen's kappa {cite('cohen-1960-coefficient')} and AC1 {cite('gwet-2008-computing')}."
    )
    if any(row.kind == "control" and row.agreement.half.defined for row in rows):
        yield (
            "Two rows need no judge: the longer story wins, and a control on surface features of the texts. With "
            f"{LEAST_PAIRS} such pairs it is a pairwise logistic regression out of fold by story-prompts, with fewer "
            "the regression that is shipped with judge."
        )


# Data type of one item of the reviewer's checklist.

# Systems below which a claim about systems proves little.
FEW_SYSTEMS = 10


@dataclass(frozen=True, slots=True)
class Item:
    """One item; `state` is met, gap or open, and `finding` what the run shows. `closes` is the command that closes the
    gap; `needs` says it in words where there is none."""

    question: str
    state: str
    finding: str
    closes: str = ""
    needs: str = ""


def items(inputs: ReportInputs) -> Iterator[Item]:
    """Yield the checklist items about runs of comparisons."""
    yield from _size(inputs)
    yield from _loss(inputs)
    yield from _bars(inputs)
    yield from _orders(inputs)
    yield Item("Intervals of preferences that account for clusters of stories", "met", "clustered by story-prompt")
    yield Item("The family of tests of systems, and its adjustment", "met", "all pairs of systems of a judge, Holm")


def _size(inputs: ReportInputs) -> Iterator[Item]:
    frame = inputs.preferences_table.frame
    judged = frame[frame["source"] == "judge"]
    parts, few = [], False
    for dataset, part in judged.groupby("dataset", sort=False, observed=True):
        systems = len({*part["first_system"], *part["second_system"]} - set(inputs.options.drop_systems))
        few = few or systems < FEW_SYSTEMS
        prompts = part["story_prompt"].nunique()
        parts.append(f"{dataset}: {part['pair'].nunique():,} pairs, {prompts:,} story-prompts, systems: {systems}")
    finding = "; ".join(parts) or "none was asked"
    yield Item("How many pairs, story-prompts and systems", "met" if parts else "gap", finding)
    if not inputs.rates:
        tail = f"fewer than {FEW_SYSTEMS} systems are weak evidence at system level" if few else "in every dataset"
        needs = "stories by more systems; no command makes them, so base the claim on stories" if few else ""
        yield Item("Enough systems for a claim about systems", "gap" if few else "met", tail, needs=needs)


def _loss(inputs: ReportInputs) -> Iterator[Item]:
    left = inputs.unasked
    finding = f"{left:,} planned repeats have not been requested yet" if left else "every planned repeat was requested"
    closes = f"judge run {inputs.named_runs}" if left else ""
    yield Item("The comparisons are complete", "gap" if left else "met", finding, closes)
    yield Item("Which comparisons are missing", "met", counts.sentence(inputs.verdicts))


def _bars(inputs: ReportInputs) -> Iterator[Item]:
    rows = inputs.preferences.agreement.rows
    frame = inputs.preferences_table.frame
    if not any(row.kind == "judge" for row in rows):
        finding = "no preference or rating by people is known"
        yield Item("People's preferences of the same pairs", "gap", finding, "judge import FILE")
        return
    compared_by_people = bool((frame["source"] == "rater").any())
    finding = (
        "people compared these stories"
        if compared_by_people
        else "implied by the means of their ratings: no person compared"
    )
    yield Item("People's preferences of the same pairs", "met" if compared_by_people else "open", finding)
    bars = {row.kind for row in rows if row.agreement.half.defined}
    needs = "" if "people" in bars else "preferences of each pair by two known people or more"
    state = "met" if "people" in bars else "gap"
    yield Item("One person against the others", state, "beside the judges" if not needs else "not known", needs=needs)
    both = {"longer", "control"} <= bars
    finding = "beside every judge" if both else "undefined on these pairs"
    yield Item("The longer story, and the control that reads the surface of a text", "met" if both else "open", finding)


def _orders(inputs: ReportInputs) -> Iterator[Item]:
    orders = dict.fromkeys(fact.orders for fact in inputs.compared_facts)
    both = set(orders) == {"both"}
    yield Item(
        "Each pair requested in both orders",
        "met" if both else "gap",
        ", ".join(orders),
        "" if both else "orders: both in run.yaml",
    )
    repeats = min((fact.repeats for fact in inputs.compared_facts), default=1)
    finding = f"{repeats} repeats of each query" if repeats > 1 else "one answer to each query"
    closes = "" if repeats > 1 else f"judge run {inputs.named_runs} --set repeats=3"
    yield Item("Repeats, to separate noise from position bias", "met" if repeats > 1 else "gap", finding, closes)
