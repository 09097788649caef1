"""Options are named by their fields below the command line, which alone writes flags."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
import typer

from judge.base.errors import DataError, MissingExtraError, OptionError, SpecError, unknown_value
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, render, worded
from judge.base.wording import PLAIN, Advice, Note, joined, listed, written
from judge.cli.commands import COMMANDS
from judge.cli.declared import EVERYWHERE, RARE, flag
from judge.cli.main import app
from judge.cli.table_options import FLAGS, complaint, mend, with_flags

ROOT = Path(__file__).resolve().parents[1]
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
STYLE = re.compile(r"--(c|c[1-8]|faint|line|ink|page)\b")
"""Colours of the stylesheet, which are written like flags."""

OTHER_PROGRAMS = {
    "asking/execution/ray/engine.py": "ray start",
    "asking/plan/serving.py": "a vLLM server's own flags",
    "asking/run_folder/manifest.py": "git status",
    "backends/hf/packaged_model.py": "pip install",
    "backends/openai/scorer.py": "a vLLM server's own flags",
    "doctor.py": "pip install",
}
"""Module -> the program whose flags it names."""

TO_COPY = {
    **{
        f"questions/{name}.py": "the help of a command, with its examples"
        for name in ("agreement", "comparing", "failings", "improving", "whole", "summary/question")
    },
    **{
        f"exchange/{name}.py": "what reads or writes a form names the command that makes, goes on with or checks it"
        for name in (
            *("batch/importing", "batch/ledger", "batch/openai_batches", "batch/requests"),
            *("batch/submission", "bundle/archive", "bundle/verification", "released", "dataset_folder"),
            *("tables/any_table", "reader"),
        )
    },
    "asking/run_folder/layout.py": "a bundle given as a run comes with the command that checks it",
    "base/errors.py": "hints about damaged files name the command that checks a run",
    "explanations/audit/population.py": "a file of another form comes with the command that writes it",
    "questions/summary/summarize.py": "a summary names the command of each next step",
    "ratings/ratings_table/journaled.py": "a run of comparisons given for ratings comes with the command for it",
    "reproduce/hanna.py": "published numbers come with the command that gives them from other data",
    "reproduce/hanna_system_means.py": "published numbers come with the command that gives them from other data",
    "reproduce/openmeva.py": "published numbers come with the command that gives them from other data",
    "reproduce/printing.py": "a study's tables come with the command that lists what is missing",
    "show/report/checklist.py": "a page names the command that closes a gap",
    "show/report/compared_checklist.py": "a page names the command that closes a gap",
    "show/report/methods.py": "a page names the command that writes it as Markdown",
    "show/report/sections/runs.py": "a page names the command that lists more",
    "show/report/write.py": "a page names the command that fills a section",
}
"""Module -> why it holds whole commands, to be copied into a shell; each is held against the commands there are."""


@cache
def _modules() -> dict[str, tuple[list[str], list[tuple[str, str]]]]:
    """Module below the command line -> its texts, and those that a function is called with first, with its name."""
    found = {}
    for path in sorted((ROOT / "judge").rglob("*.py")):
        name = path.relative_to(ROOT / "judge").as_posix()
        if not name.startswith("cli/"):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
            found[name] = texts, [call for node in nodes if isinstance(node, ast.Call) for call in _told(node)]
    return found


def _told(call: ast.Call) -> Iterator[tuple[str, str]]:
    if isinstance(call.func, ast.Name) and call.args:
        first = call.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield call.func.id, first.value


@cache
def _flags() -> frozenset[str]:
    """Every flag of every command."""
    found: set[str] = set()

    def add(command: Any) -> None:
        for parameter in command.params:
            found.update(parameter.opts)
            found.update(parameter.secondary_opts)
        for inner in getattr(command, "commands", {}).values():
            add(inner)

    group = typer.main.get_command(app)
    context = group.make_context("judge", ["--version"], resilient_parsing=True)
    for name in COMMANDS:
        add(group.get_command(context, name))  # type: ignore[attr-defined]
    return frozenset(found | {flag(name) for name in (*RARE, *EVERYWHERE)})


def test_no_module_below_the_command_line_names_a_flag() -> None:
    naming = {name for name, (texts, _) in _modules().items() if any(FLAG.search(STYLE.sub("", t)) for t in texts)}
    assert naming == OTHER_PROGRAMS.keys() | TO_COPY.keys()


def test_every_command_that_is_named_before_a_run_exists() -> None:
    """A command that went leaves its name in hints, in links of pages, and in files of published tables."""
    kinds = {".py", ".csv", ".yaml", ".html", ".js", ".md"}
    for path in sorted((ROOT / "judge").rglob("*")):
        if path.suffix in kinds:
            named = set(re.findall(r"\bjudge ([a-z][a-z-]+) (?:RUN\b|\{run|runs/)", path.read_text(encoding="utf-8")))
            assert named <= COMMANDS.keys(), path


def test_commands_to_copy_have_the_flags_that_they_name() -> None:
    for name in TO_COPY:
        named = {flag for text in _modules()[name][0] for flag in FLAG.findall(text)}
        assert named <= _flags() | {"--help"}, name


def test_every_option_that_a_sentence_names_is_a_flag() -> None:
    named: set[str] = set()
    for _, calls in _modules().values():
        for function, told in calls:
            if function == "Advice":
                named |= {field for _, field, _, _ in Formatter().parse(told) if field}
            elif function in ("OptionError", "unknown_value"):
                named.add(told)
    assert len(named) > 50
    assert {FLAGS.option(field) for field in named} - _flags() == set()


def test_the_command_line_prints_tables_by_its_own_emit() -> None:
    for path in sorted((ROOT / "judge/cli").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module == "judge.base.printing.tables":
                assert "emit" not in {one.name for one in node.names}, path


@pytest.mark.parametrize(
    ("advice", "python", "flags", "plain"),
    [
        (
            Advice("{level} is all", level="system"),
            'level="system" is all',
            "--level system is all",
            "level system is all",
        ),
        (Advice("see {drop_systems}"), "see drop_systems", "see --drop-system", "see drop systems"),
        (Advice("{full}", full=True), "full=True", "--full", "full"),
        (Advice("{top} shows all", top=0), "top=0 shows all", "--top 0 shows all", "top 0 shows all"),
        (Advice("{labels}", labels="A > 4"), 'labels="A > 4"', "--labels 'A > 4'", "labels A > 4"),
        (Advice("{level!r}: {!r}", "x", level="y"), "level=\"y\": 'x'", "--level 'y': 'x'", "level y: 'x'"),
        (Advice("{map}", map="none"), 'map="none"', "--map none", "map none"),
        (
            Advice("{columns}", columns={"text": "my text", "id": "ID"}),
            'columns={"text": "my text", "id": "ID"}',
            "--column 'text=my text' --column id=ID",
            "columns {'text': 'my text', 'id': 'ID'}",
        ),
        (Advice("{} or {}", Advice("{by}", by="run"), "{x}"), 'by="run" or {x}', "--by run or {x}", "by run or {x}"),
    ],
)
def test_each_reader_has_a_wording(advice: Advice, python: str, flags: str, plain: str) -> None:
    assert advice == python
    assert with_flags(advice) == flags
    assert written(advice, PLAIN) == plain
    assert written(advice, None) == ""
    assert [with_flags(one) for one in (copy.deepcopy(advice), pickle.loads(pickle.dumps(advice)))] == [flags, flags]  # noqa: S301  our own


def test_a_note_holds_without_its_advice() -> None:
    asks = Advice("{ci} scores new systems", ci="boot-both")
    note = Note("the systems are treated as fixed", asks)
    assert note == 'the systems are treated as fixed (ci="boot-both" scores new systems)'
    assert with_flags(note) == "the systems are treated as fixed (--ci boot-both scores new systems)"
    assert written(note, None) == "the systems are treated as fixed"
    assert with_flags(Note("a", asks, joint="; ")) == "a; --ci boot-both scores new systems"
    assert written("a sentence", None) == with_flags("a sentence") == "a sentence"
    assert with_flags(pickle.loads(pickle.dumps(note))) == with_flags(note)  # noqa: S301  our own


def test_what_is_joined_keeps_what_each_part_says() -> None:
    note = Note("one", Advice("{full}", full=True))
    assert joined("a ", "b") == "a b"
    assert with_flags(joined("toy: ", note)) == "toy: one (--full)"
    assert written(joined("toy: ", note), None) == "toy: one"
    assert written(joined("toy: ", Advice("{full}")), None) == ""
    assert with_flags(listed(["a", Advice("{shard}"), "c"], ", ")) == "a, --shard, c"


def test_errors_have_pythons_wording_and_the_command_line_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    error = OptionError("resamples", 0, "must be 1 or more")
    assert (str(error), complaint(error)) == ("resamples=0 must be 1 or more", "--resamples 0 must be 1 or more")
    assert (error.field, error.value, error.allowed) == ("resamples", 0, ())
    among = OptionError("ci", "x", allowed=("auto", "none"))
    assert complaint(among) == "--ci 'x' is not known; allowed: auto, none"
    assert "--by 'rum' is not known; did you mean 'run'?" in complaint(unknown_value("by", "rum", ["run"]))
    row = DataError(Advice("lower {words}"), file="a.txt", row=3, found=1)
    assert complaint(row) == "a.txt, row 3: lower --words; found 1"
    extra = MissingExtraError(Advice("{map}", map="umap"), "explain")
    assert complaint(extra).startswith("--map umap needs an optional package")
    monkeypatch.setenv("MY_API_KEY", "a-key-of-some-length")
    held = SpecError("no", hint=Advice("leave {model} out", model="a-key-of-some-length"))
    assert (mend(held), str(held.hint)) == ("leave --model '***' out", 'leave model="***" out')


def test_tables_are_worded_where_they_are_printed() -> None:
    why = Note("undefined: too few", Advice("{least}"))
    table = Table(
        "T", [Column("a", "a")], [{"a": Estimate.undefined(why)}], "sig", ["plain", Advice("{top} shows all", top=0)]
    )
    assert "--" not in render(table, "csv")
    flags = render(worded(table, FLAGS), "csv")
    assert "undefined: too few (--set least)" in flags
    assert "--top 0 shows all" in render(worded(table, FLAGS), "md")
    bare = worded(table, None)
    assert list(bare.notes) == ["plain"]
    assert bare.rows[0]["a"].reason == "undefined: too few"
    named = Table("T", [Column("a", "a")], [{"a": Estimate.undefined(Advice("{threshold}", threshold="x"))}], "sig")
    assert worded(named, None).rows[0]["a"].reason == "threshold x", "why a number is missing is never left out"
