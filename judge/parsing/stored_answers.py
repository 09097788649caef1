"""How answers are read with what the run knows of them: criterion, mode, story, the Eval-Prompt's own pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from judge.parsing.expected import expected_judgment
from judge.parsing.protocol import Parser
from judge.records import Answer, Criterion, Judgment, Query, Response, Structured


def read_response(parser: Parser, response: Response, query: Query) -> Judgment:
    """The judgment of an answer that has just come, by the query it answers."""
    return parser.parse(
        response,
        query.criterion,
        structured=query.structured,
        story=query.story.text,
        rating_pattern=query.rating_pattern,
    )


def _no_text(_story: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """A parser with what it must know of the run to read its journal.

    `expected` says that ratings are means over log-probabilities; `patterns` holds the `rating_pattern` of those
    Eval-Prompts that have one; `text_of` gives the text of a story by its id, "" where it is not known.
    """

    parser: Parser
    criteria: Mapping[str, Criterion]
    structured: Structured
    expected: bool
    patterns: Mapping[str, str] = field(default_factory=dict)
    text_of: Callable[[str], str] = _no_text

    @classmethod
    def of_run(
        cls,
        parser: Parser,
        criteria: Iterable[Criterion],
        definition: Mapping[str, Any],
        text_of: Callable[[str], str] = _no_text,
    ) -> StoredAnswers:
        """For the run with these criteria and the journal's stored definition."""
        return cls(
            parser,
            {criterion.name: criterion for criterion in criteria},
            definition["structured"],
            definition.get("scoring", "text") == "logprobs",
            definition.get("rating_patterns", {}),
            text_of,
        )

    def with_texts(self, text_of: Callable[[str], str]) -> StoredAnswers:
        """The same with the texts of stories, for an open journal."""
        return replace(self, text_of=text_of)

    def judgment(self, answer: Answer) -> Judgment:
        """The parser's reading of an answer, or why there was none to read; the query's own flags come first."""
        if answer.response is None:
            return Judgment("filtered" if answer.outcome == "filtered" else "not_answered", flags=answer.flags)
        criterion = self.criteria[answer.criterion]
        judgment = self.parser.parse(
            answer.response,
            criterion,
            structured=self.structured,
            other_criteria=[name for name in self.criteria if name != answer.criterion],
            story=self.text_of(answer.story),
            rating_pattern=self.patterns.get(answer.eval_prompt),
        )
        if self.expected:
            judgment = expected_judgment(judgment, answer.response, criterion.scale)
        return replace(judgment, flags=(*answer.flags, *judgment.flags)) if answer.flags else judgment
