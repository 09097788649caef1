"""Restricts a ratings table to criteria, judges, Eval-Prompts or a panel, and adds the pass rate as a criterion.

The pass rate is the share of a story's binary criteria that have the positive label, for each repeat of a judge and for
each person. It is missing if the rater did not label the story on all criteria. No rater was asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from judge.analysis.options.selection import Selection
from judge.base.errors import SpecError, unknown_value
from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import PANEL, RatingsTable, RunFacts
from judge.ratings.ratings_table.columns import Scales, panels_in, pooled_note, with_scales

# Panels of human raters: their names, and the ratings table restricted to one panel.


def panels_of(table: RatingsTable) -> tuple[str, ...]:
    """Names of the panels that raters belong to; empty if none is known, or in a table of one panel."""
    return panels_in(table.frame)


def of_panel(table: RatingsTable, panel: str) -> RatingsTable:
    """All judges and one panel's raters, without the panel column. Raises SpecError for an unknown panel."""
    names = {name.casefold(): name for name in panels_of(table)}
    if panel.casefold() not in names:
        raise unknown_value("panel", panel, names.values())
    name = names[panel.casefold()]
    frame = table.frame
    kept = frame[(frame["source"] == "judge") | (frame[PANEL].astype(object) == name)]
    note = _alone(name)
    pooled = pooled_note(panels_of(table))
    facts = (replace(fact, notes=(*(each for each in fact.notes if each != pooled), note)) for fact in table.facts)
    return replace(table, frame=kept.drop(columns=PANEL), facts=tuple(facts), panel=name)


def people_said(table: RatingsTable) -> tuple[str, ...]:
    """Note on whose ratings are used: one panel's, or all panels'; empty where no panel is known."""
    if table.panel is not None:
        return (_alone(table.panel),)
    panels = panels_of(table)
    return (pooled_note(panels),) if panels else ()


def _alone(panel: str) -> str:
    return f"people: those of the panel {panel} only"


PASS_RATE = "pass rate"  # noqa: S105  no password

# One reading of a story by a judge or a person.
_READING = ["run", "judge", "dataset", "story", "eval_prompt", "source", "rater", "repeat"]
_KNOWN = ("ok", "imported")


@dataclass(frozen=True, slots=True)
class _PassRates:
    """Rows with the pass rates of one dataset; `without` counts a source's readings without one, and all."""

    rows: pd.DataFrame
    criteria: tuple[str, ...]
    without: dict[str, tuple[int, int]]


def with_pass_rate(table: RatingsTable) -> RatingsTable:
    """The table with `PASS_RATE` as a criterion: the share of positive labels over the binary criteria that judges and
    people labelled. Raises SpecError if no dataset has two."""
    frame = table.frame
    rates_by_dataset = {}
    for dataset in frame["dataset"].dropna().unique():
        rates = _of_dataset(frame[frame["dataset"] == dataset], str(dataset), table.labels)
        if rates is not None:
            rates_by_dataset[str(dataset)] = rates
    if not rates_by_dataset:
        raise SpecError("a pass rate is over two binary criteria or more, and these runs have fewer")
    rows = [dataset_rates.rows[list(frame.columns)] for dataset_rates in rates_by_dataset.values()]
    coded = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    plain = frame.astype(dict.fromkeys(coded, object))
    whole = pd.concat([plain, *rows], ignore_index=True)
    whole["repeat"] = whole["repeat"].astype(frame["repeat"].dtype)
    whole["rating"] = whole["rating"].astype(np.float64)
    facts = []
    for fact in table.facts:
        dataset_rates = rates_by_dataset.get(fact.dataset)
        if dataset_rates is None:
            facts.append(fact)
            continue
        count = len(dataset_rates.criteria)
        scale = Scale(0, 1, 1 / count)
        rate = Criterion(PASS_RATE, f"{PASS_RATE} of {count}", _definition(dataset_rates), scale)
        facts.append(
            replace(fact, criteria=(*fact.criteria, rate), notes=(*fact.notes, _note(fact.dataset, dataset_rates)))
        )
    return replace(table, frame=whole, facts=tuple(facts))


def asked_for(table: RatingsTable) -> RatingsTable:
    """The table without pass rates, for counts of requests; unchanged if no other rows would remain."""
    kept = table.frame[table.frame["criterion"] != PASS_RATE]
    return replace(table, frame=kept) if 0 < len(kept) < len(table.frame) else table


def _of_dataset(frame: pd.DataFrame, dataset: str, scales: Scales) -> _PassRates | None:
    """Pass rates over the binary criteria that judges and people labelled; None with fewer than two of these."""
    name = frame["criterion"].astype(str).str.casefold()
    judged = frame["source"] == "judge"
    rated_names = [set(name[side]) for side in (judged, ~judged) if side.any()]
    common = set.intersection(*rated_names) if rated_names else set()
    codes = {
        criterion: scale.positive_code
        for criterion in dict.fromkeys(name[judged])
        if criterion in common
        and (scale := scales.get((dataset, criterion))) is not None
        and scale.positive_code is not None
    }
    chosen = list(codes)
    if len(chosen) < 2:
        return None
    titles = dict(zip(name[judged], frame["criterion"][judged].astype(str), strict=True))
    part = frame[name.isin(chosen)].copy()
    part["_criterion"] = name[part.index]
    code = part["_criterion"].map(codes).to_numpy(dtype=np.float64)
    rating = part["rating"].to_numpy(dtype=np.float64, na_value=np.nan)
    whole = np.isin(rating, (0.0, 1.0))
    part["_passed"] = np.where(whole, rating == code, np.nan).astype(np.float64)
    sides = [_rates(part[judged[part.index]], chosen), _rates(_persons(part[~judged[part.index]]), chosen)]
    without = {
        source: (int(side["rating"].isna().sum()), len(side))
        for source, side in zip(("judge", "rater"), sides, strict=True)
        if len(side)
    }
    # A person without a pass rate has no row, as people without a rating have none.
    people = sides[1][sides[1]["rating"].notna()]
    return _PassRates(pd.concat([sides[0], people]), tuple(titles[criterion] for criterion in chosen), without)


