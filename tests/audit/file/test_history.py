"""Answers against a plain model, whatever their order; two programs that answer at once."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from judge.explanations.audit.store import AuditStore
from tests.audit.conftest import subject

FIVE = ("wrong_guideline", "poor_syntax", "superfluous", "unsubstantiated", "incoherence")

steps = st.lists(
    st.tuples(
        st.sampled_from(["Ada", "Bo"]),
        st.integers(1, 2),
        st.dictionaries(st.sampled_from(FIVE), st.sampled_from([0, 1, None]), max_size=3),
        st.sampled_from([None, "", "a note"]),
    ),
    max_size=20,
)


@given(steps)
@settings(max_examples=15)
def test_answers_and_history_are_those_of_a_plain_model(steps: list[Any]) -> None:
    now: dict[tuple[str, int], tuple[dict[str, int], str]] = {}
    changes = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        AuditStore.create(Path(folder) / "a.sqlite", [subject(0), subject(1)]) as store,
    ):
        for name, item, values, note in steps:
            before = now.get((name, item), ({}, ""))
            after = {k: v for k, v in {**before[0], **values}.items() if v is not None}
            now[name, item] = after, before[1] if note is None else note
            changes += now[name, item] != before
            store.answer(name, item, values, note=note)
        for (name, item), expected in now.items():
            state = store.state(name, item)
            assert (state.values, state.note) == expected
            assert state.done == (len(state.values) == len(FIVE))
        assert store.select("SELECT count(*) FROM history") == [(changes,)]


_WRITER = """
import sys
from judge.explanations.audit.store import AuditStore

with AuditStore.open(sys.argv[1]) as store:
    for item in store.order(sys.argv[2]):
        for i, category in enumerate(store.categories):
            store.answer(sys.argv[2], item, {category.key: (item + i) % 2}, seconds=0.25)
"""


def test_two_programs_answer_at_once(make_audit: Callable[..., AuditStore]) -> None:
    store = make_audit(12)
    root = Path(__file__).resolve().parents[3]
    names = ("Ada", "Bo", "Cy")
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, str(store.path), name], env=os.environ | {"PYTHONPATH": str(root)}
        )
        for name in names
    ]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    found = store.answers()
    assert len(found) == 3 * 12 * 5
    assert all(one.done and one.value == (one.item + FIVE.index(one.category)) % 2 for one in found)
    assert {seconds for _, seconds in store.remarks().values()} == {1.25}
    assert sorted(store.annotators()) == list(names)
