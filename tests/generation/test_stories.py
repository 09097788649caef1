"""Stories that were written: statuses, flags, stripping, and what of it goes on to judges."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.asking.execution.session import sit
from judge.base.errors import DataError, OptionError, RunFolderError
from judge.base.fingerprint import sha256_text
from judge.cli.main import main
from judge.inputs.datasets import open_dataset
from judge.lab.generation.faults import faults_of, rules_of, stripped
from judge.lab.generation.stories import STATUSES, declines, near_duplicates, passed_on, write_all, written
from judge.lab.generation.tables import counted, faults_table, status_table
from tests.generation.conftest import PROMPTS, sitting, written_definition
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


@pytest.mark.parametrize(
    ("style", "status"),
    [
        ("prose", "ok"),
        ("truncated", "cut"),
        ("refusal", "refused"),
        ("empty", "empty"),
        ("content_filter", "filtered"),
        ("thought_only", "empty"),
    ],
)
def test_each_answer_has_a_typed_status(loopback: Start, prompts: Path, style: str, status: str) -> None:
    asked = sitting(loopback(style=style), prompts)
    sit(asked)
    found = written([asked.result])
    assert Counter(one.status for one in found) == {status: PROMPTS}
    (cells,) = status_table(found).rows
    assert (cells["asked"], cells[status]) == (PROMPTS, PROMPTS)
    assert sum(cells[one] for one in STATUSES) == PROMPTS
    if status != "ok":
        assert passed_on(found) == []
        with pytest.raises(RunFolderError, match="no whole story"):
            write_all(prompts.parent / "none.jsonl", [], found)
        assert len(passed_on(found, cut=True)) == (PROMPTS if status == "cut" else 0)


def test_what_was_not_asked_is_counted_and_not_passed_on(loopback: Start, prompts: Path) -> None:
    asked = sitting(loopback(style="prose"), prompts, limit=4)
    sit(asked)
    found = written([asked.result])
    assert Counter(one.status for one in found) == {"ok": 4, "not_asked": PROMPTS - 4}
    assert len(passed_on(found)) == 4


def test_stories_go_on_as_they_were_written_with_where_they_come_from(
    loopback: Start, prompts: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = " Sure! Here is a story for you:\n\nThe lamp went out.\n\nHuman: More, please"
    server = loopback(fixed_text=text)
    gen = written_definition(prompts.parent / "gen", server, prompts, revision="r1", words=[5, 50])
    judge("data", "generate", gen, "--quiet")
    verbatim, plain = prompts.parent / "verbatim.jsonl", prompts.parent / "plain.jsonl"
    judge("data", "stories", gen, "-o", verbatim, "--human")
    judge("data", "stories", gen, "-o", plain, "--set", "strip=preamble,run-on", "--format", "json")
    said = capsys.readouterr().out
    assert "text as it was written" in said
    assert "stripped of preamble, run-on" in said
    stories = list(open_dataset(str(verbatim)).stories())
    assert Counter(one.system for one in stories) == {"mock@r1": PROMPTS, "Human": PROMPTS}
    assert {one.text for one in stories if one.system != "Human"} == {text}
    assert stories[0].text == stories[0].reference == "Human 0."
    assert {one.text for one in open_dataset(str(plain)).stories()} == {"The lamp went out."}
    facts = [json.loads(line) for line in plain.with_suffix(".facts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(facts) == PROMPTS
    assert {tuple(one["stripped"]) for one in facts} == {("preamble", "run-on")}
    assert {one["raw_sha256"] for one in facts} == {sha256_text(text)}
    assert facts[0]["flags"] == ["too_short"]
    kept = [json.loads(line) for line in verbatim.with_suffix(".facts.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {"leading_blank", "preamble", "run_on", "no_end", "near_duplicate"} <= set(kept[0]["flags"])
    assert len(kept[0]["near_duplicates"]) == PROMPTS - 1
    with pytest.raises(DataError, match="exists already"):
        write_all(plain, [stories[0]], [])


def judge(*words: object) -> None:
    """A command that ends well."""
    with pytest.raises(SystemExit) as ended:
        main([*map(str, words)])
    assert ended.value.code in (0, None)


def test_no_rule_is_applied_that_is_not_named_and_none_that_leaves_nothing() -> None:
    assert rules_of("run-on, preamble") == ("preamble", "run-on")
    with pytest.raises(OptionError, match="preambles"):
        rules_of("preambles")
    with pytest.raises(OptionError):
        rules_of(",")
    only = "Sure! Here is a story."
    assert stripped(only, ("preamble", "run-on")) == (only, ())
    turn = "Human: The Fallen Star\n\nThe sun rose."
    assert stripped(turn, ("run-on",)) == (turn, ())
    assert stripped("Once.\n\n### Human: good", ("run-on",)) == ("Once.", ("run-on",))
    assert stripped(" Okay! Here is a story:\n\n---\n\nOnce.", ("preamble",)) == ("Once.", ("preamble",))
    # A first paragraph that begins with such a word and tells of something is the story's own.
    own = "Great waves broke over the quay all night, and nobody slept.\n\nIn the morning the lamp was gone."
    assert stripped(own, ("preamble",)) == (own, ())


@pytest.mark.parametrize(
    ("text", "prompt", "faults"),
    [
        ("The lamp went out.", "A lamp goes out", ()),
        (" The lamp went out.", "", ("leading_blank",)),
        ("Title: Lamp\n\nIt went out", "", ("title", "no_end")),
        ("Here's a story: it ended.", "", ("preamble",)),
        ("Hello! Tell me more.", "", ("reply",)),
        ("Once upon a time it ended. ###", "", ("run_on", "no_end", "once_upon_a_time")),
        ("A lamp goes out. It did.", "A lamp goes out", ("prompt_echo",)),
        ("A hitchhiker stood there.", "hitchhiker", ()),
        ("He said: “Go.”", "", ()),
    ],
)
def test_faults_are_read_from_the_text(text: str, prompt: str, faults: tuple[str, ...]) -> None:
    assert faults_of(text, prompt) == faults


def test_length_is_told_where_one_was_asked_for() -> None:
    assert faults_of("One two three.", "", (4, 9)) == ("too_short",)
    assert faults_of("One two three.", "", (1, 2)) == ("too_long",)
    assert faults_of("One two three.", "", (3, 3)) == ()


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I'm sorry, but I can't write that story.", True),
        ("I cannot help with this request.", True),
        ("As an AI language model I do not write such things.", True),
        ('"I can\'t help you," said the keeper, and the lamp went out.', False),
        ("I cannot sleep. The lamp is out.", False),
        ("I can't write this. " + "But she wrote it all the same, night after night. " * 20, False),
    ],
)
def test_a_refusal_is_no_story_and_a_story_no_refusal(text: str, refused: bool) -> None:
    assert declines(text) is refused


def test_near_duplicates_share_more_than_a_twentieth_of_the_shorter() -> None:
    words = [f"w{i}" for i in range(400)]
    long = " ".join(words)
    a, b, c = (
        " ".join(words[:200]),
        " ".join(["x"] * 3 + words[100:140] + words[380:]),
        "unlike all of them by far, quite",
    )
    assert near_duplicates([a, b, c, a, ""]) == [(0, 1), (0, 3), (1, 3)]
    assert near_duplicates([long, " ".join(words[390:] + [f"v{i}" for i in range(300)])]) == []


GOLDEN = {
    "words": "mean_words",
    "leading_blank": "leading_blank",
    "no_end": "no_final_punctuation",
    "run_on": "chat_debris",
    "announced": "preamble_or_title",
    "prompt_echo": "prompt_echoed",
    "once_upon_a_time": "once_upon_a_time",
    "pairs": "pairs_sharing_5_percent_of_8_grams",
}


def test_the_faults_of_hannas_released_stories(studies: Path) -> None:
    """Every cell of the counts that were made apart from this program, within 2."""
    table = faults_table(counted(open_dataset("hanna_llm").stories()), "s")
    found = {row["system"]: row for row in table.rows}
    golden = studies / "golden" / "storyer" / "hanna_llm_generation_faults.csv"
    with golden.open(encoding="utf-8", newline="") as stream:
        printed = list(csv.DictReader(stream))
    assert list(found) == [row["system"] for row in printed]
    for row in printed:
        assert found[row["system"]]["stories"] == int(row["stories"])
        for ours, theirs in GOLDEN.items():
            assert abs(found[row["system"]][ours] - int(row[theirs])) <= 2, (row["system"], ours)
