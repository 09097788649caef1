"""An audit's pages over a real socket: what is shown, what is hidden, and what is taken."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from judge.base.errors import SpecError
from judge.cli.main import main
from judge.explanations.audit.adjudication import disputes
from judge.explanations.audit.answers_file import practice_score
from judge.explanations.audit.store import AuditStore, snapshot
from judge.show.web.access import access_for
from judge.show.web.audit_annotators import Annotators
from judge.show.web.audit_pages import application, lasting_key, page, write_pack
from tests.web.audits import MARKUP, SECRET_JUDGE, SECRET_SYSTEM, make_audit
from tests.web.conftest import Served

KEYS = ("wrong_guideline", "poor_syntax", "superfluous", "unsubstantiated", "incoherence")
NONE = dict.fromkeys(KEYS, 0)


class Audited:
    """A served audit, and its store as the server has it."""

    def __init__(self, start: Callable[..., Served], store: AuditStore) -> None:
        self.store, self.sent = store, 0
        self.owners = Annotators(store)
        self.server = start(lambda access: application(store, access))

    def begin(self, name: str) -> tuple[int, Any, str]:
        body = urlencode({"name": name}).encode()
        # As the browser that began.
        cookie = (
            f"{self.owners.cookie(name)}={self.owners.key(name)}"
            if 0 < len(name.strip()) < 81 and name.isprintable()
            else ""
        )
        path = f"/start?token={self.server.access.token}"
        return self.server.ask(path, method="POST", body=body, Cookie=cookie)

    def task(self, name: str, path: str = "annotate") -> dict[str, Any]:
        return task_in(self.server.ask(self.owners.link(name, f"/{path}"))[2])

    def send(self, path: str, value: Any, **more: str) -> tuple[int, str]:
        if not isinstance(value, bytes):
            name = str(value.get("annotator"))
            value = {"own": self.owners.key(name if name.strip() and name.isprintable() else "nobody")} | value
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        status, _, text = self.server.ask(
            path, method="POST", body=body, X_Judge_Token=self.server.access.token, **more
        )
        return status, text

    def answer(self, name: str, item: int, values: dict[str, int], **more: Any) -> tuple[int, str]:
        self.sent += 1
        whole = {"audit": self.store.audit_id, "annotator": name, "round": 1, "item": item, "values": values}
        return self.send("/answers", whole | {"message": f"tab-{self.sent}", "note": "", "seconds": 3} | more)


def task_in(page: str) -> dict[str, Any]:
    """The data that a page gives to its script; the browser ends the element where this does."""
    found = re.search(r'<script type="application/json" id="task">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


@pytest.fixture
def audit(served: Callable[..., Served], tmp_path: Path) -> Iterator[Audited]:
    with make_audit(tmp_path / "audit.sqlite") as store:
        yield Audited(served, store)


def test_a_name_begins_an_audit_and_a_link_alone_does_not(audit: Audited) -> None:
    status, _, text = audit.server.ask()
    assert status == 200
    assert all(category.question in text for category in audit.store.categories)
    assert "Judge explanations" in audit.server.ask("/annotate?name=Nobody")[2]
    assert audit.store.registered() == []
    status, _, text = audit.begin("  Ada   Lovelace ")
    assert status == 200
    assert len(task_in(text)["items"]) == 3
    assert audit.store.registered() == ["Ada Lovelace"]
    audit.begin("ada lovelace")
    assert audit.store.registered() == ["Ada Lovelace"]
    for wrong, said in (("", "needs a name"), ("x" * 81, "at most 80"), ("a\u200bb", "cannot be printed")):
        status, _, text = audit.begin(wrong)
        assert (status, said in text, "Traceback" in text) == (400, True, False), wrong


def test_names_are_escaped_and_progress_is_shown(audit: Audited) -> None:
    name = '<b onclick="x">Bob</b>'
    audit.begin(name)
    assert audit.answer(name, 1, NONE)[0] == 200
    text = audit.server.ask()[2]
    assert "<b onclick" not in text
    assert "&lt;b onclick=" in text
    assert "1 of 3 done" in text
    assert "<b onclick" not in audit.server.ask(audit.owners.link(name))[2]


def test_markup_in_stories_and_explanations_stays_text(audit: Audited) -> None:
    audit.begin("Ada")
    text = audit.server.ask(audit.owners.link("Ada"))[2]
    assert "<script>document" not in text
    assert "<img src=x" not in text
    # The data element holds every text as it is: its end is not ended by a text, and no template was run.
    task = task_in(text)
    shown = next(item for item in task["items"] if item["id"] == 1)
    story = task["stories"][shown["story"]]
    assert shown["explanation"].startswith(MARKUP)
    assert (story["prompt"], story["reference"]) == (MARKUP, MARKUP)
    assert story["text"].startswith(MARKUP)


def test_facts_that_are_hidden_are_not_in_the_page(served: Callable[..., Served], tmp_path: Path) -> None:
    with make_audit(tmp_path / "blind.sqlite", blind=("judge", "eval_prompt", "rating")) as store:
        blind = Audited(served, store)
        blind.begin("Ada")
        for text in (blind.server.ask(blind.owners.link("Ada"))[2], page(store, "Ada")):
            for secret in (SECRET_JUDGE, SECRET_SYSTEM, "ep3-secret"):
                assert secret not in text
            assert [item["rating"] for item in task_in(text)["items"]] == [None] * 3
            assert [item["facts"] for item in task_in(text)["items"]] == [[]] * 3
    with make_audit(tmp_path / "open.sqlite", blind=("judge",)) as store:
        text = page(store, "Ada")
        assert SECRET_JUDGE not in text
        assert SECRET_SYSTEM not in text
        assert task_in(text)["items"][0]["facts"] == [["Eval-Prompt", "ep3-secret"], ["Rating", "4"]]


def test_a_hidden_rating_is_not_asked_about(tmp_path: Path) -> None:
    for name, blind in (("open", ()), ("blind", ("judge", "rating"))):
        with make_audit(tmp_path / f"{name}.sqlite", blind=blind) as store:
            assert ("that the guidelines give to another rating" in page(store, "Ada")) == (not blind)


def test_a_story_that_is_its_own_reference_is_not_told_by_it(tmp_path: Path) -> None:
    with make_audit(tmp_path / "first.sqlite") as store:
        subjects = [item.subject for item in store.items()]
    original = replace(subjects[1], reference=f"{subjects[1].text} \n", system="original")
    with AuditStore.create(tmp_path / "audit.sqlite", [original, subjects[0]]) as store:
        task = task_in(page(store, "Ada"))
    shown = {item["id"]: task["stories"][item["story"]]["reference"] for item in task["items"]}
    assert shown == {1: None, 2: MARKUP}


def test_the_same_message_again_changes_nothing(audit: Audited) -> None:
    for _ in range(3):
        status, text = audit.answer("Ada", 1, {"poor_syntax": 1}, note="n", seconds=7.5, message="tab-first")
        stored = {"item": 1, "done": False, "values": {"poor_syntax": 1}, "note": "n", "seconds": 7.5, "revision": 1}
        assert (status, json.loads(text)) == (200, stored)
    assert json.loads(audit.answer("Ada", 1, NONE, note="n", seconds=1.5)[1])["done"]
    state = audit.store.state("Ada", 1)
    assert (state.values, state.note, state.seconds, state.revision) == (NONE, "n", 9, 2)
    # What a page takes back is unanswered in the file.
    assert audit.answer("Ada", 1, dict.fromkeys(NONE) | {"superfluous": 1}, note="", seconds=0)[0] == 200
    assert audit.store.state("Ada", 1).values == {"superfluous": 1}
    assert audit.task("Ada")["states"] == {"1": {"values": {"superfluous": 1}, "note": "", "seconds": 9}}
    # The first message, sent again at last, is still the same message.
    assert audit.answer("Ada", 1, {"poor_syntax": 1}, note="n", seconds=7.5, message="tab-first")[0] == 200
    assert audit.store.state("Ada", 1).values == {"superfluous": 1}


def test_a_tab_that_was_opened_earlier_takes_nothing_back(audit: Audited) -> None:
    """It knows no answer of the other tab, and sends its own alone: all others, the note and `done` stay."""
    assert audit.answer("Ada", 1, NONE, note="seen", message="new-1")[0] == 200
    status, text = audit.answer("Ada", 1, {"poor_syntax": 1}, note=None, message="old-1")
    told = json.loads(text)
    assert (status, told["done"], told["note"]) == (200, True, "seen")
    assert told["values"] == NONE | {"poor_syntax": 1}
    # The order in which messages come decides, and every change is in the history.
    assert json.loads(audit.answer("Ada", 1, {"poor_syntax": 0}, message="new-2")[1])["values"] == NONE
    with closing(sqlite3.connect(audit.store.path)) as db:
        steps = [json.loads(after)["values"] for (after,) in db.execute("SELECT after FROM history ORDER BY id")]
    assert steps == [NONE, NONE | {"poor_syntax": 1}, NONE]


def test_another_annotators_message_of_the_same_name_is_another(audit: Audited) -> None:
    for name in ("Ada", "Bob"):
        assert audit.answer(name, 1, {"poor_syntax": 1}, message="tab-1")[0] == 200
    assert [audit.store.state(name, 1).values for name in ("Ada", "Bob")] == [{"poor_syntax": 1}] * 2


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"values": {"poor_syntax": 2}}, "values.poor_syntax"),
        ({"values": {"poor_syntax": True}}, "values.poor_syntax"),
        ({"values": {"no_such": 1}}, "category 'no_such' is not known"),
        ({"item": 99}, "has no item 99"),
        ({"item": "1"}, "item: "),
        ({"item": 10**30}, "item: "),
        ({"seconds": -1}, "seconds"),
        ({"note": "x" * 20_001}, "note"),
        ({"annotator": ""}, "annotator"),
        ({"annotator": "a\u0000b"}, "cannot be printed"),
        ({"round": 2}, "round"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_wrong_answer_is_a_sentence(audit: Audited, change: dict[str, Any], said: str) -> None:
    status, text = audit.answer("Ada", **({"item": 1, "values": NONE} | change))
    assert (status, said in text, "Traceback" in text, "<" in text) == (400, True, False, False), text
    assert audit.store.answers() == []


def test_what_is_no_answer_at_all_is_refused(audit: Audited) -> None:
    for body in (b"", b"{", b"[]", b"null", b'{"audit": 1}', b"\xff\xfe"):
        assert audit.send("/answers", body)[0] == 400, body
    assert audit.send("/answers", b"x" * 1_100_000)[0] == 413
    assert audit.server.ask("/answers")[0] == 405
    assert audit.server.ask("/no/such/page")[0] == 404
    whole = {"audit": "another", "annotator": "Ada", "round": 1, "item": 1, "values": {}, "note": "", "seconds": 1}
    whole["message"] = "tab-1"
    status, text = audit.send("/answers", whole)
    assert (status, "another audit" in text) == (409, True)
    for path in ("/answers", "/practice", "/settled", "/start"):
        assert audit.server.ask(path, method="POST", body=b"{}")[0] == 403, path
    assert audit.store.answers() == []


def test_practice_is_kept_apart(audit: Audited) -> None:
    audit.begin("Ada")
    whole = {"audit": audit.store.audit_id, "annotator": "Ada", "round": 1, "practice": 1, "values": NONE}
    assert audit.send("/practice", whole) == (200, '{"practice":1,"done":true}')
    assert audit.send("/practice", whole | {"practice": 9})[0] == 400
    assert audit.task("Ada")["practised"] == {"1": NONE}
    assert practice_score(snapshot(audit.store), "Ada") == (5, 5)
    assert audit.store.answers() == []


def test_two_annotators_at_once(audit: Audited) -> None:
    failures: list[Any] = []

    def annotate(name: str, value: int) -> None:
        for i in range(30):
            answer = audit.answer(name, i % 3 + 1, dict.fromkeys(KEYS, value), seconds=i)
            if answer[0] != 200:
                failures.append(answer)

    threads = [threading.Thread(target=annotate, args=("Ada", 1)), threading.Thread(target=annotate, args=("Bob", 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    got = {(one.annotator, one.item, one.category): one.value for one in audit.store.answers()}
    assert got == {(name, item, key): v for name, v in (("Ada", 1), ("Bob", 0)) for item in (1, 2, 3) for key in KEYS}


def test_a_file_that_cannot_be_written_is_no_mistake_of_the_annotators(audit: Audited) -> None:
    import sqlite3

    assert audit.answer("Ada", 1, NONE)[0] == 200
    other = sqlite3.connect(audit.store.path, isolation_level=None)
    audit.store.select("PRAGMA busy_timeout = 50")
    other.execute("BEGIN IMMEDIATE")
    status, text = audit.answer("Ada", 2, NONE)
    assert (status, "another program" in text) == (503, True), text
    other.execute("ROLLBACK")
    other.close()
    assert audit.answer("Ada", 2, NONE)[0] == 200


def test_the_second_round_settles_what_differs_and_only_that(audit: Audited) -> None:
    audit.answer("Ada", 1, NONE, note="fine")
    audit.answer("Bob", 1, NONE | {"superfluous": 1}, note="retells")
    audit.answer("Ada", 2, NONE)
    task = audit.task("Zoe", "adjudicate")
    assert [(item["id"], item["categories"], item["by"]) for item in task["items"]] == [(1, ["superfluous"], None)]
    given = dict(task["items"][0]["given"])
    assert {name: (one["values"]["superfluous"], one["note"]) for name, one in given.items()} == {
        "Ada": (0, "fine"),
        "Bob": (1, "retells"),
    }
    whole = {"audit": audit.store.audit_id, "annotator": "Zoe", "round": 2, "item": 1, "note": "it does", "seconds": 4}
    whole["message"] = "settled-1"
    assert audit.send("/settled", whole | {"values": {"poor_syntax": 1}})[0] == 400
    assert audit.send("/settled", whole | {"item": 2, "values": {"poor_syntax": 1}})[0] == 400
    for _ in range(2):
        status, text = audit.send("/settled", whole | {"values": {"superfluous": 1}})
        assert (status, json.loads(text)["done"], json.loads(text)["seconds"]) == (200, True, 4)
    status, text = audit.send(
        "/settled", whole | {"annotator": "Mallory", "message": "settled-2", "values": {"superfluous": 0}}
    )
    assert (status, "settled by 'Zoe'" in text) == (400, True)
    (dispute,) = disputes(snapshot(audit.store))
    assert (dispute.settled, dispute.by, dispute.open) == ({"superfluous": 1}, ("Zoe",), ())
    assert audit.store.remarks(round_no=2)["Zoe", 1] == ("it does", 4)
    # Another adjudicator sees the decision and who made it.
    seen = audit.task("Mallory", "adjudicate")
    assert (seen["items"][0]["by"], seen["states"]["1"]["values"]) == ("Zoe", {"superfluous": 1})
    # Whoever only settles is no annotator.
    assert "Zoe" not in audit.server.ask()[2]


def test_results_are_on_their_own_page_alone(audit: Audited) -> None:
    for item in (1, 2, 3):
        audit.answer("Ada", item, NONE | {"superfluous": int(item == 1)})
        audit.answer("Bob", item, NONE)
    text = audit.server.ask("/results")[2]
    assert "AC1" in text
    assert "Annotators differ on 1 item;" in text
    for path in ("/", audit.owners.link("Ada")):
        shown = audit.server.ask(path)[2]
        assert "AC1" not in shown
        assert "/results" not in shown


def test_results_do_not_say_that_people_agree_before_two_of_them_finished_an_item(audit: Audited) -> None:
    alone = "No item has been finished by two annotators yet"
    assert alone in audit.server.ask("/results")[2]
    audit.answer("Ada", 1, NONE)
    assert alone in audit.server.ask("/results")[2]
    audit.answer("Bob", 1, NONE)
    text = audit.server.ask("/results")[2]
    assert alone not in text
    assert "Annotators do not differ on any item that two of them finished." in text


def test_a_pack_is_one_file_a_name(audit: Audited, tmp_path: Path) -> None:
    audit.answer("Ada", 1, NONE, note="known to the server alone")
    written = write_pack(audit.store, ["Ada", "Bob B.", "bob-b-"], tmp_path / "pack")
    assert [path.name for path in written] == ["audit-Ada.html", "audit-Bob_B_.html", "audit-bob_b__.html"]
    text = written[0].read_text()
    assert "known to the server alone" not in text
    assert not re.search(r"""(src|href)=["'](?!data:|#main)""", text)
    assert "http" not in text.replace("http-equiv", "")
    for wrong in (["Ada", "ada"], [" "]):
        with pytest.raises(SpecError):
            write_pack(audit.store, wrong, tmp_path / "pack")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SpecError, match="cannot be written"):
        write_pack(audit.store, ["Ada"], tmp_path / "taken")


