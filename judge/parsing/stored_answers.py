"""Reads answers as a run stored them: which criterion, which mode, what else was asked. Never fills a gap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge.parsing.expected import expected_judgment
from judge.parsing.protocol import Parser
from judge.records import Answer, Criterion, Judgment, Structured


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """A parser with what it must know of the run. `expected`: ratings are means over log-probabilities."""

    parser: Parser
    criteria: Mapping[str, Criterion]
    structured: Structured
    expected: bool

    @classmethod
    def of_run(cls, parser: Parser, criteria: Iterable[Criterion], definition: Mapping[str, Any]) -> StoredAnswers:
        """For the run with these criteria and the journal's stored definition."""
        known = {criterion.name: criterion for criterion in criteria}
        return cls(parser, known, definition["structured"], definition.get("scoring", "text") == "logprobs")

    def judgment(self, answer: Answer) -> Judgment:
        """The parser's reading of an answer, or why there was none to read; the query's own flags come first."""
        if answer.response is None:
            return Judgment("filtered" if answer.outcome == "filtered" else "not_answered", flags=answer.flags)
        criterion = self.criteria[answer.criterion]
        others = [name for name in self.criteria if name != answer.criterion]
        found = self.parser.parse(answer.response, criterion, structured=self.structured, other_criteria=others)
        if self.expected:
            found = expected_judgment(found, answer.response, criterion.scale)
        return replace(found, flags=(*answer.flags, *found.flags)) if answer.flags else found
