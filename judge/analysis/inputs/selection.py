"""Restricts a ratings table to some criteria, judges or Eval-Prompts.

The ratings table is restricted before the analysis, not the printed tables after it. Coverage, averages over criteria,
families of tests and the signature therefore all describe the same selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.inputs.panels import of_panel
from judge.analysis.inputs.pass_rate import with_pass_rate
from judge.analysis.options.table_options import names
from judge.base.errors import SpecError, unknown_value
from judge.ratings.ratings_table.labels import with_scales

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable, RunFacts


@dataclass(frozen=True, slots=True)
class Selection:
    """Names of criteria, judges and Eval-Prompts to keep, ignoring letter case; an empty tuple keeps all.

    `panel` restricts human ratings to one panel. `people` names additional human criteria to keep, with which judges
    are compared. With `pass_rate`, the share of positive labels over all binary criteria is an additional criterion,
    whichever criteria are kept.
    """

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
        """The selection that options describe: for each, None keeps all, and a string is one name."""
        besides = tuple(choice for choice in people if choice)
        return cls(names(criteria or ()), names(judges or ()), names(eval_prompts or ()), besides, pass_rate, panel)


def narrowed(table: RatingsTable, keep: Selection) -> RatingsTable:
    """The table with the judges' rows that `keep` names, and the human ratings of the criteria that it names.

    Where people rated no criterion that a judge rated, all human ratings stay, because judges are compared with them.

    Raises
    ------
    SpecError
        A name does not occur in the table, or no row remains.
    """
    if keep.panel is not None:
        table = of_panel(table, keep.panel)
    if keep.pass_rate:
        table = with_pass_rate(table)
    if not (keep.criteria or keep.judges or keep.eval_prompts):
        return table
    frame = table.frame
    judged = frame["source"] == "judge"
    wanted = pd.Series(data=True, index=frame.index)
    if keep.criteria:
        named = _is(frame["criterion"], keep.criteria, "criterion", frame["criterion"])
        folded = frame["criterion"].astype(str).str.casefold()
        in_common = set(folded[judged]) & set(folded[~judged])
        others = (
            folded.isin(_folded((*keep.people, *_declared(table, keep)))) if in_common or not judged.any() else True
        )
        wanted &= named | (~judged & others)
    if keep.judges:
        wanted &= ~judged | _is(frame["judge"], keep.judges, "judge", frame.loc[judged, "judge"])
    if keep.eval_prompts:
        wanted &= ~judged | _is(frame["eval_prompt"], keep.eval_prompts, "eval_prompt", frame["eval_prompt"])
    kept = frame[wanted]
    if kept.empty or ((keep.judges or keep.eval_prompts) and not bool((kept["source"] == "judge").any())):
        words = [*keep.judges, *keep.eval_prompts, *keep.criteria]
        raise SpecError(f"nothing in these runs is at once {', '.join(words)}")
    facts = (_facts(fact, frame, keep) for fact in table.facts)
    part = replace(table, frame=kept, facts=tuple(fact for fact in facts if fact is not None))
    left = {str(name).casefold() for name in kept["criterion"].dropna().unique()}
    return with_scales(part, {key: scale for key, scale in table.labels.items() if key[1] in left})


def _declared(table: RatingsTable, keep: Selection) -> list[str]:
    """Human criteria with which the runs compare the judges' criteria that are kept."""
    kept = _folded(keep.criteria)
    return [theirs for fact in table.facts for own, theirs in fact.people.items() if own.casefold() in kept]


def _is(column: pd.Series[str], wanted: Sequence[str], option: str, values: pd.Series[str]) -> pd.Series[bool]:
    levels = {str(name).casefold(): str(name) for name in values.dropna().unique()}
    for name in wanted:
        if name.casefold() not in levels:
            raise unknown_value(option, name, levels.values())
    return column.isin([levels[name.casefold()] for name in wanted])


def _facts(fact: RunFacts, frame: pd.DataFrame, keep: Selection) -> RunFacts | None:
    """Description of a result folder, restricted to the judges, criteria and Eval-Prompts that are kept.

    None where none of its judges is kept.
    """
    rows = (frame["run"] == fact.run) & (frame["source"] == "judge")
    own = [str(name) for name in frame.loc[rows, "judge"].dropna().unique()]
    run_judges = [fact.judge] if fact.judge in own else own
    judges = [name for name in run_judges if not keep.judges or name.casefold() in _folded(keep.judges)]
    if keep.judges and not judges:
        return None
    if fact.judge not in own and keep.judges:
        fact = replace(fact, judge=", ".join(judges))
    if keep.criteria:
        fact = replace(fact, criteria=tuple(c for c in fact.criteria if c.name.casefold() in _folded(keep.criteria)))
    if keep.eval_prompts:
        left = tuple(name for name in fact.eval_prompts if name.casefold() in _folded(keep.eval_prompts))
        fact = replace(fact, eval_prompts=left)
    return fact


def _folded(some: Sequence[str]) -> set[str]:
    return {name.casefold() for name in some}