def test_links_for_other_machines_outlast_the_server(audit: Audited) -> None:
    key = lasting_key(audit.store)
    assert len(key) > 16
    with AuditStore.open(audit.store.path) as again:
        assert lasting_key(again) == key
    assert access_for("192.0.2.1", key).key == key
    assert access_for("127.0.0.1", key).key is None
    assert key not in page(audit.store, "Ada")


def test_the_front_page_sets_no_pace_and_opens_nobodys_answers(audit: Audited) -> None:
    before = audit.server.ask()[2]
    assert "about 3 minutes, if an item takes one minute" in before
    for item, seconds in ((1, 20), (2, 40), (3, 90)):
        audit.answer("Ada", item, NONE, seconds=seconds)
    after = audit.server.ask()[2]
    intro = re.compile(r'<div class="audit-intro">.*?</div>', re.DOTALL)
    assert intro.findall(after) == intro.findall(before) != []
    assert "all 3 done" in after
    # A name is typed, or remembered by one's own browser: none is a link to that person's answers.
    assert "/annotate" not in after


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["serve", "none.sqlite", "--port", "0"], "none.sqlite: does not exist"),
        (["serve", "audit.sqlite", "--port", "99999"], "no page can be served"),
        (["pack", "none.sqlite", "--annotators", "Ada", "-o", "pack"], "none.sqlite: does not exist"),
        (["pack", "audit.sqlite", "--annotators", " , ", "-o", "pack"], "--annotators names nobody"),
        (["pack", "audit.sqlite", "--annotators", "Ada,ada", "-o", "pack"], "names 'Ada' twice"),
        (["pack", "audit.sqlite", "--annotators", "Ada", "-o", "audit.sqlite"], "cannot be written"),
    ],
)
def test_mistakes_on_the_command_line_are_sentences(
    command: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    make_audit(Path("audit.sqlite")).close()
    with pytest.raises(SystemExit) as left:
        main(["audit", *command])
    shown = capsys.readouterr().err
    assert (left.value.code, said in shown, "Traceback" in shown) == (1, True, False), shown
