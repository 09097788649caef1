"""Questions as methods in Python, with real signatures for help and completion."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from judge.questions.answer import Answer
from judge.questions.question import Question
from judge.questions.source import Source


def method(question: Question, source: Source) -> Callable[..., Answer]:
    """Function that asks the question of opened runs, with the question's options as its signature."""

    def ask(*first: Any, **words: Any) -> Answer:
        bound = made.bind(*first, **{key: value for key, value in words.items() if key in question.options})
        return question.ask(source, **{**words, **bound.arguments})

    made = signature(question)
    ask.__name__, ask.__doc__ = question.name, inspect.cleandoc(question.text)
    ask.__signature__ = made  # type: ignore[attr-defined]
    return ask


def signature(question: Question) -> inspect.Signature:
    """The question's options as parameters with their types and defaults; only the first may be given by position."""
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY if at else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if each.required and len(question.ways) == 1 else _default(each.default),
            annotation=each.hint,
        )
        for at, each in enumerate(question.options.values())
    ]
    return inspect.Signature(parameters, return_annotation=Answer)


def _default(default: Any) -> Any:
    from dataclasses import MISSING

    return None if default is MISSING else default
