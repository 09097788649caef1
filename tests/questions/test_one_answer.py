"""Every question has one answer: the command, Python, the pages of `judge view` and the report show the same rows."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from html import unescape
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
import pytest

import judge
from judge.base.errors import JudgeError
from judge.base.printing.tables import Table, render, worded
from judge.cli import table_options as option_words
from judge.cli.asking import NOT_MET
from judge.cli.commands import COMMANDS
from judge.questions import comparing, registry
from judge.show.web.view.tables import RATED, Answers
from tests.documents.test_pages import commands
from tests.report import runs

FEW = 30
"""Resamples, where a question takes them: equal in all places, which is what is tested."""

LEAF = {"stress": "stress report", "contamination": "contamination report"}
"""Question -> its command, where that has another name."""

NEEDED = {
    ("certify", "certificate"): {"floor": "tau=0.1", "full_text": True},
    ("correlate", "separation"): {"labels": "Coherence > 3"},
    ("diagnose", "stories"): {"full_text": True},  # the screen alone shortens texts
}
"""Question and way -> options that are given."""

REPORTED = {"coverage", "consistency", "correlate", "systems", "diagnose", "compare"}
"""Questions whose tables stand in the report of the demo; each must have one there."""

PAIRS = """
name: compared
judge: surface
dataset: demo
criteria: {set: hanna, only: [Coherence, Surprise]}
eval_prompts: [pair1]
pairs: {each: 2}
"""

T = TypeVar("T")

WAYS = [(name, way) for name in registry.names() for way in registry.question(name).ways]


PART = {"hanna": {"criterion": "Coherence", "judge": "Beluga-13B"}, "ttcw": {"criterion": "Narrative Ending"}}
"""Run of a study -> the part of it that is asked about; both sides narrow it in their own way."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's run."""
    return runs.demo(tmp_path_factory.mktemp("one") / "demo")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of comparisons of two stories."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "run.yaml").write_text(PAIRS, encoding="utf-8")
    assert runs.command("run", folder, "--quiet") == 0
    return folder


