"""The interface of a parser: a response and its criterion in, a judgment out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from judge.base.records import Criterion, Judgment, Response, Structured


class Parser(Protocol):
    """Turns responses into judgments; equal input gives equal output. `version` is part of every table's signature. An
    exception in a parser is an error of the program, never a status."""

    @property
    def version(self) -> str:
        """Name and number, e.g. `ours/3`; the number changes whenever any judgment can change."""
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
        """The judgment of one response. Ratings of `other_criteria` must not be used. `story` is "" where it is not
        known, and `rating_pattern` is the Eval-Prompt's own."""
        ...
