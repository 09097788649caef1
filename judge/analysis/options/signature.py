"""The signature line under every table, which lists each choice that can change a number in the table.

``HANNA:960|crit:CH|ep:ep3|judge:name@rev|rep:3|parser:ours/4|tau:b|level:system|drop:Human|ci:boot-inputs/1000/seed1|unparsed:0.4%|v1.0.0``
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judge.analysis.options.agreement_options import PEOPLE_FRAGMENTS, PLANNING_FRAGMENTS
from judge.analysis.options.agreement_options import SHOWN_BY as PEOPLE_SHOWN_BY
from judge.analysis.options.choices import INTERVALS, Unit
from judge.analysis.options.table_options import Options
from judge.base.printing.tables import Column, flat_row
from judge.stats.correlation.coefficients import COEFFICIENTS
from judge.version import __version__

if TYPE_CHECKING:
    import pandas as pd

    from judge.ratings.rating_matrix import RatingMatrix
    from judge.ratings.ratings_table import RatingsTable


# As Deutsch, Dror & Roth 2021 name the tests: PERM-BOTH, PERM-INPUTS, PERM-SYSTEMS.
_SWAPPED: dict[Unit, str] = {"stories": "both", "story-prompts": "inputs", "systems": "systems"}


def _interval(options: Any) -> str:
    how = options.interval
    return f"ci:{how}/{options.resamples}/seed{options.seed}" if INTERVALS[how].resampled else f"ci:{how}"


def _mean_interval(options: Any) -> str:
    how = options.mean_interval
    return f"boot-inputs/{options.resamples}/seed{options.seed}" if how == "boot" else str(how)


# Option -> its part of the signature. `ci`, `mean_interval` and `permutations` show `resamples` and `seed` too.
FRAGMENTS: dict[str, Callable[[Any], str | None]] = {
    "coefficient": lambda o: COEFFICIENTS[o.coefficient].signature,
    "level": lambda o: f"level:{o.level}",
    "drop_systems": lambda o: f"drop:{','.join(o.drop_systems)}" if o.drop_systems else None,
    "against": lambda o: f"against:{o.against}" if o.against else None,
    "interval_kind": lambda o: o.method if INTERVALS[o.interval].resampled else None,
    "readings": lambda o: f"readings:{o.readings}" if o.readings != "mean" else None,
    "given": lambda o: f"given:{o.given}" if o.given else None,
    "ci": _interval,
    "by": lambda o: f"by:{o.by}",
    "baseline": lambda o: f"base:{o.baseline}" if o.baseline else None,
    "adjust": lambda o: f"adj:{o.adjust}",
    "permutations": lambda o: (
        f"ci:boot-inputs+boot-both-{o.both}/{o.resamples}|perm:{_SWAPPED[o.swapped]}/{o.permutations}|seed{o.seed}"
    ),
    "engine": lambda o: f"engine:{o.engine}" if o.engine != "ours" else None,
    "own": lambda o: f"own:{','.join(o.own)}" if o.own else None,
    "no_own": lambda o: "own:none" if o.no_own else None,
    "alpha": lambda o: f"alpha:{o.alpha:g}",
    "mean_interval": lambda o: f"ci:{_mean_interval(o)}|ranks:boot-inputs/{o.resamples}/seed{o.seed}",
    "holm_over": lambda o: f"holm:{o.holm_over}",
    "between": lambda o: f"between:{o.between}",
    "ties": lambda o: f"ties:{o.ties}",
    "bootstraps": lambda o: f"ci:boot-inputs/{o.bootstraps}" if o.bootstraps else "ci:clustered",
    "margin": lambda o: f"margin:±{o.margin:g}",
    "target": lambda o: f"target:{o.target:g}",
    "combiner": lambda o: f"jury:{o.combiner}",
    "members": lambda o: f"members:{','.join(o.members)}" if o.members else None,
    "min_members": lambda o: f"min-members:{o.min_members}" if o.min_members > 1 else None,
    "all_criteria": lambda o: f"predictors:{'all' if o.all_criteria else 'own'}-criteria",
    "with_features": lambda o: "+features" if o.with_features else None,
    "calibrate": lambda o: f"calibrate:{o.calibrate}" if o.calibrate != "none" else None,
    "predict": lambda o: f"predict:{o.predict:g}" if o.predict is not None else None,
    "carry_over": lambda o: f"carry-over:±{o.carry_over:g}" if o.carry_over is not None else None,
    "hold_out": lambda o: f"hold-out:{o.hold_out}",
    "folds": lambda o: f"folds:{o.foldings}x{o.folds}/seed{o.seed}" if hasattr(o, "foldings") else f"folds:{o.folds}",
    **PEOPLE_FRAGMENTS,
    **PLANNING_FRAGMENTS,
    "seed": lambda o: None if hasattr(o, "resamples") else f"seed:{o.seed}",
}

# Options that another option's fragment shows.
SHOWN_BY = {"resamples": "ci", "foldings": "folds", "swap": "permutations", **PEOPLE_SHOWN_BY}

# Options that move no number, and why.
EXEMPT = {
    "control": "adds or leaves out rows of the control judge; no other row's number depends on it",
    "as_published": "adds a table of correlations; no other number depends on it",
    "top": "the length of a list; no row's number depends on it",
    "changes": "the length of a list; no row's number depends on it",
    "old_judge": "names the judge that is replaced, as the table does",
    "new_judge": "names the judge that replaces it, as the table does",
    "family": "words that say what the adjusted tests are about; they stand in a note",
}


# Of a table without any interval, whatever the options say of those of other tables.
NO_INTERVAL = ""

_INTERVALS = ("ci", "interval_kind", "mean_interval", "permutations", "bootstraps")


def signature(
    table: RatingsTable,
    matrices: Sequence[RatingMatrix],
    options: Options | None = None,
    *,
    extra: Sequence[str] = (),
    intervals: str | None = None,
    without: Collection[str] = (),
) -> str:
    """Signature line of a table: each choice that can change a number in it. Arguments as of `signature_parts`."""
    return joined(signature_parts(table, matrices, options, extra=extra, intervals=intervals, without=without))


def joined(parts: Iterable[str]) -> str:
    return "|".join(parts)


def signature_parts(
    table: RatingsTable,
    matrices: Sequence[RatingMatrix],
    options: Options | None = None,
    *,
    extra: Sequence[str] = (),
    intervals: str | None = None,
    without: Collection[str] = (),
) -> tuple[str, ...]:
    """Parts of a table's signature line. `matrices` hold the ratings used, `extra` are additional parts. `intervals`
    names the table's intervals if they differ from those of the options (`NO_INTERVAL`: it has none). `without` names
    options that change no number of this table."""
    cells = [cell for matrix in matrices for cell in matrix.cells]
    parts: list[str | None] = [",".join(f"{m.dataset}:{_stories(m)}" for m in matrices) or "no stories"]
    parts.append(listed("crit", (abbreviations(table).get(cell.criterion, cell.criterion) for cell in cells)))
    parts.append(listed("ep", (cell.eval_prompt for cell in cells)))
    parts.append(listed("judge", judges(table)))
    parts += _not_in_force(table)
    parts.append(f"panel:{table.panel}" if table.panel else None)
    parts.append(listed("rep", (str(fact.repeats) for fact in table.facts if fact.repeats)))
    parts.append(listed("parser", (fact.parser for fact in table.facts)))
    if options is not None:
        fields = [name for name in FRAGMENTS if hasattr(options, name) and name not in without]
        if intervals is not None:
            fields = [name for name in fields if name not in _INTERVALS]
        parts += [FRAGMENTS[name](options) for name in fields]
    parts.append(f"ci:{intervals}" if intervals else None)
    parts += [*extra, _unparsed(matrices), f"v{__version__}"]
    return tuple(part for part in parts if part)


def judges(table: RatingsTable) -> list[str]:
    """`name@revision` of each result folder's judge; control judges are marked ``(control)``."""
    names = []
    for fact in table.facts:
        name = f"{fact.judge}@{fact.revision}" if fact.revision else str(fact.judge)
        names.append(f"{name}(control)" if fact.control else name)
    return names


