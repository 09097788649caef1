"""Every table is read rightly or refused with what would read it; none is read wrongly in silence."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import pandas as pd

from judge.base.errors import JudgeError
from judge.cli.table_options import complaint, mend
from judge.exchange.tables.checked_table import check
from judge.exchange.tables.compared_table import compared_map, read_compared
from judge.inputs.datasets import is_own_form, open_dataset
from judge.inputs.datasets.files.column_guess import guess
from tests.tables.made import MAKERS, Made, Truth


def outcome(made: Made, folder: Path) -> str:
    """right, refused, or what is wrong."""
    path = made.write(folder)
    try:
        found = {"check": checked, "data": data, "pairs": pairs}[made.way](path)
    except JudgeError as error:
        told = f"{complaint(error)}\n{mend(error) or ''}"
        missing = [words for words in made.refused if words not in told]
        return f"refused: {told}" if missing or not made.refused else "refused"
    if made.truth is None:
        return f"read, and it should be refused: {[*found]}"
    return "right" if alike(found, made.truth) else f"wrong: {differences(found, made.truth)}"


def checked(path: Path) -> Truth:
    return of_frame(check(path).ratings.frame)


def data(path: Path) -> Truth:
    columns = None if is_own_form(path) else guess(path, texts=False).as_map()
    dataset = open_dataset(str(path), columns=columns)
    if dataset.pairs is not None:
        return {("pairs", "people", ""): [float(len(list(dataset.pairs())))]}
    found: Truth = defaultdict(list)
    for story in dataset.stories():
        for rating in story.ratings:
            found["rater", rating.criterion, str(rating.rater)].append(rating.value)
    return dict(found)


def pairs(path: Path) -> Truth:
    chosen = compared_map(path, {})
    assert chosen is not None
    frame = read_compared(path, chosen, "t").frame
    counts = frame.groupby("source").size()
    names = {"rater": "people", "judge": "judge"}
    return {("verdicts", names[str(source)], ""): [float(count)] for source, count in counts.items()}


def of_frame(frame: pd.DataFrame) -> Truth:
    found: Truth = defaultdict(list)
    for row in frame.itertuples():
        who = row.judge if row.source == "judge" else row.rater
        found[str(row.source), str(row.criterion), "None" if pd.isna(who) else str(who)].append(float(row.rating))
    return dict(found)


def alike(found: Truth, truth: Truth) -> bool:
    return found.keys() == truth.keys() and all(same(found[key], truth[key]) for key in truth)


def same(one: list[float], other: list[float]) -> bool:
    # In the order of the file; a story's rows may be gathered.
    key = [(-1.0 if math.isnan(value) else round(value, 9)) for value in one]
    return key == [(-1.0 if math.isnan(value) else round(value, 9)) for value in other] or sorted(key) == sorted(
        -1.0 if math.isnan(value) else round(value, 9) for value in other
    )


def differences(found: Truth, truth: Truth) -> str:
    return (
        f"found {[(key, len(found[key])) for key in found][:8]}, true {[(key, len(truth[key])) for key in truth][:8]}"
    )


def test_no_real_table_is_read_wrongly(studies: Path, tmp_path: Path) -> None:
    outcomes = {made.name: outcome(made, tmp_path) for maker in MAKERS for made in maker(studies)}
    assert len(outcomes) >= 60
    assert {name: told for name, told in outcomes.items() if told not in ("right", "refused")} == {}
