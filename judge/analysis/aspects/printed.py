"""Printed tables of recall and ratings of story aspects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from judge.analysis.aspects.result import PLACES, AspectRow, Aspects
from judge.base.printing.tables import Column, Table


def tables(result: Aspects) -> list[Table]:
    """Two printed tables on aspects of stories: over all aspects by judge and baseline, then by judge and aspect.

    They show how many of the aspects that people chose are found (recall), and correlations with people's ratings.
    """
    overall = [row for row in result.rows if row.aspect is None]
    single = [row for row in result.rows if row.aspect is not None and row.is_judge]
    several = len({row.dataset for row in result.rows}) > 1
    contents = [_table("Aspects: which stand out, and how they are rated", overall, several=several, by_aspect=False)]
    if single:
        contents.append(_table("Results for each aspect", single, several=several, by_aspect=True))
    aspect_tables = [Table(title, columns, rows, result.signature) for title, columns, rows in contents]
    return [
        *aspect_tables[:-1],
        Table(
            aspect_tables[-1].title, aspect_tables[-1].columns, aspect_tables[-1].rows, result.signature, result.notes
        ),
    ]


def _table(
    title: str, rows: Sequence[AspectRow], *, several: bool, by_aspect: bool
) -> tuple[str, list[Column], list[dict[str, Any]]]:
    columns = [Column("dataset", "dataset")] if several else []
    columns += [Column("judge", "judge"), Column("eval_prompt", "eval prompt")]
    columns += [Column("aspect", "aspect")] if by_aspect else []
    columns += [Column("chosen", "chosen"), *(Column(f"recall_{k}", f"R@{k} %", digits=1, factor=100) for k in PLACES)]
    columns += [Column("rho", "rho"), Column("tau", "tau-b")]
    columns += [] if by_aspect else [Column("incomplete", "stories lost")]
    return title, columns, [_printed(row) for row in rows]


def _printed(row: AspectRow) -> dict[str, Any]:
    return {
        "dataset": row.dataset,
        "judge": row.judge,
        "eval_prompt": row.eval_prompt,
        "aspect": row.aspect,
        "chosen": row.chosen,
        **{f"recall_{k}": row.recall[k] for k in PLACES},
        "rho": row.rho,
        "tau": row.tau,
        "incomplete": row.incomplete,
    }
