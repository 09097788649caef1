"""kill -9 of a program that answers: what it reported as committed is there, whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.explanations.audit.store import AuditStore

_WRITER = """
import sys
from judge.explanations.audit.store import AuditStore

store = AuditStore.open(sys.argv[1])
keys = [c.key for c in store.categories]
for turn in range(10**6):
    for item in store.order("Ada"):
        values = {key: (turn + item + i) % 2 for i, key in enumerate(keys)}
        store.answer("Ada", item, values, note=f"turn {turn}")
        print(turn, item, flush=True)
"""


@pytest.mark.parametrize("after", [1, 7, 23, 60])
def test_nothing_that_was_committed_is_lost(make_audit: Callable[..., AuditStore], after: int) -> None:
    store = make_audit(8)
    keys = [c.key for c in store.categories]
    store.close()
    root = Path(__file__).resolve().parents[3]
    writer = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(store.path)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    assert writer.stdout is not None
    told = [writer.stdout.readline() for _ in range(after)]
    writer.send_signal(signal.SIGKILL)
    told += writer.stdout.readlines()
    writer.wait()
    writer.stdout.close()
    last = {int(item): int(turn) for turn, item in (line.split() for line in told if line.endswith("\n"))}
    assert len(told) >= after
    with AuditStore.open(store.path) as again:
        assert again.select("PRAGMA integrity_check") == [("ok",)]
        for item, turn in last.items():
            state = again.state("Ada", item)
            assert state.done
            # The next answer may have been committed and the kill come before it was told.
            kept = int(state.note.removeprefix("turn "))
            assert kept in (turn, turn + 1)
            assert state.values == {key: (kept + item + i) % 2 for i, key in enumerate(keys)}
        ahead = [i for i in last if int(again.state("Ada", i).note.removeprefix("turn ")) != last[i]]
        assert len(ahead) <= 1
        again.answer("Ada", 1, {keys[0]: 1})
