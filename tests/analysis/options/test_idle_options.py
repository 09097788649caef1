"""An option that another one leaves without effect is refused, whoever gives it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from judge.analysis.options import agreement_options, table_options
from judge.analysis.options.table_options import CorrelationOptions, from_words
from judge.base.errors import SpecError
from judge.cli.commands import app_of
from judge.cli.table_options import complaint

KINDS = [
    kind
    for module in (table_options, agreement_options)
    for kind in vars(module).values()
    if dataclasses.is_dataclass(kind) and hasattr(kind, "IDLE")
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_pair_names_options_and_a_value_that_there_are(kind: Any) -> None:
    fields = {field.name for field in dataclasses.fields(kind)}
    for name, (other, values) in kind.IDLE.items():
        assert {name, other} <= fields
        for value in values:
            assert value in get_args(get_type_hints(kind)[other])


def test_resamples_without_intervals_are_refused() -> None:
    with pytest.raises(SpecError, match=r'resamples=200 has no effect with ci="none"'):
        from_words(CorrelationOptions, ci="none", resamples=200)
    with pytest.raises(SpecError) as caught:
        from_words(CorrelationOptions, coefficient="pearson", ci="fisher-z", interval_kind="bca")
    assert complaint(caught.value) == "--set interval_kind=bca has no effect with --ci fisher-z"


def test_a_default_that_is_only_said_again_is_no_mistake() -> None:
    assert from_words(CorrelationOptions, ci="none", resamples=1000).ci == "none"


def test_the_command_line_refuses_it_too(tmp_path: Path) -> None:
    error = CliRunner().invoke(app_of("correlate"), [str(tmp_path), "--ci", "none", "--resamples", "50"]).exception
    assert isinstance(error, SpecError)
    assert "has no effect" in str(error)
