"""The house stays small enough for one person: rooms, docstrings, comments and functions."""

from __future__ import annotations

import pytest

from tests.house import PACKAGE, Room, rooms

LONGEST_MODULE = 500
LONGEST_FUNCTION = 60


@pytest.fixture(scope="module")
def every() -> dict[str, Room]:
    return rooms()


def test_there_are_sixteen_rooms_and_six_loose_modules_at_most(every: dict[str, Room]) -> None:
    assert len(every) - 1 <= 16
    assert every[""].modules <= 6


def test_each_room_says_in_a_sentence_what_lies_there(every: dict[str, Room]) -> None:
    architecture = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    assert [name for name in every if name and f"| `{name}/` |" not in architecture] == []


def test_docstrings_and_comments(every: dict[str, Room]) -> None:
    docstrings, comments, code = (
        sum(room.kinds[kind] for room in every.values()) for kind in ("docstrings", "comments", "code")
    )
    assert docstrings <= 13_000
    assert comments >= 0.02 * code


def test_no_function_and_no_module_grows_beyond_the_longest(every: dict[str, Room]) -> None:
    assert max(room.longest for room in every.values()) <= LONGEST_FUNCTION
    files = PACKAGE.rglob("*.py")
    assert max(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= LONGEST_MODULE
