"""Answers out of an audit and back, in three forms, whatever texts and answers they hold."""

from __future__ import annotations

import json
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import DataError
from judge.explanations.audit.answers_file import FORMAT, import_answers, write_answers
from judge.explanations.audit.items import Facts, Subject
from judge.explanations.audit.label_studio import import_annotations, import_file, write_tasks
from judge.explanations.audit.store import AuditStore, snapshot
from judge.explanations.audit.study_csv import import_study_csv, write_study_csv
from tests.audit.conftest import COHERENCE, subject

Make = Callable[..., AuditStore]
GOLDEN = Path(__file__).resolve().parents[2] / "golden"
FIVE = ("wrong_guideline", "poor_syntax", "superfluous", "unsubstantiated", "incoherence")

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
names = st.sampled_from(["Ada", "Bo", "Zoë Ångström", "=cmd()", 'a,"b"'])
values = st.dictionaries(st.sampled_from(FIVE), st.integers(0, 1), min_size=1)
answers = st.dictionaries(st.tuples(names, st.integers(1, 3)), st.tuples(values, texts | st.just("")), max_size=8)


def filled(folder: Path, name: str, explanations: list[str], said: dict[Any, Any]) -> AuditStore:
    """An audit of these three explanations with these answers."""
    subjects = [Subject(explanation=text, story=str(i), criterion=COHERENCE) for i, text in enumerate(explanations)]
    store = AuditStore.create(folder / name, subjects)
    for (annotator, item), (values, note) in said.items():
        store.answer(annotator, item, values, note=note, seconds=item / 3)
    return store


def everything(store: AuditStore) -> dict[tuple[str, int], Any]:
    """Values, note and seconds of every annotator and item."""
    pairs = {(a.annotator, a.item) for a in store.answers()}
    states = {pair: store.state(*pair) for pair in pairs}
    return {pair: (one.values, one.note, one.seconds) for pair, one in states.items()}


