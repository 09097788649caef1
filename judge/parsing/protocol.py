"""What a parser is: a response and its criterion in, a judgment out. Never asks a judge, never keeps state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from judge.records import Criterion, Judgment, Response, Structured


class Parser(Protocol):
    """Turns responses into judgments; equal input gives equal output.

    `version` stands in the signature of every table; `imputes` says whether the parser puts a number where the answer
    states none. A parser that raises is an error of the program and is never turned into a status.
    """

    @property
    def version(self) -> str:
        """Name and number, e.g. `ours/1`; the number changes whenever any judgment can change."""
        ...

    @property
    def imputes(self) -> bool:
        """Whether a rating may come out that the answer does not state."""
        ...

    def parse(
        self,
        response: Response,
        criterion: Criterion,
        *,
        structured: Structured = "none",
        other_criteria: Sequence[str] = (),
    ) -> Judgment:
        """The judgment; `other_criteria` are names whose ratings in the same answer are not this criterion's."""
        ...
