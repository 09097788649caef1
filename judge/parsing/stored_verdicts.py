"""Parsing of a journal's comparisons with what the run knows of them: verdict words, mode, criterion, stories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge.parsing.protocol import Parser
from judge.parsing.stored_answers import read_response
from judge.parsing.verdict import Shares, parse_verdict, soft_verdict
from judge.records import CHOICES, Answer, Query, Response, Structured, Verdict


def read_verdict(response: Response, query: Query) -> Verdict:
    """The verdict of a new answer to a query."""
    texts = (query.story.text, "" if query.other is None else query.other.text)
    return parse_verdict(
        response, query.choices, structured=query.structured, criterion=query.criterion.name, stories=texts
    )


def was_read(parser: Parser, response: Response, query: Query) -> bool:
    """Whether a rating, or in a comparison a preference, can be read from a new answer to a query.

    One about several criteria is read where each has its rating.
    """
    if query.choices:
        return read_verdict(response, query).preference is not None
    return all(judgment.rating is not None for judgment in read_response(parser, response, query))


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """Facts of a run of comparisons that are needed to read its journal.

    `scored` says that the run asked for log-probabilities; `second` tells the story shown second by the query's key,
    `text_of` the text of a story by its id, "" where it is not known.
    """

    choices: tuple[str, ...]
    structured: Structured
    scored: bool
    second: Mapping[str, str]
    text_of: Callable[[str], str]

    @classmethod
    def of_run(
        cls, definition: Mapping[str, Any], compared: Mapping[str, tuple[str, str]], text_of: Callable[[str], str]
    ) -> StoredVerdicts:
        """Make the reader for the run with this stored definition; `compared` describes what its queries compare."""
        choices = CHOICES if definition["ties"] else CHOICES[:2]
        scored = definition.get("scoring", "text") == "logprobs"
        second = {key: story for key, (_, story) in compared.items()}
        return cls(choices, definition["structured"], scored, second, text_of)

    def verdict(self, answer: Answer) -> Verdict:
        """The reading of an answer, or why there was none to read; the query's own flags come first."""
        if answer.response is None:
            return Verdict("filtered" if answer.outcome == "filtered" else "not_answered", flags=answer.flags)
        stories = (answer.story, self.second.get(answer.query_key, ""))
        verdict = parse_verdict(
            answer.response,
            self.choices,
            structured=self.structured,
            criterion=answer.criterion,
            stories=tuple(map(self.text_of, stories)),
        )
        return replace(verdict, flags=(*answer.flags, *verdict.flags)) if answer.flags else verdict

    def shares(self, answer: Answer, verdict: Verdict) -> Shares | None:
        """Probability shares of an answer's verdict; None where not requested by the run, or not computable."""
        if not self.scored or answer.response is None:
            return None
        return soft_verdict(
            verdict, answer.response, self.choices, structured=self.structured, criterion=answer.criterion
        )