@given(st.lists(texts, min_size=3, max_size=3), answers)
@settings(max_examples=12)
def test_the_csv_brings_every_answer_back(explanations: list[str], said: dict[Any, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with (
            filled(place, "a.sqlite", explanations, said) as store,
            filled(place, "b.sqlite", explanations, {}) as other,
        ):
            if not said:
                with pytest.raises(DataError, match="has no answers yet"):
                    write_study_csv(snapshot(store), place / "a.csv")
                return
            write_study_csv(snapshot(store), place / "a.csv")
            import_study_csv(other, place / "a.csv")
            assert everything(other) == everything(store)
            before = everything(other)
            assert import_study_csv(other, place / "a.csv").new == 0
            assert everything(other) == before


@given(st.lists(texts, min_size=3, max_size=3), answers)
@settings(max_examples=10)
def test_an_answers_file_brings_one_annotators_answers_back(explanations: list[str], said: dict[Any, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with filled(place, "a.sqlite", explanations, said) as store:
            copy = place / "b.sqlite"
            for name in store.annotators():
                write_answers(snapshot(store), name, place / f"{name[:1]}.json")
            copied = AuditStore.create(copy, [item.subject for item in store.items()])
            copied.close()
            for name in store.annotators():
                whole = json.loads((place / f"{name[:1]}.json").read_text(encoding="utf-8"))
                with AuditStore.open(copy) as other:
                    whole["audit"] = other.audit_id
                    (place / "in.json").write_text(json.dumps(whole), encoding="utf-8")
                    import_answers(other, place / "in.json")
            with AuditStore.open(copy) as other:
                assert everything(other) == everything(store)


def annotated(tasks: list[dict[str, Any]], said: dict[Any, Any]) -> list[dict[str, Any]]:
    """Label Studio's JSON export of these tasks, in the form its documentation shows."""
    out = []
    for number, task in enumerate(tasks, start=1):
        made = []
        for (annotator, item), (chosen, note) in said.items():
            if item != task["data"]["item"]:
                continue
            result = [
                {
                    "id": f"r{key}",
                    "from_name": key,
                    "to_name": "explanation",
                    "type": "choices",
                    "origin": "manual",
                    "value": {"choices": ["yes" if value else "no"]},
                }
                for key, value in chosen.items()
            ]
            if note:
                value = {"text": [note]}
                result.append({"from_name": "note", "to_name": "explanation", "type": "textarea", "value": value})
            who = {"completed_by": {"id": 7, "email": annotator}, "lead_time": item / 3, "was_cancelled": False}
            made.append({"id": len(made) + 1, "result": result, **who})
        made.append({"id": 99, "result": [], "completed_by": 3, "was_cancelled": True})
        out.append({"id": 100 + number, "data": task["data"], "annotations": made, "predictions": []})
    return out


@given(st.lists(texts, min_size=3, max_size=3), answers)
@settings(max_examples=10)
def test_label_studio_brings_every_answer_back(explanations: list[str], said: dict[Any, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        with (
            filled(place, "a.sqlite", explanations, said) as store,
            filled(place, "b.sqlite", explanations, {}) as other,
        ):
            write_tasks(snapshot(other), place / "tasks.json")
            tasks = json.loads((place / "tasks.json").read_text(encoding="utf-8"))
            assert [task["data"]["explanation"] for task in tasks] == explanations
            export = annotated(tasks, said)
            (place / "export.json").write_text(json.dumps(export), encoding="utf-8")
            import_annotations(other, place / "export.json")
            assert everything(other) == everything(store)


def test_annotations_made_by_label_studios_sdk_are_read(make_audit: Make, tmp_path: Path) -> None:
    # tests/golden/label_studio.py: the SDK took our configuration and tasks, and made these annotations for them.
    golden = json.loads((GOLDEN / "label_studio.json").read_text(encoding="utf-8"))
    store = make_audit(3)
    write_tasks(snapshot(store), tmp_path / "tasks.json")
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    tasks[1]["annotations"] = golden
    (tmp_path / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    merged = import_annotations(store, tmp_path / "export.json")
    assert (merged.annotators, merged.new) == (("Label Studio 10", "Label Studio 11", "Label Studio 12"), 15)
    for annotation in golden:
        state = store.state(f"Label Studio {annotation['completed_by']}", 2)
        said = {r["from_name"]: r["value"] for r in annotation["result"]}
        assert state.note == "\n".join(said.pop("note")["text"])
        assert {key: ["no", "yes"][value] for key, value in state.values.items()} == {
            key: value["choices"][0] for key, value in said.items()
        }
        assert (state.done, state.seconds) == (True, 4.25)


def test_the_labeling_configuration_asks_every_category(make_audit: Make, tmp_path: Path) -> None:
    store = make_audit(blind=("judge",))
    config = ET.parse(write_tasks(snapshot(store), tmp_path / "tasks.json")).getroot()  # noqa: S314  our own file
    assert [c.get("name") for c in config.iter("Choices")] == list(FIVE)
    assert all([c.get("value") for c in choices] == ["yes", "no"] for choices in config.iter("Choices"))
    assert [c.get("hotkey") for c in config.iter("Choice") if c.get("hotkey")] == list("12345")
    tasks = json.loads((tmp_path / "tasks.json").read_text(encoding="utf-8"))
    used = {text.get("value", "").removeprefix("$") for text in config.iter("Text")}
    assert used == {"story_prompt", "story", "criterion", "guidelines", "facts", "explanation"}
    assert used <= set(tasks[0]["data"])
    assert tasks[0]["data"]["facts"] == "eval prompt: ep3, rating: 1.0"
    assert "openai/m0" not in (tmp_path / "tasks.json").read_text(encoding="utf-8")


def test_annotators_without_an_address_go_by_number(make_audit: Make, tmp_path: Path) -> None:
    store = make_audit()
    write_tasks(snapshot(store), tmp_path / "tasks.json")
    export = annotated(json.loads((tmp_path / "tasks.json").read_text("utf-8")), {("x", 1): ({"poor_syntax": 1}, "")})
    export[0]["annotations"][0]["completed_by"] = 12
    (tmp_path / "e.json").write_text(json.dumps(export), encoding="utf-8")
    import_file(store.path, tmp_path / "e.json")
    assert store.annotators() == ["Label Studio 12"]


def _twice(export: list[Any]) -> None:
    export[0]["annotations"].insert(0, export[0]["annotations"][0])


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda e: e[0]["data"].update(key="b2:0"), "does not hold this task's item"),
        (
            lambda e: e[0]["annotations"][0]["result"][0].update(from_name="tone"),
            "no category of the audit has this name",
        ),
        (lambda e: e[0]["annotations"][0]["result"][0]["value"].update(choices=["yes", "no"]), "not an answer"),
        (lambda e: e[0]["annotations"][0].pop("completed_by"), "does not say who made it"),
        (_twice, "x has annotated item 1 twice"),
    ],
)
def test_a_broken_label_studio_export_changes_nothing(
    make_audit: Make, tmp_path: Path, change: Callable[[Any], None], sentence: str
) -> None:
    store = make_audit()
    write_tasks(snapshot(store), tmp_path / "tasks.json")
    export = annotated(json.loads((tmp_path / "tasks.json").read_text("utf-8")), {("x", 1): ({"poor_syntax": 1}, "")})
    change(export)
    (tmp_path / "e.json").write_text(json.dumps(export), encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        import_file(store.path, tmp_path / "e.json")
    assert store.answers() == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"audit": "000000000000"}, "belongs to another audit"),
        ({"format": "judge-audit-answers/9"}, "format: Input should be"),
        ({"answers": [{"item": 1, "key": "b2:0", "values": {"poor_syntax": 1}}]}, "item 1 is not this audit's item 1"),
        ({"answers": [{"item": 1, "key": "x", "values": {"poor_syntax": 2}}]}, "less than or equal to 1"),
        ({"answers": [{"item": 1, "key": "x", "values": {"poor_syntax": True}}]}, "valid integer"),
        ({"extra": 1}, "extra: Extra inputs"),
    ],
)
def test_an_answers_file_that_does_not_fit_is_refused(
    make_audit: Make, tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    store = make_audit()
    row = {"item": 1, "key": store.item(1).key, "values": {"poor_syntax": 1}}
    whole = {"format": FORMAT, "audit": store.audit_id, "annotator": "Ada", "answers": [row]}
    (tmp_path / "a.json").write_text(json.dumps(whole | change), encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        import_file(store.path, tmp_path / "a.json")
    assert store.answers() == []
    (tmp_path / "a.json").write_text(json.dumps(whole), encoding="utf-8")
    merged, _ = import_file(store.path, tmp_path / "a.json")
    assert (merged.new, store.state("Ada", 1).values) == (1, {"poor_syntax": 1})


def test_texts_that_look_like_markup_go_through_as_text(tmp_path: Path) -> None:
    nasty = '<script>alert("x")</script> & {{ story }} $story\n=1+1'
    with AuditStore.create(tmp_path / "a.sqlite", [subject(0, explanation=nasty, text=nasty)]) as store:
        write_tasks(snapshot(store), tmp_path / "t.json")
        task = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))[0]
        assert task["data"]["explanation"] == task["data"]["story"] == nasty
        store.answer("Ada", 1, {"poor_syntax": 1})
        write_study_csv(snapshot(store), tmp_path / "t.csv")
        with AuditStore.create(tmp_path / "b.sqlite", [subject(0, explanation=nasty, text=nasty)]) as other:
            import_study_csv(other, tmp_path / "t.csv")
            assert other.state("Ada", 1).values == {"poor_syntax": 1}


def test_facts_that_are_not_known_stay_unknown() -> None:
    assert Facts().weight is None
    assert subject(0).key == subject(0).key
    assert subject(0).key != subject(0, facts=Facts(repeat=1)).key
