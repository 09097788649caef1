"""Names of topics by class-TF-IDF, by KeyBERT, and by a judge over a real server that fails in known ways."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from judge.base.errors import BackendError, MissingExtraError, SpecError
from judge.cli.main import main
from judge.explanations.topics import asked_names
from judge.explanations.topics.naming import class_names
from judge.explanations.topics.reasons import Labelled, Reasons, reasons
from judge.explanations.topics.results import reason_results, tables
from tests.explanations.topics.planted_reasons import SAID, texts

SCRIPT = [
    {"match": "plot does not hold together", "text": 'Name: "Events contradict, each other."\n\nI chose this because'},
    {"match": "ending comes far too quickly", "text": "I'm sorry, I can't help with that."},
    {"match": "sentences are clear", "text": "<b>Clear</b> \u202esentences\x1b[31m, praised"},
    {
        "match": "characters are vivid",
        "text": "Here is a name which goes on for longer than any name of a topic ever should",
    },
]


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "names.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in SCRIPT), encoding="utf-8")
    return f"scripted/{path}"


@pytest.fixture(scope="module")
def found() -> Reasons:
    return reasons(texts(), count=4)


def _labelled(found: Reasons) -> Labelled:
    said = found.rows["text"].tolist()
    return Labelled(said, found.topics.topic, found.criterion, found.prompt, found.topics.mask, found.topics.count)


def _number(found: Reasons, reason: int) -> int:
    """The topic that holds a planted reason."""
    return int(found.topics.topic[[SAID[reason][0] in text for text in found.rows["text"]]][0])


def test_a_judges_line_becomes_a_name_and_each_loss_is_counted(found: Reasons, script: str) -> None:
    asked = asked_names.asked_names(script, _labelled(found), found.criteria, None)
    by_reason = [asked.names[_number(found, reason)] for reason in range(4)]
    assert by_reason == ["Events contradict each other", None, "bClear/b \\u202esentences\\x1b[31m praised", None]
    assert asked.losses == {"declined": 1, "too long for a name": 1}
    assert (asked.asked, asked.kept) == (4, 0)
    note = asked.note("a/b", "topics")
    assert "2 of 4 topics named by a/b" in note
    assert "1 declined; 1 too long for a name" in note


def test_lost_names_leave_the_phrases_and_the_screen_says_so(script: str, tmp_path: Path) -> None:
    made = texts(prompts=12)
    plain, named = reasons(made, count=4), reasons(made, count=4, name_by=script)
    assert named.names[_number(named, 1)] == plain.names[_number(plain, 1)]
    assert named.names[_number(named, 0)] == "Events contradict each other"
    table = tables(reason_results(made, named))[0]
    assert f"names:{script}" in table.signature
    assert any("2 of 4 topics named by" in note for note in table.notes)
    assert "names:" not in tables(reason_results(made, plain))[0].signature


def test_what_was_answered_is_kept_and_not_asked_again(found: Reasons, script: str, tmp_path: Path) -> None:
    cache, some = tmp_path / "kept.sqlite", _labelled(found)
    first = asked_names.asked_names(script, some, found.criteria, cache)
    Path(script.removeprefix("scripted/")).unlink()
    again = asked_names.asked_names(script, some, found.criteria, cache)
    assert again.names == first.names
    assert (again.asked, again.kept) == (0, 4)
    with pytest.raises(Exception, match=r"names\.jsonl"):  # another seed shows other members: another question
        asked_names.asked_names(script, replace(some, seed=2), found.criteria, cache)


def test_the_judge_reads_ten_texts_of_the_topic_about_different_story_prompts(found: Reasons) -> None:
    some = _labelled(found)
    query = asked_names._question(some, _number(found, 3), ("Coherence",))
    assert query is not None
    text = query.messages[0].content
    assert "on the criterion Coherence" in text
    assert text.count(SAID[3][0]) == 10
    members = [line for line in text.splitlines() if SAID[3][0] in line]
    assert len({line.split(" of ")[1].split()[0] for line in members}) == 10
    assert asked_names._question(replace(some, of=np.full_like(some.of, -1)), 0, ()) is None


@pytest.mark.parametrize(
    ("text", "finish", "said"),
    [
        ("", "stop", ("empty", None)),
        ("  \n\n", "stop", ("empty", None)),
        ("Repeats what was", "length", ("cut", None)),
        ("No common reason.", "stop", ("without a common reason", None)),
        ("1. **Abrupt change of topic**.", "stop", ("named", "Abrupt change of topic")),
        ("name: It's found wanting | again", "stop", ("named", "It's found wanting again")),
        ("=HYPERLINK(1)", "stop", ("named", "HYPERLINK(1)")),
    ],
)
def test_what_is_read_of_an_answer(text: str, finish: str, said: tuple[str, str | None]) -> None:
    assert asked_names._read({"text": text, "finish_reason": finish}, "") == said


def test_what_cannot_name_is_refused_before_anything_is_read() -> None:
    for judge in ("surface", "recorded/x", "phrasez", "openai/"):
        with pytest.raises(SpecError, match="cannot name topics"):
            reasons(texts(prompts=10), name_by=judge)


def test_a_server_that_nobody_reaches_is_an_error_and_a_failing_question_is_counted(
    found: Reasons, tmp_path: Path
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"match": "vivid", "text": "Vivid characters"}), encoding="utf-8")
    asked = asked_names.asked_names(f"scripted/{path}", _labelled(found), found.criteria, None)
    assert asked.losses == {"without an answer": 3}
    with pytest.raises(BackendError):
        asked_names.asked_names("openai/x", _labelled(found), found.criteria, None, base_url=("http://127.0.0.1:9",))


def test_class_names_are_words_of_the_planted_reasons(found: Reasons) -> None:
    named = class_names(_labelled(found))
    for reason, (said, _) in enumerate(SAID):
        words = " ".join(named[_number(found, reason)]).split()
        assert len(named[_number(found, reason)]) == 3
        assert len(set(words) & set(said.split())) >= 2


def test_keybert_is_named_where_it_is_missing(found: Reasons, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.explanations.mapping import keybert_ranking

    monkeypatch.setattr(keybert_ranking, "installed", lambda: None)
    with pytest.raises(MissingExtraError, match="KeyBERT"):
        reasons(texts(prompts=10), name_by="keybert")


def test_the_command_names_by_a_judge(demo_run: Path, script: str, capsys: pytest.CaptureFixture[str]) -> None:
    everything = Path(script.removeprefix("scripted/"))
    everything.write_text(json.dumps({"text": "Length is praised"}), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["explain", str(demo_run), "--quiet", "--map", "none", "--set", f"name_by={script}"])
    assert not ended.value.code
    screen = capsys.readouterr().out
    assert "Length is praised" in screen
    assert len(screen.splitlines()) <= 40
