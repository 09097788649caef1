"""The HANNA judge study's parser, reproduced exactly: the first number is the rating, a missing one is imputed as 3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.base.errors import SpecError
from judge.base.late_pattern import late
from judge.base.records import Criterion, Judgment, Response, Structured
from judge.base.wording import Advice

_FIRST_NUMBER = late(r"(?:\d+\.\d+|\d+)")
# What the study put in place of a missing rating: the middle of its scale of 1-5.
_MIDPOINT = 3.0

# Characters: the study counted a longer answer as one with an explanation.
_LONGEST_BARE_RATING = 10


@dataclass(frozen=True, slots=True)
class AsPublished:
    """Takes the first number; a missing one, or one outside 1-5, becomes 3, flagged `imputed`. The status is always
    `ok`: refusals, empty answers, years and "10/10" count as 3. For published tables only, never to measure."""

    version: str = "as-published/1"
    imputes: bool = True

    def parse(
        self,
        response: Response,
        criterion: Criterion,
        *,
        structured: Structured = "none",  # noqa: ARG002  the study's rule knows no modes
        other_criteria: Sequence[str] = (),  # noqa: ARG002  nor other criteria
        story: str = "",  # noqa: ARG002  nor the story
        rating_pattern: str | None = None,  # noqa: ARG002  nor patterns
    ) -> Judgment:
        """The study's judgment. Raises `SpecError` for a scale other than 1-5, for which the rule is not defined."""
        scale = criterion.scale
        if (scale.min, scale.max) != (1, 5):
            raise SpecError(
                Advice(
                    "{parser} is defined for the scale 1-5 only; {} has {:g}-{:g}",
                    criterion.name,
                    scale.min,
                    scale.max,
                    parser="as-published",
                ),
                hint=Advice("use {parser}", parser="ours"),
            )
        explanation = response.text if len(response.text) > _LONGEST_BARE_RATING else None
        match = _FIRST_NUMBER.search(response.text)
        if match is not None and 1 <= float(match.group()) <= 5:
            return Judgment("ok", float(match.group()), (), explanation, match.span())
        return Judgment("ok", _MIDPOINT, ("imputed",), explanation, None)


def load() -> AsPublished:
    return AsPublished()
