"""Answers and undo against a plain model, whatever their order; two programs that answer at once."""

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
        st.one_of(
            st.just("undo"),
            st.tuples(
                st.integers(1, 2),
                st.dictionaries(st.sampled_from(FIVE), st.sampled_from([0, 1, None]), max_size=3),
                st.sampled_from([None, "", "a note"]),
            ),
        ),
    ),
    max_size=20,
)


class Model:
    """What one annotator said: (item) -> (values, note), and what stood before each change."""

    def __init__(self) -> None:
        self.now: dict[int, tuple[dict[str, int], str]] = {}
        self.past: list[tuple[int, tuple[dict[str, int], str]]] = []

    def answer(self, item: int, values: dict[str, int | None], note: str | None) -> None:
        before = self.now.get(item, ({}, ""))
        after = {k: v for k, v in {**before[0], **values}.items() if v is not None}
        told = before[1] if note is None else note
        if (after, told) != before:
            self.past.append((item, before))
            self.now[item] = (after, told)

    def undo(self) -> int | None:
        if not self.past:
            return None
        item, before = self.past.pop()
        self.now[item] = before
        return item


@given(steps)
@settings(max_examples=15)
def test_answers_and_undo_are_those_of_the_model(steps: list[Any]) -> None:
    models = {"Ada": Model(), "Bo": Model()}
    with (
        tempfile.TemporaryDirectory() as folder,
        AuditStore.create(Path(folder) / "a.sqlite", [subject(0), subject(1)]) as store,
    ):
        for name, step in steps:
            if step == "undo":
                undone = store.undo(name)
                assert (undone.item if undone else None) == models[name].undo()
            else:
                item, values, note = step
                models[name].answer(item, values, note)
                store.answer(name, item, values, note=note)
        for name, model in models.items():
            for item in (1, 2):
                state = store.state(name, item)
                assert (state.values, state.note) == model.now.get(item, ({}, ""))
                assert state.done == (len(state.values) == len(FIVE))


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