def _not_in_force(table: RatingsTable) -> list[str]:
    """Requested settings that are not confirmed to be in force; with the judge's name if they differ."""
    marks = list(dict.fromkeys(fact.not_in_force for fact in table.facts))
    if len(marks) == 1:
        return marks
    return [f"{fact.not_in_force}({fact.judge})" for fact in table.facts if fact.not_in_force]


def abbreviations(table: RatingsTable) -> dict[str, str]:
    """Abbreviations of criteria, where the result folders have one."""
    short_names: dict[str, str] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            short = getattr(criterion, "abbreviation", None)
            if short:
                short_names[str(getattr(criterion, "name", criterion))] = str(short)
    return short_names


def _stories(matrix: RatingMatrix) -> int:
    return int((matrix.asked > 0).any(axis=0).sum()) if matrix.cells else matrix.n


def listed(key: str, values: Iterable[str]) -> str | None:
    distinct = list(dict.fromkeys(values))
    return f"{key}:{','.join(distinct)}" if distinct else None


def _unparsed(matrices: Sequence[RatingMatrix]) -> str | None:
    asked = sum(int(matrix.asked.sum()) for matrix in matrices)
    rated = sum(int(matrix.valid.sum()) for matrix in matrices)
    return f"unparsed:{100 * (asked - rated) / asked:.1f}%" if asked else None


# Base of every result of an analysis: its signature and its notes.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Signed:
    """Base of a result. `signature_parts` list each choice that can change its numbers; `notes` are sentences, each
    once."""

    signature_parts: tuple[str, ...]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", tuple(dict.fromkeys(self.notes)))

    @property
    def signature(self) -> str:
        """The signature line of its tables and figures."""
        return joined(self.signature_parts)

    def wide(self, rows: Iterable[Mapping[str, Any]], about: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
        """Rows as a frame: the columns `about` as they are, and `numbers` with the parts of their estimates."""
        columns = [Column(name, name) for name in numbers]
        return self.signed({name: row[name] for name in about} | flat_row(row, columns) for row in rows)

    def signed(self, rows: Iterable[object], columns: Sequence[str] | None = None) -> pd.DataFrame:
        """These rows (mappings, or tuples by `columns`) as a frame, with signature line and notes in its `attrs`."""
        import pandas as pd

        from judge.analysis.frames import signed

        frame = pd.DataFrame(list(rows), columns=None if columns is None else list(columns))
        return signed(frame, self.signature, self.notes)