def _persons(people: pd.DataFrame) -> pd.DataFrame:
    unknown = people["rater"].isna()
    several = people.duplicated(["dataset", "story", "_criterion"], keep=False)
    kept = people.copy()
    # Without names, several labels of one criterion cannot be assigned to persons.
    kept.loc[unknown & several, "_passed"] = np.nan
    return kept


def _rates(part: pd.DataFrame, chosen: Sequence[str]) -> pd.DataFrame:
    """Rows with the pass rate, one for each repeat, or person and story; NaN where a label of `chosen` is missing."""
    if part.empty:
        return part.assign(criterion=PASS_RATE)
    number = part.astype(dict.fromkeys(_READING, object)).groupby(_READING, sort=False, dropna=False).ngroup()
    groups = part.groupby(number.to_numpy(), sort=True)
    complete = (groups["_criterion"].nunique() == len(chosen)) & (groups["_passed"].count() == groups.size())
    rate = groups["_passed"].mean().where(complete).to_numpy(dtype=np.float64)
    lost = part["_passed"].isna()
    # What became of a reading without a rate is what became of the first label that it lacks.
    status = part["status"].astype(object).where(~part["status"].isin(_KNOWN), "no_rating")[lost]
    cause = status.groupby(number[lost].to_numpy()).first().reindex(range(rate.size), fill_value="not_answered")
    rows = part[~number.duplicated()].reset_index(drop=True)
    rows["rating"] = rate
    rows["status"] = np.where(np.isnan(rate), cause.to_numpy(dtype=object), rows["status"].astype(object))
    blank = {name: None for name in ("explanation", "label") if name in rows}
    return rows.assign(criterion=PASS_RATE, flags="", **blank)


def _definition(rates: _PassRates) -> str:
    return f"share of {len(rates.criteria)} criteria with the positive label: {', '.join(rates.criteria)}"


def _note(dataset: str, rates: _PassRates) -> str:
    names = {"judge": "judges' repeats", "rater": "people's readings"}
    lost = [f"{count} of {total} {names[source]}" for source, (count, total) in rates.without.items()]
    return (
        f"{dataset}: {PASS_RATE}: {_definition(rates)}; undefined, as one of them has no label, for "
        f"{' and '.join(lost)} of a story"
    )


# Restricts a ratings table to some criteria, judges or Eval-Prompts.


def narrowed(table: RatingsTable, keep: Selection) -> RatingsTable:
    """The table with the judges' rows, and the human ratings of the criteria, that `keep` names. All human ratings stay
    if people rated no criterion that a judge rated, because judges are compared with them. Raises SpecError for a name
    that does not occur, or if no row remains."""
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
        named = is_named(frame["criterion"], keep.criteria, "criterion", frame["criterion"])
        folded = frame["criterion"].astype(str).str.casefold()
        in_common = set(folded[judged]) & set(folded[~judged])
        others = (
            folded.isin(_folded((*keep.people, *_declared(table, keep)))) if in_common or not judged.any() else True
        )
        wanted &= named | (~judged & others)
    if keep.judges:
        wanted &= ~judged | is_named(frame["judge"], keep.judges, "judge", frame.loc[judged, "judge"])
    if keep.eval_prompts:
        wanted &= ~judged | is_named(frame["eval_prompt"], keep.eval_prompts, "eval_prompt", frame["eval_prompt"])
    kept = frame[wanted]
    if kept.empty or ((keep.judges or keep.eval_prompts) and not bool((kept["source"] == "judge").any())):
        words = [*keep.judges, *keep.eval_prompts, *keep.criteria]
        raise SpecError(f"nothing in these runs is at once {', '.join(words)}")
    facts = (_facts(fact, frame, keep) for fact in table.facts)
    part = replace(table, frame=kept, facts=tuple(fact for fact in facts if fact is not None))
    left = {str(name).casefold() for name in kept["criterion"].dropna().unique()}
    return with_scales(part, {key: scale for key, scale in table.labels.items() if key[1] in left})


def _declared(table: RatingsTable, keep: Selection) -> list[str]:
    kept = _folded(keep.criteria)
    return [theirs for fact in table.facts for own, theirs in fact.people.items() if own.casefold() in kept]


def is_named(column: pd.Series[str], wanted: Sequence[str], option: str, values: pd.Series[str]) -> pd.Series[bool]:
    """Whether each entry of the column is one of the `wanted`, in any case. Raises OptionError if one is no value."""
    levels = {str(name).casefold(): str(name) for name in values.dropna().unique()}
    for name in wanted:
        if name.casefold() not in levels:
            raise unknown_value(option, name, levels.values())
    return column.isin([levels[name.casefold()] for name in wanted])


def _facts(fact: RunFacts, frame: pd.DataFrame, keep: Selection) -> RunFacts | None:
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
