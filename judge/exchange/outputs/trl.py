"""Export of preferences for TRL's trainers: one JSON line per pair, with prompt, chosen and rejected. Ties are left
out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson

from judge.analysis.preference.sides import Side, datasets
from judge.base.errors import SpecError, unknown
from judge.base.whole_file import write_whole
from judge.ratings.preferences_table.table import PreferencesTable


@dataclass(frozen=True, slots=True)
class TrlFile:
    """Result of an export of preferences for TRL's trainers: the file written, its number of lines, and the pairs
    without a line, which are ties (`even`) or have a story without text (`without_text`).
    """

    path: Path
    lines: int
    even: int
    without_text: int


def write_trl(path: Path, table: PreferencesTable, judge: str | None = None) -> TrlFile:
    """Write preferences in the format of TRL's trainers (prompt, chosen, rejected), one line per pair of stories: those
    of people or, if given, of `judge`. Returns the numbers of pairs with and without a line.

    A pair's preference combines all its repeats and orders. Raises SpecError where the table does not contain the
    judge, and where it has no comparisons.
    """
    sides = [
        side
        for _, dataset_sides in datasets(table)
        for side in dataset_sides
        if side.kind != "implied" and side.judge == judge
    ]
    if not sides:
        judges = sorted(str(name) for name in table.frame.loc[table.frame["source"] == "judge", "judge"].unique())
        if judge is not None:
            raise SpecError(unknown("judge", judge, judges))
        raise SpecError("the results hold no comparisons of stories", hint="judge data list names datasets with pairs")
    lines: list[bytes] = []
    even = without = 0
    for side in sides:
        for line in _lines(side):
            if line is None:
                without += 1
            else:
                lines.append(line)
        even += int((side.net == 0).sum())
    try:
        write_whole(path, b"".join(lines))
    except OSError as error:
        raise SpecError(f"{path} cannot be written: {error.strerror}") from error
    return TrlFile(path, len(lines), even, without)


def _lines(side: Side) -> Iterator[bytes | None]:
    """Yield a JSON line for each pair that is not a tie; None for a pair in which a story has no text.

    `side` holds the preferences of one judge or of people.
    """
    pairs, net = side.pairs, side.net
    texts, prompts = pairs.stories["text"].to_numpy(), pairs.stories["story_prompt"].to_numpy()
    names = pairs.stories.index.to_numpy()
    for k in np.flatnonzero(np.nan_to_num(net)):
        won, lost = (pairs.a[k], pairs.b[k]) if net[k] > 0 else (pairs.b[k], pairs.a[k])
        if not (isinstance(texts[won], str) and texts[won] and isinstance(texts[lost], str) and texts[lost]):
            yield None
            continue
        yield orjson.dumps(
            {
                "prompt": str(prompts[won]),
                "chosen": texts[won],
                "rejected": texts[lost],
                "criterion": side.criterion,
                "dataset": pairs.dataset,
                "chosen_story": str(names[won]),
                "rejected_story": str(names[lost]),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )
