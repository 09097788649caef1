"""Parses a journal's comparisons, using facts of the run: labels, answer form, criterion, stories."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from judge.answers.parsing.protocol import Parser
from judge.answers.parsing.stored_answers import read_response
from judge.answers.parsing.verdict import Shares, parse_verdict, soft_verdict
from judge.base.records import CHOICES, Answer, Query, Response, Structured, Verdict


def read_verdict(response: Response, query: Query) -> Verdict:
    """The verdict (which story is preferred) of a new answer to a comparison query."""
    texts = (query.story.text, "" if query.other is None else query.other.text)
    return parse_verdict(
        response, query.choices, structured=query.structured, criterion=query.criterion.name, stories=texts
    )


def was_read(parser: Parser, response: Response, query: Query) -> bool:
    """Whether a rating, or a preference in a comparison, can be read from a new answer to a query.

    An answer about several criteria must have a rating for each of them.
    """
    if query.choices:
        return read_verdict(response, query).preference is not None
    return all(judgment.rating is not None for judgment in read_response(parser, response, query))


@dataclass(frozen=True, slots=True)
class StoredVerdicts:
    """Facts of a run of comparisons that are needed to read its journal.

    `choices` are the labels from which the judge chose. `structured` is the answer form that the run requested from the
    server. `scored` says that the run requested log-probabilities. `second` maps a query's key to the story shown
    second. `text_of` gives the text of a story by its id, "" where it is not known.
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
        """The facts that are needed to read the comparisons of a run, from its stored definition. `compared` maps a
        query key to (id of the pair, id of the story shown second).
        """
        choices = CHOICES if definition["ties"] else CHOICES[:2]
        scored = definition.get("scoring", "text") == "logprobs"
        second = {key: story for key, (_, story) in compared.items()}
        return cls(choices, definition["structured"], scored, second, text_of)

    def verdict(self, answer: Answer) -> Verdict:
        """The verdict (which story is preferred) of an answer to a comparison. Where no answer was received, the
        verdict's status says why. The query's own flags come before those of the parser.
        """
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
        """Probability shares of first story, second story and tie in an answer. None where the run did not request
        log-probabilities, or the shares cannot be computed from them.
        """
        if not self.scored or answer.response is None:
            return None
        return soft_verdict(
            verdict, answer.response, self.choices, structured=self.structured, criterion=answer.criterion
        )
