"""Checklist items about runs of comparisons: how many there are, in which orders, how many were lost, and which
baselines are given.
"""

from __future__ import annotations

from collections.abc import Iterator

from judge.analysis.coverage import verdicts
from judge.show.report.inputs import ReportInputs
from judge.show.report.manuscript.checklist_item import FEW_SYSTEMS, Item


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
    yield Item("Which comparisons are missing", "met", verdicts.sentence(inputs.verdicts))


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
