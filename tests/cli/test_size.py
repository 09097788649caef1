"""How much there is to learn: commands, their leaves and options may become fewer, and no more."""

from __future__ import annotations

from judge.base.choices import RESAMPLES
from judge.cli.commands import COMMANDS
from tests.documents.test_pages import commands

MOST_COMMANDS, MOST_LEAVES, MOST_PLACES = 36, 63, 450


def test_commands_leaves_and_places_of_options_do_not_grow() -> None:
    leaves = commands()
    options = [
        parameter
        for command in leaves.values()
        for parameter in command.params
        if parameter.param_type_name == "option" and parameter.name != "help"
    ]
    assert len(COMMANDS) <= MOST_COMMANDS
    assert len(leaves) <= MOST_LEAVES
    assert len(options) <= MOST_PLACES


def test_every_interval_is_drawn_equally_often_unless_an_option_says_otherwise() -> None:
    usual = {
        name: parameter.default
        for name, command in commands().items()
        for parameter in command.params
        if parameter.name == "resamples"
    }
    assert len(usual) >= 12
    assert {name: count for name, count in usual.items() if count != RESAMPLES} == {}
