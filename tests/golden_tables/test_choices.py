"""Every word of every choice of a table's command prints a table or ends in one sentence, and signatures tell tables
apart.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
import typer

from judge.analysis.options import agreement_options, table_options
from judge.cli.commands import COMMANDS, QUESTION
from judge.cli.declared import KEYS, RARE, flag
from judge.cli.main import app
from judge.questions import registry
from judge.questions.question import WAY
from tests.golden_tables.calls import inside, judge, prepare

LINES = (
    "correlate demo-run --criterion Coherence --resamples 20",
    "correlate demo-run --ci boot-both --criterion Coherence --resamples 20",
    "correlate demo-run --layout accuracy --criterion Coherence --resamples 20 --set flips=20",
    "correlate demo-run --layout separation --labels 'Coherence > 3' --resamples 20",
    "correlate demo-run --layout sliding-sets --criterion Coherence --resamples 20",
    "correlate labelled --layout confusion --resamples 20",
    "compare demo-run --criterion Coherence --resamples 20 --set permutations=20",
    "compare plain asked-json --by run --criterion Coherence --resamples 20 --set permutations=20",
    "jury demo-run points --criterion Coherence --set folds=3 --set foldings=1 --resamples 20",
    "jury demo-run --layout calibration --criterion Coherence --eval-prompt ep1 --set folds=3 --set foldings=1",
    "systems demo-run --criterion Coherence --resamples 20",
    "diagnose demo-run --layout criteria --resamples 20",
    "diagnose demo-run --layout stories",
    "consistency demo-run --criterion Coherence",
    "consistency plain --layout repeats --criterion Coherence --resamples 20",
    "rank compared",
    "replace demo-run --criterion Coherence --resamples 20",
    "stress report stressed --judge surface --criterion Coherence",
    "plan demo-run --criterion Coherence",
)
"""Commands on the demo run and the runs beside it, each with the choices that it starts from."""

ELSEWHERE = {"AspectsOptions.ci": "needs a study's ratings of aspects"}
"""Choices that no table of the demo run has, and why."""


def _command(line: str) -> Any:
    command: Any = typer.main.get_command(app)
    for word in shlex.split(line):
        if not hasattr(command, "get_command"):
            return command
        command = command.get_command(None, word)
    return command


def _words(kind: Any) -> Iterator[tuple[str, ...]]:
    """The words of a Literal, also of one that may be None."""
    for part in (kind, *(get_args(kind) if get_origin(kind) in (Union, UnionType) else ())):
        if get_origin(part) is Literal:
            yield get_args(part)


def _choices(line: str) -> dict[str, tuple[str, ...]]:
    """Option as it is given, with `{}` for the word -> the words that it allows, of one command."""
    first = "stress" if line.startswith("stress report") else shlex.split(line)[0]
    if first in registry.names() and COMMANDS[first].module in (QUESTION, "stress"):
        layout = re.search(r"--layout (\S+)", line)
        _, way = registry.question(first).way({WAY: layout[1]} if layout else {})
        hints = get_type_hints(way.options)
        return {
            f"{flag(name)}{'=' if name in RARE else ' '}{{}}": allowed
            for name in way.own
            if name in hints and (allowed := next(_words(hints[name]), ()))
        }
    words: dict[str, tuple[str, ...]] = {}
    for option in _command(line).params:
        allowed = next(_words(option.type_descriptor.annotation), ())
        if allowed and "--format" not in option.opts:
            words[f"{option.opts[0]} {{}}"] = allowed
    for name, option in getattr(_command(line).callback, KEYS, {}).items():
        if allowed := next(_words(get_args(option.annotation)[0]), ()):
            words[f"{flag(name)}={{}}"] = allowed
    return words


WALKS = [
    (line, given, words)
    for line in LINES
    for given, words in _choices(line).items()
    if given.replace("{}", "").strip() + " " not in line
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("choices").resolve()
    prepare(made, "demo", None)
    return made


def _tables(printed: Any) -> list[Any]:
    return printed if isinstance(printed, list) else [printed]


@pytest.mark.parametrize(("line", "given", "words"), WALKS, ids=[f"{line} {given}" for line, given, _ in WALKS])
def test_every_word_prints_a_table_or_one_sentence(line: str, given: str, words: tuple[str, ...], folder: Path) -> None:
    seen: dict[str, Any] = {}
    for word in words:
        with inside(folder, None):
            code, out, err = judge([*shlex.split(line), *given.format(word).split(), "--format", "json"])
        if not out:
            assert code == 1, (word, code, err)
            assert re.fullmatch(r"[^\n]+(\n *[^\n]+){0,2}\n", err), (word, err)
            assert "Traceback" not in err
            continue
        tables = _tables(json.loads(out))
        signature = "\n".join(table["signature"] for table in tables if table["signature"])
        assert signature, word
        rows = [table["rows"] for table in tables]
        assert seen.setdefault(signature, rows) == rows, f"{given.format(word)} gives other numbers under one signature"


def _literals() -> Iterator[tuple[str, tuple[str, ...]]]:
    for module in (agreement_options, table_options):
        for name, options in vars(module).items():
            if not dataclasses.is_dataclass(options) or options.__module__ != module.__name__:
                continue
            hints = get_type_hints(options)
            for field in dataclasses.fields(options):
                for words in _words(hints[field.name]):
                    yield f"{name}.{field.name}", words


def test_every_choice_of_the_options_is_walked() -> None:
    walked = {words for _, _, words in WALKS}
    assert {name for name, words in _literals() if words not in walked} <= set(ELSEWHERE)
    assert len(dict(_literals())) > 20
