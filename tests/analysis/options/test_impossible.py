"""Options that cannot be meant are refused in a sentence, whichever table they are of."""

from __future__ import annotations

import dataclasses
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from judge.analysis.options.agreement_options import AccuracyOptions, DriftOptions, LabelOptions, ReplacementOptions
from judge.analysis.options.table_options import CompareOptions, CorrelationOptions
from judge.base.errors import SpecError
from tests.analysis.options.test_signature import FIELDS, REQUIRED


def _words(kind: type, name: str) -> tuple[str, ...]:
    """The words that a field may hold; none where it holds no word."""
    hint = get_type_hints(kind)[name]
    for part in (hint, *(get_args(hint) if get_origin(hint) in (Union, UnionType) else ())):
        if get_origin(part) is Literal:
            return get_args(part)
    return ()


def test_a_word_that_is_no_choice_is_refused_with_those_that_are() -> None:
    choices = [(kind, name, words) for kind, name in FIELDS if (words := _words(kind, name))]
    assert len(choices) > 20
    for kind, name, words in choices:
        with pytest.raises(SpecError, match=f'{name}="nonesuch" is not known; allowed: .*{words[-1]}'):
            kind(**{**REQUIRED.get(kind, {}), name: "nonesuch"})


def test_no_table_is_made_of_no_resamples() -> None:
    for kind in dict.fromkeys(kind for kind, name in FIELDS if name == "resamples"):
        assert dataclasses.is_dataclass(kind)
        with pytest.raises(SpecError, match="resamples=0 must be 1 or more"):
            kind(**REQUIRED.get(kind, {}), resamples=0)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("kind", "changes", "sentence"),
    [
        (AccuracyOptions, {"folds": 2}, "folds=2 must be 3 or more"),
        (AccuracyOptions, {"flips": 0}, "flips=0 must be 1 or more"),
        (ReplacementOptions, {"epsilon": 15}, "epsilon=15 must lie between 0 and 1"),
        (ReplacementOptions, {"rated": 1}, "rated=1 must be 2 or more"),
        (DriftOptions, {"stride": 0}, "stride=0 must be 1 or more"),
        (LabelOptions, {"labels": "Relevance > 3", "equivalence": -1}, "equivalence=-1 must be above 0"),
        (CompareOptions, {"permutations": 0}, "permutations=0 must be 1 or more"),
        (CorrelationOptions, {"ci": "fisher-z"}, "Fisher's interval for Pearson's r"),
    ],
)
def test_a_number_out_of_range_is_refused(kind: type, changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        kind(**changes)
