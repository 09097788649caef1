"""Counts of repeats: *asked* = requested, *answered* = a text arrived, *rated* = a rating was read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from judge.analysis.options.signature import Signed
from judge.analysis.preference.sides import signature_parts
from judge.base.printing.tables import Column, Table, cells_of
from judge.ratings.preferences_table import PreferencesTable
from judge.ratings.ratings_table import RatingsTable

# What stands for the parser of ratings that were never parsed here.
IMPORTED = "imported"

# What is counted, by how it came, as a subject with its verb; of imported ratings nobody knows what was requested.
_COUNTED = {
    "asked": "repeats have a rating",
    IMPORTED: "imported ratings can be used",
    "asked or imported": "repeats and imported ratings can be used",
}

# Statuses without a text of the judge.
NOT_ANSWERED = ("not_answered", "filtered")

# Flags that say why an answer is ambiguous: its only number is that of a list, or its only rating is quoted.
WHY_AMBIGUOUS = ("list", "quoted")


@dataclass(frozen=True, slots=True)
class CountRow:
    """Counts of a judge's repeats in one group. `labels` identify the group. `lost` counts repeats without a rating by
    status, e.g. ``no_rating``; `why` those of them with an ambiguous answer: its only number is that of a list
    (``list``), or its only rating is in quotation marks (``quoted``)."""

    labels: tuple[object, ...]
    stories: int
    asked: int
    answered: int
    rated: int
    lost: Mapping[str, int]
    why: Mapping[str, int]

    @property
    def share(self) -> float:
        return self.rated / self.asked


@dataclass(frozen=True, slots=True)
class Counts:
    """Judges' repeats counted in groups by columns of the ratings table; no rows where no judge was asked. `causes` and
    `flags` are the statuses and flags that occur. `came` is ``asked``, ``imported``, or ``asked or imported``."""

    by: tuple[str, ...]
    rows: tuple[CountRow, ...]
    causes: tuple[str, ...]
    flags: tuple[str, ...]
    came: str = "asked"

    @property
    def frame(self) -> pd.DataFrame:
        """One row per group; a column for each status of a lost repeat and each flag of an ambiguous answer."""
        rows = [
            (
                *(*row.labels, row.stories, row.asked, row.answered, row.rated, row.share),
                *(*row.lost.values(), *row.why.values()),
            )
            for row in self.rows
        ]
        columns = [*self.by, "stories", "asked", "answered", "rated", "share", *self.causes, *self.flags]
        return pd.DataFrame(rows, columns=columns)


def count(table: RatingsTable, by: Sequence[str], *, drop_systems: Sequence[str] = ()) -> Counts:
    """Judges' repeats counted in groups of equal values in the columns `by`."""
    frame = table.frame
    asked = ((frame["source"] == "judge") & ~frame["system"].isin(list(drop_systems))).to_numpy()
    lost = frame["rating"].isna().to_numpy()[asked]
    status = frame["status"][asked]
    dataset, story = pd.factorize(frame["dataset"])[0], pd.factorize(frame["story"])[0]
    view = frame[list(by)][asked].assign(
        _story=(dataset * (story.max(initial=0) + 1) + story)[asked],
        _answered=~status.isin(NOT_ANSWERED).to_numpy(),
        _rated=~lost,
    )
    groups = view.groupby(list(by), sort=False, dropna=False, observed=True)
    out = pd.DataFrame(
        {
            "stories": groups["_story"].nunique(),
            "asked": groups.size(),
            "answered": groups["_answered"].sum(),
            "rated": groups["_rated"].sum(),
        }
    )
    missing, causes = view[lost], status[lost]
    flags = ";" + frame["flags"][asked][lost].astype(str) + ";"
    holds = {str(cause): (causes == cause).to_numpy() for cause in sorted(causes.unique())}
    why = {flag: flags.str.contains(f";{flag};", regex=False).to_numpy() for flag in WHY_AMBIGUOUS}
    why = {flag: some for flag, some in why.items() if some.any()}
    for name, some in (holds | why).items():
        named = missing[some].groupby(list(by), sort=False, dropna=False, observed=True)
        out[name] = named.size().reindex(out.index).fillna(0).astype(int)
    rows = tuple(
        CountRow(
            labels=tuple(row[name] for name in by),
            **{name: row[name] for name in ("stories", "asked", "answered", "rated")},
            lost={cause: row[cause] for cause in holds},
            why={flag: row[flag] for flag in why},
        )
        for row in out.reset_index().to_dict("records")
    )
    return Counts(tuple(by), rows, tuple(holds), tuple(why), _came(table, set(frame["run"][asked].unique())))


