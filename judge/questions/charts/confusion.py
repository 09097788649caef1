"""Chart of confusion matrices, one block of rows per judge: people's labels in rows, the judge's in columns.

A cell is the share of stories with the row's label to which the judge gives the column's; counts are in its tooltip.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.analysis.inputs.bars import CEILING
from judge.analysis.raters import Raters
from judge.questions.charts.heatmap import HeatCell, HeatMap, HeatRow, Scale

if TYPE_CHECKING:
    from judge.analysis.labels import ConfusionRow, Confusions

UNIT = "% of the stories with people's label"


def confusion_map(
    result: Confusions, rows: Sequence[ConfusionRow], dataset: str, raters: Raters | None = None
) -> HeatMap:
    """Heat map of confusion matrices with the same labels, of judges and of individual raters on one criterion; without
    the raters if no reader gave the reference labels.
    """
    raters = raters or Raters()
    labels, criterion = rows[0].labels, rows[0].subject.against or rows[0].subject.criterion
    shown = [row for row in rows if row.counts and not (row.kind == CEILING and raters.labels_note)]
    return HeatMap(
        title=f"Labels beside {raters.noun}, {criterion}, {dataset}",
        alt=f"{len(shown)} confusion matrices of {len(labels)} labels.",
        columns=labels,
        rows=tuple(_row(row, k) for row in shown for k in range(len(labels))),
        unit=UNIT,
        scale=Scale.of([0.0, 100.0], digits=0),
        caption=_caption(shown, criterion, dataset, raters),
        signature=result.signature,
    )


def _row(row: ConfusionRow, k: int) -> HeatRow:
    """Row for the k-th label of people, or of the other raters' majority."""
    counts, subject = row.counts[k], row.subject
    total = sum(counts)
    name = ", ".join(part for part in (subject.judge, subject.eval_prompt) if part)
    cells = []
    for mine, count in zip(row.labels, counts, strict=True):
        where = f"{name}: {mine} where people give {row.labels[k]}"
        if not total:
            cells.append(HeatCell(None, "", f"{where}: people never give this label"))
            continue
        share = 100 * count / total
        cells.append(HeatCell(share, f"{share:.0f}", f"{where}: {count:.4g} of {total:.4g}, {share:.1f} %"))
    return HeatRow(name, name, f"people: {row.labels[k]}", tuple(cells))


def _caption(rows: Sequence[ConfusionRow], criterion: str, dataset: str, raters: Raters) -> str:
    text = (
        f"Share in % of the stories with a label by {raters.noun} (rows) to which judges give each label (columns), "
        f"{criterion}, {dataset}. A judge that ignores the stories has the same shares in all of its rows."
    )
    if any(row.kind == CEILING for row in rows):
        text += " One more person: one person's label where the majority of the others has that of the row."
    return text + raters.sentence
