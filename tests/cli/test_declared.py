"""Options of commands come out of dataclasses: names, types, defaults, choices."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from judge.analysis.options import table_options
from judge.base.errors import SpecError
from judge.cli.commands import COMMANDS, QUESTION
from judge.cli.declared import KEYS, RARE, flag, options_from, set_words, takes
from judge.cli.main import app as main_app
from judge.questions import registry
from tests.documents.test_pages import commands


@dataclass(frozen=True, slots=True)
class Choices:
    """Options of every type that a field may have."""

    level: Literal["overall", "system"] = "overall"
    drop_systems: tuple[str, ...] = ()
    against: str | None = None
    top: int = 3
    control: bool = True
    full: bool = False


HELP = {"level": "level", "top": "number of rows", "full": "all rows"}


@pytest.fixture
def seen() -> dict[str, Any]:
    return {}


@pytest.fixture
def app(seen: dict[str, Any]) -> typer.Typer:
    made = typer.Typer()

    @made.command()
    @takes(Choices, HELP, without=("full",))
    def show(name: str, *, options: Choices) -> None:
        """Print what was chosen."""
        seen.update(name=name, options=options)

    return made


def test_options_that_are_not_given_have_the_fields_defaults(app: typer.Typer, seen: dict[str, Any]) -> None:
    assert CliRunner().invoke(app, ["x"]).exit_code == 0
    assert seen == {"name": "x", "options": Choices()}


def test_every_type_of_field_is_read(app: typer.Typer, seen: dict[str, Any]) -> None:
    words = ["x", "--level", "system", "--drop-system", "a", "--drop-system", "b", "--against", "Overall"]
    assert CliRunner().invoke(app, [*words, "--top", "0", "--no-control"]).exit_code == 0
    assert seen["options"] == Choices("system", ("a", "b"), "Overall", 0, control=False)


@pytest.mark.parametrize("words", [["--level", "story"], ["--top", "many"], ["--full"]])
def test_what_no_field_allows_is_refused(app: typer.Typer, seen: dict[str, Any], words: list[str]) -> None:
    assert CliRunner().invoke(app, ["x", *words]).exit_code == 2
    assert not seen


def test_what_the_dataclass_refuses_is_refused() -> None:
    with pytest.raises(SpecError, match="resamples=0 must be 1 or more"):
        options_from(table_options.CriteriaOptions, {"resamples": 0, "drop_systems": None})


def test_flags_follow_from_the_fields() -> None:
    assert flag("min_members") == "--set min_members"
    assert flag("drop_systems") == "--drop-system"
    assert flag("holm_over") == "--set holm_over"


@pytest.mark.parametrize("name", registry.names())
def test_a_command_has_a_flag_for_every_option_of_its_question(name: str) -> None:
    if COMMANDS[name].module != QUESTION:
        return
    given = {option for parameter in commands()[name].params for option in parameter.opts}
    question = registry.question(name)
    of_python = {each for way in question.ways.values() for each in way.of_frame}
    assert {flag(each).partition(" ")[0] for each in question.options.keys() - of_python} <= given | {"--full"}
    rare = getattr(commands()[name].callback, KEYS, {})
    assert {each for each in question.options if each in RARE} <= rare.keys()


def _rare(name: str) -> dict[str, inspect.Parameter]:
    return getattr(commands()[name].callback, KEYS)


def test_a_rare_option_is_set_by_its_key() -> None:
    options = _rare("correlate")
    assert set_words(options, ["folds=3", "equivalence=0.5"]) == {"folds": 3, "equivalence": 0.5}
    assert set_words(options, ["pass-rate=true", "errors=a < 3", "errors=b < 2"]) == {
        "pass_rate": True,
        "errors": ["a < 3", "b < 2"],
    }
    for word, told in (("folds=x", "folds"), ("fold=3", "did you mean 'folds'"), ("folds", "is not KEY=VALUE")):
        with pytest.raises(SpecError, match=told):
            set_words(options, [word])
    with pytest.raises(SpecError, match="allowed: mean, single"):
        set_words(options, ["readings=some"])
    with pytest.raises(SpecError, match="folds is given twice"):
        set_words(options, ["folds=3", "folds=4"])
    with pytest.raises(SpecError, match="greater than or equal to 1"):
        set_words(_rare("doctor"), ["workers=0"])


def test_a_rare_option_that_is_given_as_a_flag_is_answered_by_how_it_is_given() -> None:
    told = CliRunner().invoke(main_app, ["correlate", "x", "--parser", "ours"])
    assert told.exit_code == 2
    assert "No such option: --parser. It is given as --set parser=VALUE" in told.output


def test_every_rare_option_is_one_of_some_command() -> None:
    leaves = [leaf for command in commands().values() for leaf in getattr(command, "commands", {"": command}).values()]
    assert {name for leaf in leaves for name in getattr(leaf.callback, KEYS, ())} == RARE
