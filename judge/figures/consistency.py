"""Agreement of judges with themselves as dots and whiskers, people's with each other behind. Never computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.analysis.reliability.consistency import PEOPLE
from judge.figures import panels
from judge.figures.correlations import undefined
from judge.figures.forest import Band, Forest, Line
from judge.figures.series import CONTROL, JUDGE
from judge.stats.estimate import Estimate

Row = Mapping[str, Any]
_NOT_THERE = Estimate.undefined("not asked on this criterion")


def forest(
    rows: Sequence[Row], form: str, *, dataset: str, short: Mapping[str, str], controls: set[str], signature: str
) -> Forest:
    """From the rows of `analysis.reliability.consistency.consistency` of one form and dataset.

    `short` gives criteria's abbreviations, `controls` names the judges that are controls.
    """
    judged = [row for row in rows if row["judge"] != PEOPLE]
    criteria = tuple(dict.fromkeys(str(row["criterion"]) for row in judged or rows))
    several = len({row["run"] for row in judged}) > len({row["judge"] for row in judged})
    cells: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for row in judged:
        name = f"{row['judge']} ({row['run']})" if several else str(row["judge"])
        cells.setdefault((name, str(row["eval_prompt"]), str(row["judge"])), {})[str(row["criterion"])] = estimate(row)
    lines = tuple(
        Line(
            name,
            eval_prompt,
            tuple((found.get(criterion, _NOT_THERE),) for criterion in criteria),
            CONTROL if judge in controls else None,
        )
        for (name, eval_prompt, judge), found in cells.items()
    )
    people = {str(row["criterion"]).casefold(): estimate(row) for row in rows if row["judge"] == PEOPLE}
    nobody = Estimate.undefined("nobody rated these stories")
    band = Band("people, with each other", tuple(people.get(name.casefold(), nobody) for name in criteria))
    return Forest(
        panels=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        lines=lines,
        series=(("judge", JUDGE),),
        bands=(band,),
        axis=form,
        caption=_caption(form, dataset, judged, lines, band, rows),
        signature=signature,
    )


def estimate(row: Row) -> Estimate:
    """The estimate of a row of the long table; where the value is missing, its reason."""
    value = _number(row["icc"])
    return Estimate(value, int(row["n"]), _number(row["low"]), _number(row["high"]), reason=row["reason"] or None)


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _caption(
    form: str, dataset: str, judged: Sequence[Row], lines: Sequence[Line], band: Band, rows: Sequence[Row]
) -> str:
    size = panels.counted([int(row["n"]) for row in judged if _number(row["icc"]) is not None], "stories")
    counts = sorted({int(row["k"]) for row in judged if int(row["k"])})
    repeats = "" if not counts else f", {'–'.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} repeats"
    text = f"Agreement of judges with themselves over repeats, {form}, {dataset} ({size}{repeats}); 95 % intervals."
    if band.defined:
        raters = sorted({int(row["k"]) for row in rows if row["judge"] == PEOPLE and int(row["k"])})
        count = "–".join(map(str, dict.fromkeys([raters[0], raters[-1]]))) if raters else "several"
        text += f" Grey: {count} people's ratings of the same stories. Agreement is not validity."
    else:
        reasons = list(dict.fromkeys(one.reason for one in band.estimates if one.reason))
        text += f" People: {'; '.join(reasons[:2])}."
    if any(line.sign for line in lines):
        text += " Squares: a control, no language model."
    return text + undefined(tuple(one for line in lines for cell in line.cells for one in cell if one is not None))
