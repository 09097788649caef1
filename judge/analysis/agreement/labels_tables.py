"""Printed table of how well judges discriminate labelled stories from others."""

from __future__ import annotations

from judge.analysis.agreement.binary_labels import Discrimination
from judge.analysis.inputs.candidates import first_columns, last_columns
from judge.analysis.inputs.subject_rows import cells
from judge.analysis.options.agreement_options import LabelOptions
from judge.base.printing.tables import Column, Table


def tables(result: Discrimination) -> list[Table]:
    """List with one printed table: how well judges separate labelled stories from others."""
    options = result.options
    rows = [cells(row) for row in result.rows]
    columns = first_columns(rows)
    if options.errors:
        columns.append(Column("other", "set against"))
    columns += [
        Column("with_label", "with label"),
        Column("without_label", "others"),
        Column("r", "point-biserial r"),
        Column("bound", "max |r|"),
        Column("auc", "AUC"),
        Column("win_rate", "win rate %", digits=1, factor=100),
        Column("pairs", "pairs"),
        Column("story_prompts", "story-prompts"),
        Column("difference", "difference"),
    ]
    if options.equivalence is not None:
        columns.append(Column("tost_p", f"TOST p ±{options.equivalence:g}", digits=3, p="two one-sided"))
    against = "one error type at a time" if options.errors else "the others"
    title = f"Stories with the label {options.labels} against {against}"
    notes = tuple(dict.fromkeys([*result.notes, *_explained(options)]))
    return [Table(title, [*columns, *last_columns()], rows, result.signature, notes)]


def _explained(options: LabelOptions) -> list[str]:
    bound = (
        "max |r|: the largest |r| with these class sizes, reached where the labelled stories "
        "are the best rated; where classes differ in size, compare AUCs and not r"
    )
    pairs = (
        "win rate and difference: labelled against other stories for the same story-prompt, ties one half; intervals "
        "clustered by story-prompt"
    )
    notes = ["positive r, AUC above .5, win rate above 50: the judge rates stories with the label higher", bound, pairs]
    if options.equivalence is not None:
        notes.append(
            f"TOST: p below .05 shows that the mean difference by story-prompts lies within ±{options.equivalence:g} "
            "points of the judge's scale; a small difference alone may be noise"
        )
    if options.errors:
        notes.append(
            "the same stories with the label stand in every set, and a story with several errors in several: rows are "
            "not independent; stories with both the label and the error are left out, and so are those with neither: "
            "classes picked by people's ratings are easier to tell apart than all stories"
        )
    return notes
