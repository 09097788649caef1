"""Every table command prints what its golden file says; see the package's docstring."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from judge.cli.main import app
from tests.conftest import NEEDS_DATA
from tests.golden_tables.calls import GROUPS, HERE, Call, calls, prepare, printed, stored
from tests.golden_tables.differences import differences
from tests.golden_tables.normal import normal

SHOWN = 10
"""Differing places that a failure tells of."""

WITHOUT_GOLDEN: dict[str, str] = {
    "improve": "it asks a judge; tests/improve holds its numbers",
    "stress list": "what can be made is the machine's",
    "people report": "the times of answers are the server's; tests/people holds its numbers",
}
"""Commands with --format that have no golden call, and why."""


def _folder(factory: pytest.TempPathFactory, group: str, data: Path | None) -> Path:
    folder = factory.mktemp(group).resolve()
    prepare(folder, group, data)
    return folder


@pytest.fixture(scope="session")
def demo_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo run and the runs beside it."""
    return _folder(tmp_path_factory, "demo", None)


@pytest.fixture(scope="session")
def hanna_folder(tmp_path_factory: pytest.TempPathFactory, studies: Path) -> Path:
    """The HANNA study's scores as a run, and its user study as an audit."""
    return _folder(tmp_path_factory, "hanna", studies.resolve())


@pytest.fixture
def show(request: pytest.FixtureRequest) -> Callable[[Call], Any]:
    """Makes a call on the runs of its group: what it prints, normalised."""

    def made(call: Call) -> Any:
        data: Path | None = request.getfixturevalue("studies").resolve() if call.group == "hanna" else None
        folder: Path = request.getfixturevalue(f"{call.group}_folder")
        return normal(printed(call, folder, data), folder=str(folder), data=str(data) if data else None)

    return made


def _param(call: Call) -> Any:
    return pytest.param(call, id=f"{call.group}/{call.name}", marks=[NEEDS_DATA] if call.group == "hanna" else [])


@pytest.mark.parametrize("call", [_param(call) for call in calls()])
def test_the_table_is_the_golden_one(call: Call, show: Callable[[Call], Any]) -> None:
    places = list(differences(stored(call), show(call)))
    shown = "\n".join(itertools.islice(places, SHOWN))
    assert not places, f"{len(places)} places differ from {call.golden.relative_to(HERE)}:\n{shown}"


def test_every_golden_file_has_its_call() -> None:
    assert {call.golden for call in calls()} == {path for group in GROUPS for path in (HERE / group).glob("*.json")}


def _with_format(command: Any, name: str) -> Iterator[str]:
    """The names of all commands below one that take --format."""
    if hasattr(command, "list_commands"):
        for part in command.list_commands(None):
            yield from _with_format(command.get_command(None, part), f"{name} {part}".strip())
    if any("--format" in option.opts for option in command.params):
        yield name


def test_every_command_with_a_format_has_a_golden_call() -> None:
    found = set(_with_format(typer.main.get_command(app), ""))
    assert {"ratings", "correlate", "contamination report", "audit report"} <= found
    lines = [" ".join(call.words) for call in calls()]
    called = {name for name in found if any(line.startswith(f"{name} ") for line in lines)}
    assert found - called == set(WITHOUT_GOLDEN)


@pytest.mark.parametrize(
    ("golden", "found", "told"),
    [
        ({"rows": [{"tau": 0.41}]}, {"rows": [{"tau": 0.42}]}, ["rows[0].tau: 0.41 != 0.42"]),
        ({"n": 3}, {"n": 3.0 + 1e-12}, []),
        ([1e12, 0.0], [1e12 + 1, 1e-10], []),
        ([1.0], [1.0 + 1e-8], ["[0]: 1.0 != 1.00000001"]),
        ([None], [float("nan")], []),
        ([None], [0], ["[0]: None != 0"]),
        ([True], [1], ["[0]: True != 1"]),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [": keys are in another order: ['a', 'b'] != ['b', 'a']"]),
        ({"a": 1}, {"b": "x"}, ["a: 1 is gone", "b: 'x' is new"]),
        (["x"], ["x", "y"], [": 1 items != 2 items"]),
    ],
)
def test_differing_places_are_named(golden: Any, found: Any, told: list[str]) -> None:
    assert list(differences(golden, found)) == told


def test_volatile_values_are_named_and_long_tables_shortened() -> None:
    table = {"signature": "demo:48|v0.1.0", "notes": ["v0.1.0 in /tmp/x/run"], "rows": [{"hours": 0.1, "cost": None}]}
    made = normal(table, folder="/tmp/x", data=None)
    assert made["signature"] == "demo:48|VERSION"
    assert made["notes"] == ["v0.1.0 in FOLDER/run"]
    assert made["rows"] == [{"hours": "a duration", "cost": None}]
    rows = [{"value": float(i), "name": "ab"} for i in range(60)]
    kept = normal({"rows": rows}, folder="/tmp/x", data=None)
    assert len(kept["rows"]) == 50
    assert kept["rows_in_all"]["rows"] == 60
    swapped = normal({"rows": [*rows[:55], rows[56], rows[55], *rows[57:]]}, folder="/tmp/x", data=None)
    assert [place.split(":")[0] for place in differences(kept, swapped)] == ["rows_in_all.value.mean_by_place"]
