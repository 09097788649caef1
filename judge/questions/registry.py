"""The questions by name; each module is imported when it is first asked.

Other packages add questions through the entry point `judge.questions`: name = "module:QUESTION".
"""

from __future__ import annotations

import functools
import importlib
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import TYPE_CHECKING

from judge.base.errors import SpecError, unknown

if TYPE_CHECKING:
    from judge.questions.question import Question

ENTRY_POINT = "judge.questions"

# Name of each question of this program -> module and name of its `Question`.
QUESTIONS = MappingProxyType(
    {
        "summary": "judge.questions.summary.question:SUMMARY",
        "certify": "judge.questions.whole:CERTIFY",
        "coverage": "judge.questions.whole:COVERAGE",
        "plan": "judge.questions.whole:PLAN",
        "consistency": "judge.questions.agreement:CONSISTENCY",
        "correlate": "judge.questions.agreement:CORRELATE",
        "replace": "judge.questions.agreement:REPLACE",
        "diagnose": "judge.questions.failings:DIAGNOSE",
        "contamination": "judge.questions.failings:CONTAMINATION",
        "compare": "judge.questions.comparing:COMPARE",
        "jury": "judge.questions.comparing:JURY",
        "improve": "judge.questions.improving:IMPROVE",
        "stress": "judge.questions.failings:STRESS",
        "rank": "judge.questions.comparing:RANK",
        "systems": "judge.questions.comparing:SYSTEMS",
    }
)


def names() -> tuple[str, ...]:
    """Names of all questions: this program's, then those of other packages."""
    return tuple(dict.fromkeys((*QUESTIONS, *(point.name for point in entry_points(group=ENTRY_POINT)))))


@functools.cache
def question(name: str) -> Question:
    """The question of this name. Raises SpecError for an unknown one."""
    others = {point.name: point.value for point in entry_points(group=ENTRY_POINT)}
    place = {**others, **QUESTIONS}.get(name)
    if place is None:
        raise SpecError(unknown("question", name, names()))
    module, _, attribute = place.partition(":")
    found: Question = getattr(importlib.import_module(module), attribute)
    return found