@pytest.fixture(scope="module")
def study(request: pytest.FixtureRequest, studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Released ratings of a study: HANNA's numbers, or the labels of Art or Artifice."""
    folder = tmp_path_factory.mktemp("study") / request.param
    files = {
        "hanna": ["hanna_scores"],
        "ttcw": [studies / "ttcw" / "llm_answers" / "annotations_gpt4.jsonl", "--judge", "gpt4"],
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_DATA", str(studies))
        assert runs.command("import", *files[request.param], "-o", folder) == 0
        if request.param == "ttcw":
            assert runs.command("run", folder, "--quiet") == 0
        else:
            _keep_a_third(folder / "imported.csv")
    return folder


def _keep_a_third(file: Path) -> None:
    """Of HANNA's ratings those of 32 of its 96 story-prompts, on two of its criteria."""
    found = pd.read_csv(file, dtype=str, keep_default_na=False)
    # Of so many ratings the story-prompts lie with the stories.
    stories = pd.read_csv(file.with_name("imported_stories.csv"), dtype=str, keep_default_na=False)
    first = stories["story_prompt"].isin(stories["story_prompt"].unique()[:32])
    kept = found["story"].isin(stories.loc[first, "story"])
    found = found[kept & found["criterion"].isin(["Coherence", "Surprise"])]
    assert found["story"].nunique() == 352
    found.to_csv(file, index=False)


def _words(name: str, way: str) -> dict[str, Any]:
    asked = registry.question(name)
    words: dict[str, Any] = dict(NEEDED.get((name, way), {}))
    if len(asked.ways) > 1:
        words["layout"] = way
    for count in ("resamples", "permutations", "bootstraps"):
        if count in asked.ways[way].own:
            words[count] = FEW
    return words


def _given(words: dict[str, Any]) -> Iterator[str]:
    from judge.cli.declared import flag

    for name, value in words.items():
        option, rare, key = flag(name).partition(" ")
        yield from (option, f"{key}={value}") if rare else (option, str(value))


def _asked(
    name: str, run: Path, words: dict[str, Any], capsys: pytest.CaptureFixture[str], part: dict[str, str] | None = None
) -> list[dict[str, Any]]:
    """Tables of the command, as JSON gives them; its error if it cannot answer."""
    capsys.readouterr()
    narrowed = [word for key, value in (part or {}).items() for word in (f"--{key}", value)]
    code = runs.command(*LEAF.get(name, name).split(), run, *_given(words), *narrowed, "--format", "json")
    out, err = capsys.readouterr()
    if code not in (0, NOT_MET):
        return [{"error": err.partition("\n")[0]}]
    found = json.loads(out)
    return found if isinstance(found, list) else [found]


def _tried(ask: Callable[[], T]) -> tuple[T | None, str]:
    """The answer; or None and the error as the command prints it."""
    try:
        return ask(), ""
    except JudgeError as error:
        return None, f"error: {option_words.complaint(error)}"


def _rows(tables: Sequence[Table]) -> dict[str, Any]:
    return {table.title: json.loads(render(table, "json"))["rows"] for table in tables}


def _taken(name: str) -> set[str]:
    return {str(parameter.name) for parameter in commands()[LEAF.get(name, name)].params}


@pytest.mark.parametrize(("name", "way"), WAYS, ids=lambda word: word)
def test_the_command_and_python_give_one_answer(
    name: str, way: str, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LEAF.get(name, name).split()[0] in COMMANDS
    _assert_one_answer(name, way, demo, {}, capsys)


@pytest.mark.parametrize(("name", "way"), WAYS, ids=lambda word: word)
def test_a_run_of_comparisons_gets_one_answer(
    name: str, way: str, compared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _assert_one_answer(name, way, compared, {}, capsys)


@pytest.mark.parametrize("study", ["hanna", "ttcw"], indirect=True)
@pytest.mark.parametrize(("name", "way"), [way for way in WAYS if {"criterion", "judge"} <= _taken(way[0])])
def test_a_studys_ratings_get_one_answer(name: str, way: str, study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _assert_one_answer(name, way, study, PART[study.name], capsys)


def _assert_one_answer(
    name: str, way: str, run: Path, part: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = _words(name, way)
    opened = judge.open_run(run)
    if part:
        opened = opened.only(**part)
    printed = _asked(name, run, words, capsys, part)
    answer, complaint = _tried(lambda: opened.ask(name, **words))
    if answer is None:
        assert printed == [{"error": complaint}]
        return
    # A sentence may name an option: as Python has it, or as a flag.
    of_python = _rows(answer.printed(option_words.FLAGS))
    of_command = {table["title"]: table["rows"] for table in printed}
    assert of_python
    assert {title: of_command.get(title) for title in of_python} == of_python
    assert len(answer.frame) or not any(of_python.values())


@pytest.mark.parametrize("page", [name for name in RATED if name != "summary"])
def test_a_page_of_view_gives_the_answer_of_its_command(
    page: str, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = RATED[page]
    printed = _asked(asked.question, demo, dict(asked.words), capsys)
    folders = judge.open_run(demo).folders
    shown, complaint = _tried(lambda: Answers(folders, []).shown(page))
    if shown is None:
        assert printed == [{"error": complaint}]
        return
    rows = _rows([output for output in shown if isinstance(output, Table)])
    of_command = {table["title"]: table["rows"] for table in printed}
    assert {title: of_command.get(title) for title in rows} == rows
    answer = judge.open_run(demo).ask(asked.question, **asked.words)
    if answer.sentence:
        assert answer.sentence in [output.above for output in shown if isinstance(output, Table)]
        assert answer.sentence in unescape(answer._repr_html_())


@pytest.fixture(scope="module")
def reported(demo: Path) -> dict[str, str]:
    """Title -> rows as CSV, of every table of the demo's report that can be copied."""
    page = runs.page(demo, resamples=FEW, permutations=FEW)
    copied = re.findall(r"<caption>(.*?)</caption>.*?Copy as CSV</button><template>(.*?)</template>", page, re.DOTALL)
    assert len(copied) > 10
    return {unescape(title): unescape(rows) for title, rows in copied}


def _csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _holds_a_number(row: dict[str, str]) -> bool:
    return any(text and key and not key.endswith(("_n", "_reason")) and _is_number(text) for key, text in row.items())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(REPORTED))
def test_the_report_gives_the_answer_of_the_question(name: str, demo: Path, reported: dict[str, str]) -> None:
    both = []
    for way in registry.question(name).ways:
        answer, _ = _tried(partial(judge.open_run(demo).ask, name, **_words(name, way)))
        for table in answer.tables if answer else ():
            if table.title in reported:
                both.append(table.title)
                rows = _csv(render(worded(table, None), "csv"))
                shown = _csv(reported[table.title])
                # The page leaves rows out in which no number is; it adds and changes none.
                assert shown == [row for row in rows if row in shown]
                assert not [row for row in rows if row not in shown and _holds_a_number(row)]
    assert both, f"no table of {name} stands in the report"


def test_another_package_adds_a_question_and_its_command(
    demo: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = replace(registry.question("coverage"), name="mine")
    monkeypatch.setattr(comparing, "MINE", mine, raising=False)
    point = EntryPoint("mine", "judge.questions.comparing:MINE", registry.ENTRY_POINT)
    monkeypatch.setattr(registry, "entry_points", lambda group: [point] if group == registry.ENTRY_POINT else [])
    _assert_one_answer("mine", "counts", demo, {}, capsys)
    assert "mine" in dir(judge.open_run(demo))
