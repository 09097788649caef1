"""The audit file: order, answers, done, names, formats; what it refuses, in sentences."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from judge.answers.journal.database import create as create_journal
from judge.base.errors import DataError, JudgeError, SpecError
from judge.explanations.audit.answers_file import practice_score, practise
from judge.explanations.audit.items import load_form, visible_facts
from judge.explanations.audit.store import AuditStore, snapshot
from tests.audit.conftest import subject

Make = Callable[..., AuditStore]
_PRACTICE = """categories:
- {key: a, label: A, question: A?}
practice:
- {story_prompt: p, story: s, criterion: Coherence, explanation: e, feedback: f, expected: {b: 1}}
"""
FIVE = ("wrong_guideline", "poor_syntax", "superfluous", "unsubstantiated", "incoherence")


def test_the_shipped_categories_are_the_studys_five_kinds(make_audit: Make) -> None:
    store = make_audit()
    assert tuple(c.key for c in store.categories) == FIVE
    assert [c.press for c in store.categories] == list("12345")
    assert [c.key for c in store.categories if c.inverted] == ["wrong_guideline"]


def test_items_come_back_as_they_were(make_audit: Make) -> None:
    store = make_audit(3)
    assert [item.subject for item in store.items()] == [subject(i) for i in range(3)]
    assert store.item(2).subject == subject(1)
    with pytest.raises(DataError, match=r"has no item 4; allowed: 1 to 3"):
        store.item(4)


def test_each_annotator_has_an_order_of_their_own_and_keeps_it(make_audit: Make) -> None:
    store = make_audit(20)
    orders = {name: store.order(name) for name in ("Ada", "Bo", "Cy")}
    assert len({tuple(order) for order in orders.values()}) == 3
    assert all(sorted(order) == list(range(1, 21)) for order in orders.values())
    with AuditStore.open(store.path) as again:
        assert again.order(" Ada ") == orders["Ada"]
    assert make_audit(20, name="other.sqlite", seed=2).order("Ada") != orders["Ada"]


def test_every_commit_is_on_disk_at_once(make_audit: Make) -> None:
    store = make_audit()
    assert store.select("PRAGMA journal_mode") == [("wal",)]
    assert store.select("PRAGMA synchronous") == [(2,)]  # FULL: the log is synced at each commit


def test_an_item_is_done_when_every_category_is_answered(make_audit: Make) -> None:
    store = make_audit()
    state = store.answer("Ada", 1, dict.fromkeys(FIVE[:4], 0))
    assert not state.done
    assert store.done_count("Ada") == 0
    state = store.answer("Ada", 1, {"incoherence": 1}, note="why?", seconds=3)
    assert state.done
    assert (state.note, state.seconds) == ("why?", 3.0)
    state = store.answer("Ada", 1, {"poor_syntax": None}, seconds=1.5)
    assert not state.done
    assert "poor_syntax" not in state.values
    assert (state.note, state.seconds) == ("why?", 4.5)
    assert store.done_count("Ada") == 0
    store.answer("Ada", 1, {"poor_syntax": 0})
    assert store.done_count("Ada") == 1


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"poor_sintax": 1}, "did you mean 'poor_syntax'"),
        ({"poor_syntax": 2}, "was answered 2; allowed: 1"),
        ({"poor_syntax": True}, "was answered True"),
        ({"poor_syntax": "1"}, "was answered '1'"),
    ],
)
def test_other_answers_are_refused_and_nothing_is_kept(make_audit: Make, values: dict[str, int], sentence: str) -> None:
    store = make_audit()
    with pytest.raises(SpecError, match=sentence):
        store.answer("Ada", 1, {"superfluous": 1, **values})
    assert store.answers() == []
    with pytest.raises(SpecError, match="no number of seconds"):
        store.answer("Ada", 1, {}, seconds=-1)
    with pytest.raises(DataError, match="has no item 99"):
        store.answer("Ada", 99, {"superfluous": 1})


def test_names_that_could_be_mixed_up_are_refused(make_audit: Make) -> None:
    store = make_audit()
    assert store.register("  Ada   Lovelace ") == "Ada Lovelace"
    store.answer("Ada\tLovelace", 1, {"poor_syntax": 1})
    assert store.annotators() == ["Ada Lovelace"]
    with pytest.raises(SpecError, match="is known as 'Ada Lovelace'"):
        store.register("ada lovelace")
    for name in ("", " ", "x" * 81, "a\x1b[31m"):
        with pytest.raises(SpecError):
            store.register(name)


def test_only_what_the_audit_is_not_blind_to_is_shown(make_audit: Make) -> None:
    one = make_audit(1).item(1).subject
    assert visible_facts(one, ()) == {"judge": "openai/m0", "eval_prompt": "ep3", "rating": 1.0}
    store = make_audit(1, name="blind.sqlite", blind=("judge", "rating"))
    assert visible_facts(store.item(1).subject, store.blind) == {"eval_prompt": "ep3"}
    with pytest.raises(SpecError, match='blind="people" is not known'):
        make_audit(1, name="no.sqlite", blind=("people",))


def test_practice_is_kept_apart(make_audit: Make) -> None:
    store = make_audit()
    assert len(store.practice) == 5
    for one in store.practice:
        assert set(one.expected.values()) <= {0, 1}
        assert one.feedback
        rest = {key: 0 for key in FIVE if key not in one.expected}
        assert practise(store, "Ada", one.id, one.expected) == (not rest)
        assert practise(store, "Ada", one.id, rest)
    right, given = practice_score(snapshot(store), "Ada")
    assert right == given == sum(len(one.expected) for one in store.practice)
    assert not practise(store, "Ada", 1, {"poor_syntax": 1, "superfluous": None})
    assert practice_score(snapshot(store), "Ada") == (right - 2, given - 1)
    assert store.answers() == []
    assert store.done_count("Ada") == 0
    assert practice_score(snapshot(store), "Bo") == (0, 0)
    with pytest.raises(DataError, match="no practice item 6"):
        practise(store, "Ada", 6, {})


def test_practice_expects_each_error_at_least_once() -> None:
    form = load_form()
    expected = [one.expected for one in form.practice]
    assert {key for one in expected for key, value in one.items() if value} == set(FIVE)
    assert any(not any(one.values()) for one in expected)


def test_another_file_is_refused_in_a_sentence(make_audit: Make, tmp_path: Path) -> None:
    text, journal, other = tmp_path / "a.txt", tmp_path / "journal.sqlite", tmp_path / "o.sqlite"
    text.write_text("these are words, and there are more than a header's worth of them in this file, a hundred or so")
    create_journal(journal).close()
    with closing(sqlite3.connect(other)) as db, db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    made = make_audit()
    made.close()
    later = tmp_path / "later.sqlite"
    later.write_bytes(made.path.read_bytes())
    with closing(sqlite3.connect(later)) as db, db:
        db.execute("UPDATE meta SET value = '2' WHERE key = 'audit_format'")
    db.close()
    sentences = {
        tmp_path / "none.sqlite": "does not exist",
        text: "is not a SQLite file",
        journal: "is a run's journal, not an audit",
        other: "a SQLite file of something else, not an audit",
        later: "is an audit of format 2; this program reads format 1",
    }
    for path, sentence in sentences.items():
        for writing in (True, False):
            with pytest.raises(DataError, match=sentence) as caught:
                AuditStore.open(path, writing=writing)
            assert caught.value.hint


def test_an_audit_is_never_overwritten_and_never_half_made(make_audit: Make, tmp_path: Path) -> None:
    store = make_audit()
    with pytest.raises(DataError, match="exists already"):
        make_audit()
    with pytest.raises(DataError, match="items 1 and 2 are the same explanation"):
        AuditStore.create(tmp_path / "twice.sqlite", [subject(1), subject(1)])
    with pytest.raises(SpecError, match="no explanation to audit"):
        AuditStore.create(tmp_path / "empty.sqlite", [])
    assert sorted(p.name for p in tmp_path.iterdir() if not p.name.startswith(store.path.name)) == []


def test_a_file_that_cannot_be_written_can_be_read(make_audit: Make, tmp_path: Path) -> None:
    store = make_audit()
    store.answer("Ada", 1, {"poor_syntax": 1})
    store.close()
    with AuditStore.open(store.path, writing=False) as reading:
        assert [a.value for a in reading.answers()] == [1]
        with pytest.raises(JudgeError, match="cannot be written"):
            reading.answer("Ada", 1, {"poor_syntax": 0})


def test_threads_share_a_store_and_processes_a_file(make_audit: Make) -> None:
    store = make_audit(30)
    other = AuditStore.open(store.path)
    stores = {"Ada": store, "Bo": store, "Cy": other, "Di": other}
    wrong: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for item in stores[name].order(name):
                stores[name].answer(name, item, dict.fromkeys(FIVE, item % 2), seconds=1)
        except BaseException as error:  # noqa: BLE001  shown by the main thread
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(store.answers()) == 4 * 30 * 5
    assert all(answer.value == answer.item % 2 and answer.done for answer in store.answers())
    other.close()


def test_a_copy_of_the_file_alone_holds_what_was_answered(make_audit: Make, tmp_path: Path) -> None:
    store = make_audit()
    for item in (1, 2, 3):
        store.answer("Ada", item, {c.key: 0 for c in store.categories}, note="x" * 5000)
        copy = tmp_path / f"copy{item}.sqlite"
        copy.write_bytes(store.path.read_bytes())
        with AuditStore.open(copy, writing=False) as copied:
            assert copied.answers() == store.answers()
    # The log is used again from its beginning: it does not grow with the answers.
    log = store.path.with_name(store.path.name + "-wal")
    size = log.stat().st_size
    for i in range(100):
        store.answer("Ada", 1, {"poor_syntax": i % 2})
    assert log.stat().st_size <= 2 * size


@pytest.mark.parametrize("blind", [(), ("judge",), ("judge", "rating")])
def test_what_needs_the_rating_is_asked_otherwise_where_it_is_hidden(make_audit: Make, blind: tuple[str, ...]) -> None:
    store = make_audit(blind=blind)
    asked = {c.key: c.question for c in store.categories}
    assert ("another rating" in asked["wrong_guideline"]) == ("rating" not in blind)
    assert "leave its criterion" in asked["wrong_guideline"]
    assert asked["poor_syntax"] == next(c.question for c in load_form().categories if c.key == "poor_syntax")


def test_categories_of_ones_own(make_audit: Make, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "categories:\n- {key: invented, label: Invented, question: Is it invented?, press: i}\n"
        "- {key: vague, label: Vague, question: Is it vague?}\n",
        encoding="utf-8",
    )
    store = make_audit(form=load_form(file))
    assert [(c.key, c.press, c.column, c.inverted) for c in store.categories] == [
        ("invented", "i", "Answer.invented", False),
        ("vague", "2", "Answer.vague", False),
    ]
    assert store.practice == ()
    assert store.answer("Ada", 1, {"invented": 0, "vague": 1}).done


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("categories: []\n", "line 1"),
        (
            "categories:\n- {key: a, label: A, question: A?, press: u}\n",
            "line 2: press 'u' must be one letter or digit",
        ),
        (
            "categories:\n- {key: a, label: A, question: A?}\n- {key: a, label: B, question: B?}\n",
            "two categories have",
        ),
        ("categories:\n- {key: a, label: A, question: A?, pres: x}\n", "did you mean 'press'"),
        (_PRACTICE, "line 4: category 'b' is not known"),
    ],
)
def test_mistakes_in_a_categories_file_name_the_line(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SpecError, match=sentence):
        load_form(file)
