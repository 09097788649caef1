"""The second round: the queue, who may settle what, undo, and final rates."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from judge.base.errors import DataError
from judge.explanations.audit.adjudication import adjudicate, disputes
from judge.explanations.audit.answer_matrix import answered
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.report import rates, report
from judge.explanations.audit.store import AuditStore, snapshot

Make = Callable[..., AuditStore]
Said = Callable[[AuditStore, str, int, int], None]


@pytest.fixture
def differing(make_audit: Make, said: Said) -> AuditStore:
    """Three annotators: all say no to all of items 1 to 3, but Bo yes to two errors of 1; Cy has begun 4, alone."""
    store = make_audit()
    for name in ("Ada", "Bo"):
        for item in (1, 2, 3):
            said(store, name, item, 0)
    store.answer("Bo", 1, {"poor_syntax": 1, "superfluous": 1}, note="see line 2")
    store.answer("Cy", 2, {"poor_syntax": 1})
    return store


def test_only_finished_items_on_which_annotators_differ_are_in_the_queue(differing: AuditStore) -> None:
    (one,) = disputes(snapshot(differing))
    assert (one.item, one.disputed, one.open, one.by) == (1, ("poor_syntax", "superfluous"), one.disputed, ())
    assert one.given["poor_syntax"] == {"Ada": 0, "Bo": 1}


def test_settling_leaves_the_first_round_alone(differing: AuditStore) -> None:
    before = differing.answers()
    adjudicate(differing, "Di", 1, {"poor_syntax": 1})
    (one,) = disputes(snapshot(differing))
    assert (one.settled, one.open, one.by) == ({"poor_syntax": 1}, ("superfluous",), ("Di",))
    assert differing.answers() == before
    assert differing.annotators() == ["Ada", "Bo", "Cy"]
    with pytest.raises(DataError, match="item 1 is settled by 'Di' already"):
        adjudicate(differing, "Ed", 1, {"poor_syntax": 0})
    with pytest.raises(DataError, match="do not differ on 'incoherence' of item 1"):
        adjudicate(differing, "Di", 1, {"incoherence": 0})
    with pytest.raises(DataError, match="of item 2"):
        adjudicate(differing, "Di", 2, {"poor_syntax": 0})
    adjudicate(differing, "Di", 1, {"poor_syntax": None})
    assert disputes(snapshot(differing))[0].settled == {}
    adjudicate(differing, "Ed", 1, {"poor_syntax": 0})


def test_final_rates_come_from_what_was_settled_and_what_nobody_disputed(differing: AuditStore) -> None:
    assert rates(answered(snapshot(differing)), "poor_syntax").final.value is None
    adjudicate(differing, "Di", 1, {"poor_syntax": 1})
    found = answered(snapshot(differing))
    assert (found.settled, found.open, found.begun) == (1, 1, 1)
    final = {key: rates(found, key).final for key in ("poor_syntax", "superfluous", "incoherence")}
    assert {key: (one.value, one.n) for key, one in final.items()} == {
        "poor_syntax": (pytest.approx(1 / 3), 3),
        "superfluous": (0.0, 2),  # item 1 is not settled: left out, not guessed
        "incoherence": (0.0, 3),
    }
    made = {one.title: one for one in audit_tables(report(snapshot(differing)))}
    assert "1 answers that were not adjudicated are left out" in " ".join(made["Error rates"].notes)
    assert (
        made["What was answered"].rows[0] | {"settled": 1, "open": 1, "begun": 1} == made["What was answered"].rows[0]
    )
    (listed,) = made["Disagreements"].rows
    assert listed["final"] == "Poor syntax: yes"
    assert listed["notes"] == "Bo: see line 2"
    assert "settled:1/2" in made["Error rates"].signature
