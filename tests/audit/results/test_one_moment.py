"""Everything shown of an audit is of one moment, whoever answers meanwhile; tables and frames are of one value."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import judge
from judge.base.estimate import Estimate
from judge.explanations.audit import report
from judge.explanations.audit import report as rates
from judge.explanations.audit.adjudication import adjudicate, disputes
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.store import ADJUDICATION, AuditSnapshot, AuditStore, snapshot
from judge.explanations.audit.study_csv import write_study_csv
from judge.show.report import inputs
from judge.show.report.sections import audit as audit_section
from judge.show.report.sections import audit as audit_words

Make = Callable[..., AuditStore]
Said = Callable[[AuditStore, str, int, int], None]


@pytest.fixture
def audit(make_audit: Make, said: Said) -> AuditStore:
    """Ada and Bo on the first of forty items, on which they differ."""
    store = make_audit(40)
    said(store, "Ada", 1, 0)
    said(store, "Bo", 1, 1)
    return store


def test_what_is_answered_between_two_readings_is_in_none(
    audit: AuditStore, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program answers after each thing that is read: the value says what stood when the first was read."""
    read, number = AuditStore.select, 1
    with AuditStore.open(audit.path) as writer:

        def select(self: AuditStore, sql: str, *values: object) -> list[object]:
            nonlocal number
            found = read(self, sql, *values)
            if self is audit:
                number += 1
                said(writer, "Ada", number, 1)
                said(writer, f"Cy {number}", 1, 0)
                adjudicate(writer, "Eve", 1, {writer.categories[number % 5].key: 1})
                writer.add_note(f"note {number}")
            return found

        monkeypatch.setattr(AuditStore, "select", select)
        before = snapshot(audit)
        monkeypatch.undo()
    assert number > 8
    assert before.registered == before.annotation.annotators == ("Ada", "Bo")
    assert (before.notes, before.adjudication.answers) == ((), ())
    assert _fits(before)
    after = snapshot(audit)
    assert len(after.annotation.answers) > len(before.annotation.answers)
    assert _fits(after)


def test_a_value_fits_itself_while_a_thread_answers(audit: AuditStore, said: Said) -> None:
    stop = threading.Event()

    def work() -> None:
        with AuditStore.open(audit.path) as writer:
            for item in range(2, 13):
                for name in ("Ada", "Bo"):
                    said(writer, name, item, int(name == "Bo"))
                adjudicate(writer, "Eve", item, {c.key: 1 for c in writer.categories})
        stop.set()

    thread = threading.Thread(target=work)
    thread.start()
    with AuditStore.open(audit.path, writing=False) as reader:
        while not stop.is_set():
            assert _fits(snapshot(reader))
    thread.join()
    assert len(snapshot(audit).annotation.answers) == 2 * 12 * len(audit.categories)


def _fits(found: AuditSnapshot) -> bool:
    """Whether annotators, answers, seconds and what was settled are of one moment."""
    said, settled = found.annotation, found.adjudication
    known = {answer.annotator for answer in said.answers}
    pairs = {(answer.annotator, answer.item) for answer in said.answers}
    disputed = {(one.item, key) for one in disputes(found) for key in one.disputed}
    return (
        set(said.annotators) == known
        and known | set(settled.annotators) <= set(found.registered)
        and set(said.remarks) == pairs
        and {(answer.item, answer.category) for answer in settled.answers} <= disputed
        and all(answer.done for answer in said.answers)
    )


def test_tables_and_exports_do_not_read_again(audit: AuditStore, said: Said, tmp_path: Path) -> None:
    before = snapshot(audit)
    found = report.report(before)
    shown = audit_tables(found)
    for item in range(1, 7):
        said(audit, "Cy", item, 1)
    adjudicate(audit, "Eve", 1, {"poor_syntax": 1}, note="so it is")
    assert audit_tables(found) == shown == audit_tables(report.report(before))
    write_study_csv(before, tmp_path / "a.csv")
    text = (tmp_path / "a.csv").read_text(encoding="utf-8")
    assert "Cy" not in text
    assert text.count('"Bo"') == 40
    audit.close()
    assert audit_tables(found) == shown


def test_numbers_are_computed_once(audit: AuditStore, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    count = rates.rates

    def counted(found: object, key: str, where: object = None) -> rates.Rates:
        if where is None:
            calls.append(key)
        return count(found, key, where)  # type: ignore[arg-type]

    monkeypatch.setattr(report, "rates", counted)
    found = report.report(snapshot(audit))
    audit_tables(found)
    assert len(found.frame) == len(audit.categories)
    assert sorted(calls) == sorted(category.key for category in audit.categories)


def test_frame_and_tables_are_of_one_value(audit: AuditStore) -> None:
    found = judge.open_audit(audit.path).report(by=("judge",))
    made = {table.title: table for table in audit_tables(found)}
    assert all(isinstance(one.rates.mean, Estimate) for one in found.errors)
    for one, row, shares, agreed in zip(
        found.errors,
        found.frame.to_dict("records"),
        made["Error rates"].rows,
        made["Agreement between annotators"].rows,
        strict=True,
    ):
        assert one.category.label == row["label"] == shares["category"] == agreed["category"]
        assert one.rates.mean.value == row["mean"] == shares["mean"].value
        assert (one.rates.mean.low, one.rates.mean.high) == (row["mean_low"], row["mean_high"])
        assert one.agreement.ac1.estimate.value == row["ac1"] == agreed["ac1"].value
    assert found.frame.attrs["signature"].startswith(f"audit:{audit.audit_id}|")
    assert made["What was answered"].rows[0]["open"] == found.answered.open == len(audit.categories)
    adjudicate(audit, "Eve", 1, {"poor_syntax": 1})
    assert snapshot(audit).adjudication.annotators == tuple(audit.annotators(ADJUDICATION)) == ("Eve",)


def test_a_page_reads_the_audit_once(
    audit: AuditStore, said: Said, run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The headline of a page and its section count the same answers, though an annotator goes on between them."""
    read: list[Path] = []

    def counted(path: Path) -> AuditSnapshot:
        read.append(path)
        return snapshot(audit)

    monkeypatch.setattr(inputs, "read_audit", counted)
    page = inputs.ReportInputs.read([run_folder], inputs.ReportOptions(audit=audit.path))
    facts = audit_words.audit_facts(page)
    said(audit, "Ada", 2, 0)
    section = " ".join(map(str, audit_section.audit_blocks(page)))
    assert facts is not None
    assert facts.finished == 1
    assert "items:1/40" in section
    assert "items:2/40" not in section
    assert read == [audit.path]
