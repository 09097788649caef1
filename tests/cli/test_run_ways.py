"""Ways of `judge run` and `judge status`: each takes its own options, and words for them lead there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import get_args

import pytest
import typer

from judge.cli.commands import COMMANDS, MEANT, app_of
from judge.cli.exchange import FORMS
from judge.cli.main import main
from judge.cli.run_ask import TAKES, OtherWay, way_of
from judge.questions import registry

RUN = {name for option in typer.main.get_command(app_of("run")).params for name in option.opts}


def test_every_way_and_what_it_takes_are_options_of_the_command() -> None:
    assert set(TAKES) == set(get_args(OtherWay))
    for way, takes in TAKES.items():
        assert {way.split()[0], *takes} <= RUN, way


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run x --retry --pilot 3", "--pilot does not go with --retry"),
        ("run x --retry --limit 3 --no-summary", "--limit does not go with --retry"),
        ("run x --retry --merge", "--merge does not go with --retry"),
        ("run x --merge --partial --unparsed", "--unparsed does not go with --merge"),
        ("run x --merge --engine async", "--engine does not go with --merge"),
        ("run x --unparsed", "--unparsed goes with --retry"),
        ("run x --partial", "--partial goes with --merge"),
        ("run x --serve-command --judge surface", "--judge does not go with --serve-command"),
        ("run x --batch submit --format json", "--format does not go with --batch submit"),
        ("run x --batch status --limit 3", "--limit does not go with --batch status"),
        ("run x --batch collect --set repeats=2", "--batch collect takes no other option"),
        ("run --retry", "judge run needs a RUN"),
        ("status x --verify --format table", "--format does not go with --verify"),
        ("status x -o y --verify", "--output does not go with --verify"),
        ("ratings x --preferences --set parser=ours", "--set parser has no effect with --preferences"),
        ("ratings x --preferences --set pass_rate=true", "leave out --set pass_rate"),
        ("measures systems demo", "judge measures demo --systems"),
        ("measures of demo", "judge measures demo"),
        ("measures --limit 3", "--limit has no effect with the list of measures"),
        ("measures demo --systems --measure all", "--measure has no effect with --systems"),
        ("measures demo mans_roc", "measures are of one dataset"),
        ("reproduce list hanna", "judge reproduce hanna --list"),
        ("reproduce ttcw --set choice=on-scale", "--set choice has no effect with study ttcw"),
        ("reproduce hana", "did you mean 'hanna'?"),
        ("reproduce hanna ttcw", "the numbers are of one study"),
    ],
)
def test_options_that_make_no_sense_together_are_refused(
    arguments: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments.split())
    err = capsys.readouterr().err
    assert (left.value.code, words in err) == (1, True), err


def test_without_a_way_judge_run_asks() -> None:
    assert way_of([], None) == way_of(["--limit", "--dry-run"], None) == "ask"
    assert way_of(["--batch", "--limit"], "submit") == "--batch submit"


@pytest.mark.parametrize("word", MEANT)
def test_a_word_for_a_command_leads_to_the_command(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert word not in COMMANDS
    name, *options = MEANT[word].split()
    assert name in COMMANDS
    command = typer.main.get_command(app_of(name))
    flags = {flag for option in command.params for flag in option.opts}
    layouts = getattr(registry.question(name), "ways", {}) if name in registry.QUESTIONS else {}
    parts = getattr(command, "commands", {})
    assert {*options} - {"FILE.pdf"} <= flags | {*layouts} | {*FORMS} | {*parts}
    with pytest.raises(SystemExit) as left:
        main([word, "x"])
    assert left.value.code == 2
    assert f"No such command {word!r}. Did you mean {MEANT[word]!r}?" in capsys.readouterr().err


def test_the_way_of_the_command_imports_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = ("ask", "batch", "sittings")
    for name in ways:
        monkeypatch.delitem(sys.modules, f"judge.cli.run_{name}", raising=False)
    with pytest.raises(SystemExit):
        main(["run", str(tmp_path), "--serve-command"])
    assert [name for name in ways if f"judge.cli.run_{name}" in sys.modules] == []
