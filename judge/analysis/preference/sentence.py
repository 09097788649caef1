"""The answer of `judge rank` in one or two sentences, made from its results."""

from __future__ import annotations

from judge.analysis.preference.agreement import Agreement, AgreementRow
from judge.analysis.preference.order import OrderRow
from judge.analysis.preference.ranked import Ranked
from judge.analysis.preference.systems import Systems
from judge.base.estimate import Estimate


def answer(result: Ranked) -> str:
    """Sentences on the best judge's agreement with people, compared with the control, and on its order effect.

    Without a judge, they are on the controls. A last sentence names the strongest systems.
    """
    judges = [row for row in result.agreement.rows if row.kind == "judge" and row.agreement.half.defined]
    if judges:
        best = max(judges, key=lambda row: row.agreement.half.value or 0.0)
        sentences = [_agreement(best, several=len(judges) > 1), *_position_effect(best, result)]
    else:
        sentences = _controls(result.agreement)
    return " ".join([*sentences, *_systems(result.systems)]) or "There are no preferences."


def _agreement(row: AgreementRow, *, several: bool) -> str:
    half = row.agreement.half
    who = f"Of the judges {row.judge} follows people best: it" if several else row.judge
    text = f"{who} prefers the story that people prefer in {_percent(half)} of {half.n} pairs"
    over = row.over_control
    if over.value is None:
        return f"{text}."
    than = f"{abs(100 * over.value):.1f} points {'more' if over.value >= 0 else 'less'} than the control"
    return f"{text}, {than}{_interval(over, 100, 1)}{'' if _shown(over) else ', which may be chance'}."


def _position_effect(best: AgreementRow, result: Ranked) -> list[str]:
    rows = [row for row in result.order.rows if row.third is None and _same(row, best)]
    if not rows or rows[0].position.value is None:
        return []
    position = rows[0].position
    if not _shown(position):
        return ["No advantage of the place shows."]
    where = "first" if (position.value or 0.0) > 0 else "second"
    return [f"The story shown {where} has an advantage (logit {position.value:.2f}{_interval(position, 1, 2)})."]


def _same(row: OrderRow, best: AgreementRow) -> bool:
    names = ("dataset", "run", "eval_prompt", "criterion", "judge")
    return all(getattr(row, name) == getattr(best, name) for name in names)


def _controls(agreement: Agreement) -> list[str]:
    parts = []
    for kind, words in (
        ("longer", "The longer story is the preferred one"),
        ("control", "the surface out of fold finds it"),
    ):
        row = next((row for row in agreement.rows if row.kind == kind and row.agreement.half.defined), None)
        if row is not None:
            half = row.agreement.half
            parts.append(f"{words} in {_percent(half)} of {half.n} pairs")
    return [f"{'; '.join(parts)}: what a judge has to beat."] if parts else []


def _systems(systems: Systems) -> list[str]:
    """List with a sentence that names the strongest systems; empty if no ranking of the systems can be computed.

    The ranking is that of the first judge for which it can be computed, or else people's.
    """
    order = sorted(systems.standings, key=lambda standing: standing.kind != "judge")
    for standing in order:
        if len(standing.top) == 1:
            return [f"By {standing.judge} {standing.top[0]} is the strongest system."]
        if standing.top:
            return [f"By {standing.judge} {', '.join(standing.top)} cannot be told apart at the top."]
    return []


def _percent(estimate: Estimate) -> str:
    return f"{100 * (estimate.value or 0.0):.1f} %{_interval(estimate, 100, 1)}"


def _interval(estimate: Estimate, factor: float, digits: int) -> str:
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"


def _shown(estimate: Estimate) -> bool:
    """Whether the interval excludes 0; false without an interval."""
    low, high = estimate.low, estimate.high
    return low is not None and high is not None and (low > 0 or high < 0)
