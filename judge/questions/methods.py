"""Questions as methods in Python, with real signatures for help and completion."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from judge.questions.answer import Answer
from judge.questions.question import Question
from judge.questions.source import Source


def method(question: Question, source: Source) -> Callable[..., Answer]:
    """Function that asks the question of runs that are opened. Its signature has the question's options."""

    def ask(**words: Any) -> Answer:
        return question.ask(source, **words)

    ask.__name__, ask.__doc__ = question.name, inspect.cleandoc(question.text)
    ask.__signature__ = signature(question)  # type: ignore[attr-defined]
    return ask


def signature(question: Question) -> inspect.Signature:
    """The question's options as keyword-only parameters, with their types and defaults."""
    parameters = [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.required and len(question.ways) == 1 else _default(each.default),
            annotation=each.hint,
        )
        for each in question.options.values()
    ]
    return inspect.Signature(parameters, return_annotation=Answer)


def _default(default: Any) -> Any:
    from dataclasses import MISSING

    return None if default is MISSING else default
