"""Consistency chart: agreement of judges with themselves over repeats, with intervals, and agreement among people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import Consistency, ConsistentCell
from judge.base.estimate import Estimate
from judge.questions.charts import shared
from judge.questions.charts.forest import Band, Forest, Line
from judge.questions.charts.shared import CONTROL, JUDGE

_NOT_THERE = Estimate.undefined("not requested on this criterion")
_NOBODY = Estimate.undefined("no two people's ratings of the same stories are known")


def forest(
    result: Consistency,
    form: str,
    *,
    dataset: str,
    short: Mapping[str, str],
    controls: set[str],
    signature: str,
    raters: Raters | None = None,
) -> Forest:
    """Forest chart of one coefficient (`form`) for each judge, Eval-Prompt and criterion; the run is named where a
    judge has several. `short` abbreviates criteria.
    """
    raters = raters or Raters()
    judged = result.judged
    people = [cell for cell in result.cells if cell.is_people]
    criteria = tuple(dict.fromkeys(cell.criterion for cell in judged or people))
    several = len({cell.run for cell in judged}) > len({cell.judge for cell in judged})
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for cell in judged:
        name = f"{cell.judge} ({cell.run})" if several else cell.judge
        rows.setdefault((name, str(cell.eval_prompt), cell.judge), {})[cell.criterion] = _of(cell, form)
    lines = tuple(
        Line(
            name,
            eval_prompt,
            tuple((own.get(criterion, _NOT_THERE),) for criterion in criteria),
            CONTROL if judge in controls else None,
        )
        for (name, eval_prompt, judge), own in rows.items()
    )
    theirs = {cell.criterion.casefold(): _of(cell, form) for cell in people}
    of_raters = " (judges) and of raters (people)" if any(cell.has_agreement for cell in people) else ""
    band = Band("people, with each other", tuple(theirs.get(name.casefold(), _NOBODY) for name in criteria))
    return Forest(
        title=f"{form} of repeats{of_raters}, with 95 % intervals",
        panels=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        lines=lines,
        series=(("judge", JUDGE),),
        bands=() if raters.labels_note else (band,),
        axis=form,
        caption=_caption(form, dataset, judged, people, lines, band, raters),
        signature=signature,
        digits=2,
        from_zero=True,
    )


def _of(cell: ConsistentCell, form: str) -> Estimate:
    return cell.estimate(form) or _NOBODY


def _caption(
    form: str,
    dataset: str,
    judged: Sequence[ConsistentCell],
    people: Sequence[ConsistentCell],
    lines: Sequence[Line],
    band: Band,
    raters: Raters,
) -> str:
    size = shared.counted([cell.family.n for cell in judged if _of(cell, form).defined], "complete stories")
    counts = sorted({cell.family.k for cell in judged if cell.family.k})
    repeats = "" if not counts else f", {'–'.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} repeats"
    text = f"Agreement of judges with themselves over repeats, {form}, {dataset} ({size}{repeats}); 95 % intervals."
    if raters.labels_note:
        text += raters.sentence
    elif band.defined:
        repeat_counts = sorted({cell.family.k for cell in people if cell.family.k})
        count = "–".join(map(str, dict.fromkeys([repeat_counts[0], repeat_counts[-1]]))) if repeat_counts else "several"
        text += f" Grey: {count} people's ratings of the same stories. Agreement is not validity."
    else:
        reasons = list(dict.fromkeys(estimate.reason for estimate in band.estimates if estimate.reason))
        text += f" People: {'; '.join(reasons[:2])}."
    if any(line.sign for line in lines):
        text += " Squares: a control, no language model."
    cells = [estimate for line in lines for cell in line.cells for estimate in cell if estimate is not None]
    return text + shared.undefined(cells)
