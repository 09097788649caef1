"""Keys of printed tables do not depend on the data: ratings of numbers and of labels, complete and lossy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge.base.printing import tables as printing
from judge.base.printing.tables import Table
from tests.golden_tables.calls import inside, judge, prepare

COMMANDS = {
    "coverage": (),
    "consistency": (),
    "correlate": ("--resamples", "20", "--set", "control=false"),
    "replace": (),
    "systems": ("--resamples", "20"),
    "diagnose": ("--full",),
    "correlate --layout margins": ("--resamples", "20", "--set", "control=false"),
    "correlate --layout drift": (
        "--set",
        "control=false",
    ),
    "diagnose --layout stories": (),
    "diagnose --layout criteria": ("--resamples", "20"),
}
"""Commands that take ratings of numbers and of labels alike."""

RUNS = ("demo-run", "plain", "labelled")
"""Numbers, numbers of which many are lost, labels."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keys").resolve()
    prepare(made, "demo", None)
    return made


def _columns(table: Table) -> Iterator[tuple[tuple[str, int], str]]:
    """(Title, how often it stood before) and key of each column: headers of two levels repeat titles."""
    seen: dict[str, int] = defaultdict(int)
    for column in table.columns:
        seen[column.title] += 1
        yield (column.title, seen[column.title]), column.key


def _kind(table: Table) -> str:
    return table.title.split(":")[0].split(",")[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_one_column_has_one_key_whatever_the_data(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed: list[Table] = []
    whole: Callable[[Table], str] = printing._json
    monkeypatch.setattr(printing, "_json", lambda table: (printed.append(table), whole(table))[1])
    with inside(folder, None):
        codes = [judge((*command.split(), run, *COMMANDS[command], "--format", "json"))[0] for run in RUNS]
    assert codes.count(0) >= 2
    keys: dict[tuple[str, tuple[str, int]], set[str]] = defaultdict(set)
    for table in printed:
        assert len({tuple(row) for row in printing.flat_rows(table)}) <= 1
        for place, key in _columns(table):
            keys[_kind(table), place].add(key)
    assert {place: found for place, found in keys.items() if len(found) > 1} == {}
