"""Export to the Item Response Warehouse: CSV files with columns id, item, resp and rater, by the warehouse's data
standard (itemresponsewarehouse.org).

The story is what is measured (`id`), the criterion is the probe (`item`), and the rating is the response (`resp`). A
file holds responses on one scale, either by people or by judges; a judge's repeats are numbered in `trial_repeat`. The
standard has no missing responses: rows without a rating are left out and counted. Labels without an order (nominal) are
left out too, because another standard covers them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from judge.asking.run_folder import judge_slug
from judge.base.errors import SpecError
from judge.base.whole_file import draft
from judge.exchange.outputs.given_away import empty_folder
from judge.ratings.ratings_table import RatingsTable


@dataclass(frozen=True, slots=True)
class IrwFiles:
    """Result of an export in the format of the Item Response Warehouse: each file written, with its number of rows.
    `unrated` counts the rows left out because they have no rating, and `nominal` lists the criteria left out because
    their labels have no order.
    """

    files: tuple[tuple[Path, int], ...]
    unrated: int
    nominal: tuple[str, ...]


def write_irw(folder: Path, tables: Sequence[RatingsTable]) -> IrwFiles:
    """Write ratings tables to CSV files in the format of the Item Response Warehouse. The folder must be empty. Returns
    the files and what was left out.
    """
    empty_folder(folder)
    frame = pd.concat([table.frame.astype({"rating": "float64"}) for table in tables], ignore_index=True)
    frame = frame[~((frame["source"] == "rater") & frame.duplicated([c for c in frame.columns if c != "run"]))]
    nominal = sorted({c.name for table in tables for fact in table.facts for c in fact.criteria if not c.scale.numeric})
    kept = frame[frame["rating"].notna() & ~frame["criterion"].isin(nominal)]
    scales = {c.name: c.scale for table in tables for fact in table.facts for c in fact.criteria}
    files: list[tuple[Path, int]] = []
    for (dataset, source), group in kept.groupby(["dataset", "source"], sort=True, observed=True):
        own = group["criterion"].map(lambda name: _scale_name(scales.get(str(name))))
        for scale, rows in group.groupby(own, sort=True):
            many = f"-{scale}" if len(own.unique()) > 1 else ""
            who = "people" if source == "rater" else "judges"
            path = folder / f"{judge_slug(str(dataset))}-{who}{many}.csv"
            try:
                with draft(path) as fresh:
                    _rows(rows, judges=source == "judge").to_csv(fresh, index=False, lineterminator="\n")
            except OSError as error:
                raise SpecError(f"{path} cannot be written: {error.strerror}") from error
            files.append((path, len(rows)))
    return IrwFiles(tuple(files), int(frame["rating"].isna().sum()), tuple(nominal))


def _rows(rows: pd.DataFrame, *, judges: bool) -> pd.DataFrame:
    columns = {"id": rows["story"], "item": rows["criterion"], "resp": rows["rating"]}
    if not judges:
        return pd.DataFrame(columns | ({"rater": rows["rater"]} if rows["rater"].notna().any() else {}))
    asked = rows["eval_prompt"].astype(str)
    columns["rater"] = rows["judge"].astype(str) + asked.where(asked != "-", "").map(
        lambda name: f" {name}" if name else ""
    )
    return pd.DataFrame(columns | ({"trial_repeat": rows["repeat"]} if rows["repeat"].notna().any() else {}))


def _scale_name(scale: object) -> str:
    low, high, step = (getattr(scale, name, None) for name in ("min", "max", "step"))
    return "scale-unknown" if low is None else f"{low:g}to{high:g}by{step:g}"
