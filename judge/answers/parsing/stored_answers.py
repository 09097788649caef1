"""Parses a journal's answers, using facts of the run: criterion, answer form, story, and the Eval-Prompt's own
pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from judge.answers.parsing.expected import expected_judgment
from judge.answers.parsing.joint.reading import joint_judgments
from judge.answers.parsing.protocol import Parser
from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.records import Answer, Criterion, Judgment, Query, Response, Structured


def read_response(parser: Parser, response: Response, query: Query) -> tuple[Judgment, ...]:
    """The judgments of a new answer to a query: one, or one for each criterion if the query rates several."""
    if query.criteria:
        return joint_judgments(parser, response, query.criteria, story=query.story.text)
    judgment = parser.parse(
        response,
        query.criterion,
        structured=query.structured,
        story=query.story.text,
        rating_pattern=query.rating_pattern,
    )
    return (judgment,)


def _no_text(_story: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class StoredAnswers:
    """A parser with the facts of a run that are needed to read the run's journal.

    `criteria` maps a criterion's name to the criterion. `structured` is the answer form that the run requested from the
    server. `expected` says that ratings are expected values over log-probabilities. `patterns` maps an Eval-Prompt to
    its `rating_pattern`, if it has one. `text_of` gives the text of a story by its id, "" where it is not known.
    `joint` maps an Eval-Prompt that rates several criteria in one answer to these criteria.
    """

    parser: Parser
    criteria: Mapping[str, Criterion]
    structured: Structured
    expected: bool
    patterns: Mapping[str, str] = field(default_factory=dict)
    text_of: Callable[[str], str] = _no_text
    joint: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @classmethod
    def of_run(
        cls,
        parser: Parser,
        criteria: Iterable[Criterion],
        definition: Mapping[str, Any],
        text_of: Callable[[str], str] = _no_text,
    ) -> StoredAnswers:
        """The parser with the facts that are needed to read a run's answers. The facts come from the run's criteria and
        the definition stored in its journal.
        """
        return cls(
            parser,
            {criterion.name: criterion for criterion in criteria},
            definition["structured"],
            definition.get("scoring", "text") == "logprobs",
            definition.get("rating_patterns", {}),
            text_of,
            definition.get("joint", {}),
        )

    def with_texts(self, text_of: Callable[[str], str]) -> StoredAnswers:
        """A copy of this reader that also has the texts of stories; `text_of` gives the text of a story by its id, for
        example from an open journal.
        """
        return replace(self, text_of=text_of)

    def criteria_of(self, eval_prompt: str) -> int:
        """Number of criteria that an answer to this Eval-Prompt rates."""
        return len(self.joint[eval_prompt]) if eval_prompt in self.joint else 1

    def _criterion(self, name: str) -> Criterion:
        if name not in self.criteria:
            raise RunFolderError(
                f"a journal holds an answer about {name!r}, and its definition has no such criterion",
                hint=TELLS_INTACT,
            )
        return self.criteria[name]

    def judgments(self, answer: Answer) -> list[tuple[Answer, Judgment]]:
        """List of (answer, judgment), with one entry for each criterion that the answer rates."""
        names = self.joint.get(answer.eval_prompt)
        if names is None:
            return [(answer, self.judgment(answer))]
        each = [_about(answer, name) for name in names]
        if answer.response is None:
            return [(answer_of, _unread(answer_of)) for answer_of in each]
        criteria = [self._criterion(name) for name in names]
        story = self.text_of(answer.story)
        read: Iterable[Judgment] = joint_judgments(self.parser, answer.response, criteria, story=story)
        if answer.flags:
            read = [replace(judgment, flags=(*answer.flags, *judgment.flags)) for judgment in read]
        return list(zip(each, read, strict=True))

    def judgment(self, answer: Answer) -> Judgment:
        """The parser's judgment of an answer; for an answer about several criteria, that of `answer.criterion`.

        Where no answer was received, the judgment's status says why. The query's own flags come before those of the
        parser.
        """
        if answer.eval_prompt in self.joint:
            return next(judgment for single, judgment in self.judgments(answer) if single.criterion == answer.criterion)
        if answer.response is None:
            return _unread(answer)
        criterion = self._criterion(answer.criterion)
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


def _about(answer: Answer, criterion: str) -> Answer:
    """A copy of the answer with this criterion. (It is made without `dataclasses.replace`, which would take longer than
    parsing.)
    """
    return Answer(
        answer.query_key,
        answer.story,
        criterion,
        answer.eval_prompt,
        answer.repeat,
        answer.outcome,
        answer.response,
        answer.error_kind,
        answer.error,
        answer.flags,
        answer.attempts,
    )


def _unread(answer: Answer) -> Judgment:
    return Judgment("filtered" if answer.outcome == "filtered" else "not_answered", flags=answer.flags)
