"""What of runs is looked at: criteria, judges, Eval-Prompts, a panel of raters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.analysis.options.table_options import names


@dataclass(frozen=True, slots=True)
class Selection:
    """Names of criteria, judges and Eval-Prompts to keep, ignoring letter case; an empty tuple keeps all. `panel`
    restricts human ratings. `people` names additional human criteria to keep, with which judges are compared.
    `pass_rate` adds the pass rate, whichever criteria are kept."""

    criteria: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    eval_prompts: tuple[str, ...] = ()
    people: tuple[str, ...] = ()
    pass_rate: bool = False
    panel: str | None = None

    @classmethod
    def of(
        cls,
        criteria: str | Sequence[str] | None,
        judges: str | Sequence[str] | None,
        eval_prompts: str | Sequence[str] | None,
        people: Sequence[str | None] = (),
        *,
        pass_rate: bool = False,
        panel: str | None = None,
    ) -> Selection:
        """The selection that options describe: None keeps all, and a string is one name."""
        besides = tuple(choice for choice in people if choice)
        return cls(names(criteria or ()), names(judges or ()), names(eval_prompts or ()), besides, pass_rate, panel)
