"""Guess of a column's rater and criterion from its name, for the user to confirm."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from judge.inputs.datasets.files.column_guess import COUNTS, criterion_name

Side = Literal["judge", "human"]

OVERALL = "Overall"
"""The criterion of ratings that name none."""

_JUDGE = re.compile(
    r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|beluga|vicuna|gemma|^phi\d*$|palm2?$|command-?r|grok|^o[134]$"
    r"|llm|^judges?\d*$|^auto|^ai$|^pred|^metric|prometheus|geval|bertscore|bleu|rouge|bart|comet|meteor|bleurt|unieval"
)
_HUMAN = re.compile(
    r"human|people|person|rater|annot|worker|expert|crowd|reader|gold|turk|participant|reviewer|student|^mos$"
    r"|^(?:h|r|a|w|ann|amt)\d+$"
)
_VERSION = re.compile(
    r"^v?\d+[a-z]{0,2}$|^(?:turbo|mini|instruct|chat|pro|flash|sonnet|opus|haiku|large|small|preview)$"
)
_PLAIN = frozenset(
    {"score", "scores", "rating", "ratings", "value", "label", "eval", "evaluation", "ans", "answer", "s"}
)
_MEANS = frozenset({"mean", "avg", "average", "median"})
_NO_RATING = re.compile(r"std|stdev|var$|variance|conf|prob|agreement|kappa")
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*[a-z]?|[A-Z]+\d*|\d+[A-Za-z]*|[^\W\d_]+\d*")
_ENDS = " _-./:|()"
_EVAL_FILE = re.compile(r"^(?:input|answer)\.", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """A column of ratings with what its name suggests: whether the ratings are by a judge or by people (`side`; None:
    neither), the criterion, the rater's name (`who`), and whether they are means.
    """

    column: str
    side: Side | None
    criterion: str | None
    who: str
    mean: bool


def named(column: str) -> NamedColumn:
    """What a column's name suggests: who rated (a judge or people, and the rater's name), the criterion, and whether
    the column holds means.
    """
    parts = list(_PARTS.finditer(_EVAL_FILE.sub("", column)))
    low = [part[0].lower() for part in parts]
    judges = [bool(_JUDGE.search(part)) for part in low]
    people = [bool(_HUMAN.search(part)) for part in low]
    side: Side | None = "human" if any(people) else "judge" if any(judges) else None
    plain = [part in _PLAIN or part in _MEANS for part in low]
    version = [bool(_VERSION.search(part)) for part in low]
    rest = [part[0] for part, *marks in zip(parts, judges, people, plain, version, strict=True) if not any(marks)]
    criterion = criterion_name(" ".join(rest)) if rest else None
    who = _EVAL_FILE.sub("", column)
    for part, *marks in reversed(list(zip(parts, judges, people, version, strict=True))):
        if not any(marks):
            who = who[: part.start()].rstrip(_ENDS) + who[part.end() :]
    return NamedColumn(column, side, criterion, who.strip(_ENDS) or column, bool(_MEANS & {*low}))


def is_count(column: str) -> bool:
    """Whether a column's name suggests counts, ids or a measure of spread instead of ratings."""
    bare = re.sub(r"[^a-z0-9]", "", column.lower())
    return not bare or bool(COUNTS.search(bare) or _NO_RATING.search(column.lower()))


def without_means(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """The columns, without each column of means whose criterion also has a column of single ratings."""
    single = {column.criterion for column in columns if not column.mean}
    return [column for column in columns if not column.mean or column.criterion not in single]
