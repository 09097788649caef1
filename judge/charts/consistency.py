"""Agreement of judges with themselves as dots and whiskers, people's with each other behind. Never computes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import PEOPLE
from judge.charts import words
from judge.charts.forest import Band, Forest, Line
from judge.charts.signs import CONTROL, JUDGE
from judge.stats.estimate import Estimate

Row = Mapping[str, Any]
_NOT_THERE = Estimate.undefined("not asked on this criterion")
_NOBODY = Estimate.undefined("no two people's ratings of the same stories are known")


def forest(
    rows: Sequence[Row],
    form: str,
    *,
    dataset: str,
    short: Mapping[str, str],
    controls: set[str],
    signature: str,
    raters: Raters | None = None,
) -> Forest:
    """From the rows of the table of `analysis.reliability.consistency`, which hold an estimate under `form`.

    `short` gives criteria's abbreviations, `controls` names the judges that are controls. Rows of several runs of one
    judge are told apart where they have the key `run`.
    """
    raters = raters or Raters()
    judged = [row for row in rows if row["judge"] != PEOPLE]
    criteria = tuple(dict.fromkeys(str(row["criterion"]) for row in judged or rows))
    several = len({row.get("run") for row in judged}) > len({row["judge"] for row in judged})
    cells: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for row in judged:
        name = f"{row['judge']} ({row['run']})" if several else str(row["judge"])
        cells.setdefault((name, str(row["eval_prompt"]), str(row["judge"])), {})[str(row["criterion"])] = row[form]
    lines = tuple(
        Line(
            name,
            eval_prompt,
            tuple((found.get(criterion, _NOT_THERE),) for criterion in criteria),
            CONTROL if judge in controls else None,
        )
        for (name, eval_prompt, judge), found in cells.items()
    )
    people = {str(row["criterion"]).casefold(): _people(row, form) for row in rows if row["judge"] == PEOPLE}
    band = Band("people, with each other", tuple(people.get(name.casefold(), _NOBODY) for name in criteria))
    return Forest(
        title=f"{form} of repeats{' (judges) and of raters (people)' if people else ''}, with 95 % intervals",
        panels=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        lines=lines,
        series=(("judge", JUDGE),),
        bands=() if raters.labels_note else (band,),
        axis=form,
        caption=_caption(form, dataset, judged, lines, band, rows, raters),
        signature=signature,
        digits=2,
        from_zero=True,
    )


def of_long_row(row: Row, form: str) -> Row:
    """A row of the long table (`icc, low, high, n, reason`) with its estimate under `form`."""
    estimate = Estimate(
        _number(row["icc"]), int(row["n"]), _number(row["low"]), _number(row["high"]), reason=row["reason"] or None
    )
    return {**row, form: estimate}


def _number(value: Any) -> float | None:
    return None if value is None or value != value else float(value)


def _people(row: Row, form: str) -> Estimate:
    """People's estimate; where they have none of this form, that."""
    found = row.get(form)
    return found if isinstance(found, Estimate) else _NOBODY


def _caption(
    form: str,
    dataset: str,
    judged: Sequence[Row],
    lines: Sequence[Line],
    band: Band,
    rows: Sequence[Row],
    raters: Raters,
) -> str:
    size = words.counted([int(row["n"]) for row in judged if row[form].defined], "complete stories")
    counts = sorted({int(row["k"]) for row in judged if int(row["k"])})
    repeats = "" if not counts else f", {'–'.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} repeats"
    text = f"Agreement of judges with themselves over repeats, {form}, {dataset} ({size}{repeats}); 95 % intervals."
    if raters.labels_note:
        text += raters.sentence
    elif band.defined:
        known = sorted({int(row["k"]) for row in rows if row["judge"] == PEOPLE and int(row["k"])})
        count = "–".join(map(str, dict.fromkeys([known[0], known[-1]]))) if known else "several"
        text += f" Grey: {count} people's ratings of the same stories. Agreement is not validity."
    else:
        reasons = list(dict.fromkeys(one.reason for one in band.estimates if one.reason))
        text += f" People: {'; '.join(reasons[:2])}."
    if any(line.sign for line in lines):
        text += " Squares: a control, no language model."
    cells = [one for line in lines for cell in line.cells for one in cell if one is not None]
    return text + words.undefined(cells)
