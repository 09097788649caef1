"""The interface of a parser: a response and its criterion in, a judgment out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from judge.base.records import Criterion, Judgment, Response, Structured


class Parser(Protocol):
    """Interface of a parser, which turns responses into judgments; equal input gives equal output.

    `version` is part of the signature of every table. `imputes` says whether the parser gives a number where the answer
    states none. An exception in a parser is an error of the program and is never turned into a status.
    """

    @property
    def version(self) -> str:
        """Name and number of the parser, e.g. `ours/3`; the number changes whenever any judgment can change."""
        ...

    @property
    def imputes(self) -> bool:
        """Whether the parser can give a rating that the answer does not state."""
        ...

    def parse(
        self,
        response: Response,
        criterion: Criterion,
        *,
        structured: Structured = "none",
        other_criteria: Sequence[str] = (),
        story: str = "",
        rating_pattern: str | None = None,
    ) -> Judgment:
        """The judgment of one response.

        `other_criteria` are criteria whose ratings in the same answer must not be used for this criterion. `story` is
        the judged text, "" where it is not known. `rating_pattern` is the Eval-Prompt's own pattern, None where it has
        none.
        """
        ...