def said(rated: int, asked: int, lost: Mapping[str, int], came: str = "asked") -> str:
    """How many of what was asked or imported have a rating, with the causes of the others' loss."""
    named = ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in lost.items() if number)
    return f"{rated:,} of {asked:,} {_COUNTED[came]}{f' (lost: {named})' if named else ''}."


def origin(imported: Sequence[bool]) -> str:
    """How the ratings of some rows came, of which it is known whether each is imported."""
    return IMPORTED if all(imported) else "asked or imported" if any(imported) else "asked"


def _came(table: RatingsTable, runs: set[str]) -> str:
    imported = {fact.run for fact in table.facts if fact.parser == IMPORTED}
    return origin([run in imported for run in runs]) if runs else "asked"


# Coverage of pairwise comparisons by judges: repeats requested, answered and decided.

_BY: tuple[tuple[str, ...], ...] = (("judge", "eval_prompt"), ("judge", "criterion"))


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """Counts of repeats in one group of pairwise comparisons. `decided` counts repeats with a verdict (one of the
    stories or a tie), `lost` those without by status."""

    labels: tuple[str, ...]
    pairs: int
    asked: int
    answered: int
    decided: int
    ties: int
    lost: Mapping[str, int]

    @property
    def share(self) -> float:
        return self.decided / self.asked


@dataclass(frozen=True, slots=True)
class VerdictCoverage(Signed):
    """Pairwise comparisons by judge and Eval-Prompt, and by judge and criterion; no rows without comparisons."""

    rows: Mapping[tuple[str, ...], tuple[VerdictRow, ...]]
    causes: tuple[str, ...]

    @property
    def by_prompt(self) -> tuple[VerdictRow, ...]:
        return self.rows[_BY[0]]

    @property
    def share(self) -> float | None:
        """Share of requested repeats that have a verdict; None where nothing was requested."""
        rows = self.by_prompt
        asked = sum(row.asked for row in rows)
        return sum(row.decided for row in rows) / asked if asked else None


def verdict_coverage(table: PreferencesTable) -> VerdictCoverage:
    """Coverage of all pairwise comparisons requested from judges."""
    frame = table.frame[table.frame["source"] == "judge"]
    lost = frame.loc[frame["preference"].isna(), "status"]
    causes = tuple(sorted(map(str, lost.unique())))
    rows = {by: tuple(_row(key, group, causes) for key, group in frame.groupby(list(by), sort=False)) for by in _BY}
    notes = dict.fromkeys(table.notes)
    return VerdictCoverage(rows, causes, signature_parts=tuple(signature_parts(table)), notes=tuple(notes))


def _row(key: Sequence[Any], group: pd.DataFrame, causes: Sequence[str]) -> VerdictRow:
    preference, status = group["preference"], group["status"]
    undecided = status[preference.isna()].value_counts()
    return VerdictRow(
        labels=tuple(map(str, key)),
        pairs=int(group[["dataset", "pair"]].drop_duplicates().shape[0]),
        asked=len(group),
        answered=int((~status.isin(NOT_ANSWERED)).sum()),
        decided=int(preference.notna().sum()),
        ties=int((preference == "tie").sum()),
        lost={cause: int(undecided.get(cause, 0)) for cause in causes},
    )


def tables(result: VerdictCoverage) -> list[Table]:
    return [_table(by, rows, result) for by, rows in result.rows.items()]


def sentence(result: VerdictCoverage) -> str:
    """A sentence with the number of pairwise comparisons requested, and the number and share that have a verdict."""
    rows = result.by_prompt
    asked, decided = sum(row.asked for row in rows), sum(row.decided for row in rows)
    share = f", {100 * result.share:.1f} %" if result.share is not None else ""
    return f"{asked} comparisons asked, {decided} decided{share}"


def _table(by: Sequence[str], rows: Sequence[VerdictRow], result: VerdictCoverage) -> Table:
    columns = [Column(name, name.replace("_", " ")) for name in (*by, "pairs", "asked", "answered", "decided")]
    columns += [Column("share", "decided %", digits=1, factor=100), Column("ties", "ties")]
    columns += [Column(cause, cause) for cause in result.causes]
    cells = [
        dict(zip(by, row.labels, strict=True))
        | cells_of(row, "pairs", "asked", "answered", "decided", "share", "ties")
        | dict(row.lost)
        for row in rows
    ]
    title = "Verdicts by " + " and ".join(name.replace("eval_prompt", "Eval-Prompt") for name in by)
    return Table(title, columns, cells, result.signature, result.notes)
