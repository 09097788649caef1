"""Preferences as arrays: the pairs of stories, and the preferences of each judge and of people together.

A pair is two stories, whatever order they were shown in and whatever its name; its stories a and b are ordered by id. A
comparison without a preference is counted as lost and is used in no statistic."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.analysis.inputs.selection import is_named
from judge.analysis.options.signature import joined
from judge.analysis.options.table_options import names
from judge.base.arrays import Codes, Floats, Masks, ratio, renumbered
from judge.base.errors import SpecError, unknown
from judge.base.printing.tables import Column, Table, cells_of
from judge.inputs.datasets import known_datasets, open_dataset
from judge.inputs.text_features import tokens
from judge.ratings import preferences_table
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable, of_dataset
from judge.ratings.preferences_table.journaled import ORDER_UNKNOWN
from judge.stats.comparing.paired_comparisons import Comparisons
from judge.version import __version__

# Functions on the preferences table: restrict it to a selection, and show its first rows on the screen.

# Rows on the screen.
_SHOWN = 20

_LEFT_OUT = ["story_prompt", "explanation", "run", "dataset"]


def narrowed(
    table: PreferencesTable,
    criteria: str | Sequence[str] | None,
    judges: str | Sequence[str] | None,
    eval_prompts: str | Sequence[str] | None,
) -> PreferencesTable:
    """The table with the rows of these criteria and, among judges' rows, of these judges and Eval-Prompts; None keeps
    all. Raises SpecError for a name that does not occur in the table, and where no row remains."""
    frame = table.frame
    for column, wanted in (("criterion", criteria), ("judge", judges), ("eval_prompt", eval_prompts)):
        if asked := names(wanted or ()):
            kept = is_named(frame[column], asked, column, frame[column])
            frame = frame[kept if column == "criterion" else kept | frame["judge"].isna()]
    if frame.empty:
        raise SpecError("nothing in these runs has all of these names")
    left = set(frame["judge"].dropna())
    facts = tuple(fact for fact in table.facts if fact.judge in left)
    return replace(table, frame=frame.reset_index(drop=True), facts=facts)


def preview(table: PreferencesTable, *, whole: bool = False) -> Table:
    """The first rows of the preferences table, or with `whole` all, without story-prompts and explanations."""
    frame = table.frame.drop(columns=_LEFT_OUT)
    frame = frame[[name for name in frame.columns if frame[name].notna().any()]]
    head = frame.head(len(frame) if whole else _SHOWN).astype(object)
    head = head.where(head.notna(), None)
    columns = [Column(str(name), str(name), 3) for name in head.columns]
    notes = [f"the first {len(head)} of {len(frame)} rows; -o FILE.csv saves all, with explanations"]
    notes += table.notes
    records = [{str(key): value for key, value in row.items()} for row in head.to_dict("records")]
    return Table("Preferences", columns, records, joined(signature_parts(table)), tuple(dict.fromkeys(notes)))


def signature_parts(table: PreferencesTable) -> Iterator[str]:
    """Parts of the signature line: pairs by dataset, judges, Eval-Prompts, orders, ties, repeats, parsers."""
    frame = table.frame
    counts = frame.groupby("dataset", sort=False)["pair"].nunique()
    yield ",".join(f"{name}:{count} pairs" for name, count in counts.items()) or "no pairs"
    judged = frame[frame["judge"].notna()]
    yield f"crit:{_listed((judged if len(judged) else frame)['criterion'].dropna().unique())}"
    for name, values in _facts(table.facts):
        if values:
            yield f"{name}:{_listed(values)}"
    yield f"v{__version__}"


def _facts(facts: Sequence[ComparisonFacts]) -> Iterator[tuple[str, list[str]]]:
    yield "ep", [prompt for fact in facts for prompt in fact.eval_prompts]
    yield "judge", [f"{fact.judge}@{fact.revision}" if fact.revision else fact.judge for fact in facts]
    yield "rep", [str(fact.repeats) for fact in facts if fact.repeats]
    yield "orders", [fact.orders for fact in facts]
    yield "ties", ["offered" if fact.ties else "none" for fact in facts if fact.orders != "implied"]
    yield "parser", [fact.parser for fact in facts]


def _listed(values: Iterable[object]) -> str:
    return ",".join(dict.fromkeys(map(str, values)))


# Reads the preferences of runs and datasets into one table.


def read(named: Sequence[Path | str]) -> PreferencesTable:
    """Preferences of runs of comparisons, runs of ratings, and (human ones only) datasets by name or file, as one
    table."""
    known = set(known_datasets())
    datasets = [str(name) for name in named if _is_file(Path(name)) or (str(name) in known and not Path(name).exists())]
    runs = [name for name in named if str(name) not in datasets]
    tables = [preferences_table.read(runs)] if runs else []
    there = {str(name) for table in tables for name in table.frame["dataset"].unique()}
    tables += [of_dataset(open_dataset(name)) for name in dict.fromkeys(datasets) if name not in there]
    return tables[0] if len(tables) == 1 else _together(tables)


def _is_file(path: Path) -> bool:
    """Whether a path names a dataset's file; a YAML file defines a run."""
    return path.is_file() and path.suffix.lower() not in (".yaml", ".yml")


def _together(tables: Sequence[PreferencesTable]) -> PreferencesTable:
    frames = [table.frame for table in tables if len(table.frame)] or [tables[0].frame]
    stories = pd.concat([table.stories for table in tables])
    facts = tuple(fact for table in tables for fact in table.facts)
    return PreferencesTable(pd.concat(frames, ignore_index=True), stories[~stories.index.duplicated()], facts)


def of_names(
    table: PreferencesTable,
    criterion: Collection[str] | None,
    judge: Collection[str] | None,
    eval_prompt: Collection[str] | None,
) -> PreferencesTable:
    """All human preferences, and the rows of some criteria, judges and Eval-Prompts; None keeps all. Raises SpecError
    for a name that does not occur."""
    frame = table.frame
    for column, wanted in (("criterion", criterion), ("judge", judge), ("eval_prompt", eval_prompt)):
        if not wanted:
            continue
        folded = frame[column].astype(str).str.casefold()
        for name in wanted:
            if name.casefold() not in set(folded[frame[column].notna()]):
                there = {str(value) for value in frame[column].dropna().unique()}
                raise SpecError(unknown(column.replace("_", " "), name, sorted(there)))
        chosen = folded.isin([name.casefold() for name in wanted])
        people = frame["judge"].isna() if column != "criterion" else frame["source"] == "rater"
        frame = frame[(chosen | people).to_numpy(dtype=bool)]
    asked = {name.casefold() for name in judge or ()}
    facts = tuple(fact for fact in table.facts if not asked or fact.judge.casefold() in asked)
    return PreferencesTable(frame, table.stories, facts)


Kind = Literal["people", "judge", "implied"]

_KINDS: dict[str, Kind] = {"rater": "people", "judge": "judge", "implied": "implied"}
_WORDS = ("first", "second", "tie")
_SAME = 1e-9
PEOPLE = "people"


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The pairs of stories of one dataset that were compared. `stories` has one row per story (its index):
    story_prompt, system, words (counted by the program where there is a text), text. Arrays have shape (pairs,): `a`
    and `b` are rows of `stories`, ordered by id; `prompt` is numbered from 0; `log_words` is the log of a's words
    divided by b's, NaN where a length is unknown or 0."""

    dataset: str
    stories: pd.DataFrame
    a: Codes
    b: Codes
    prompt: Codes
    log_words: Floats

    @property
    def n(self) -> int:
        return int(self.a.size)

    @property
    def system(self) -> tuple[Codes, tuple[str, ...]]:
        """Index of the system of each story, and the systems' names."""
        code, names = pd.factorize(self.stories["system"].astype(str), sort=True)
        return code.astype(np.int64), tuple(str(name) for name in names)

    @property
    def thirds(self) -> Codes:
        """Third (0, 1, 2) of each pair by difference in length, shape (pairs,): 0 = most similar, -1 = unknown."""
        apart = np.abs(self.log_words)
        measured = np.flatnonzero(~np.isnan(apart))
        out = np.full(self.n, -1, dtype=np.int64)
        out[measured[np.argsort(apart[measured], kind="stable")]] = (
            3 * np.arange(measured.size) // max(1, measured.size)
        )
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """Preferences between two stories by one judge (or by people together) on one criterion, one entry per comparison
    with a preference, n in all. An ``implied`` preference follows from two mean ratings. `pair` is an index into
    `pairs`. `forward`: story a was shown first. `ended`, shape (n, 3), is the outcome in the order shown: first, second
    or tie; shares where the verdict was scored by log-probabilities. `value` is 1 where a was preferred, -1 where b, 0
    for a tie. `rater` names the person, where known. `lost` counts comparisons without a preference. `placed`: the
    order shown is known for each comparison; for people it never is."""

    pairs: Pairs
    kind: Kind
    run: str | None
    judge: str | None
    eval_prompt: str | None
    criterion: str
    pair: Codes
    forward: Masks
    ended: Floats
    value: Floats
    rater: NDArray[np.object_]
    lost: int
    placed: bool

    @property
    def name(self) -> str:
        """Name in tables; preferences implied by ratings are marked, as in ``people, ratings``."""
        who = self.judge or PEOPLE
        return f"{who}, ratings" if self.kind == "implied" else who

    @property
    def labels(self) -> dict[str, str | None]:
        """Values of the columns that identify a table row."""
        return {
            "dataset": self.pairs.dataset,
            **cells_of(self, "run", "judge", "eval_prompt", "criterion"),
            "source": self.kind,
        }

    @property
    def about(self) -> tuple[str, str, str | None, str, str | None, str]:
        """Whose preferences these are, as the fields of `standings.OfSide`."""
        return self.pairs.dataset, self.kind, self.run, self.name, self.eval_prompt, self.criterion

    @property
    def net(self) -> Floats:
        """Net preference, shape (pairs,): 1 for story a, -1 for story b, 0 if balanced; NaN if there is none."""
        return net_of(self.pair, self.value, self.pairs.n)

    def only(self, rows: Codes) -> Side:
        """These preferences restricted to the comparisons with these row numbers."""
        return replace(
            self, **{name: getattr(self, name)[rows] for name in ("pair", "forward", "ended", "value", "rater")}, lost=0
        )

    def comparisons(self, *, of_stories: bool = False, length: bool = False) -> Comparisons:
        """Comparisons from which strengths of systems (without pairs of one system) or of stories are fitted. `length`
        adds the difference in length as a covariate, and leaves out comparisons where it is unknown."""
        pairs = self.pairs
        if of_stories:
            code, names = np.arange(len(pairs.stories)), tuple(str(name) for name in pairs.stories.index)
        else:
            code, names = pairs.system
        a, b = code[pairs.a[self.pair]], code[pairs.b[self.pair]]
        log_words = pairs.log_words[self.pair]
        kept = (a != b) & ~(np.isnan(log_words) & length)
        first, second = np.where(self.forward, a, b)[kept], np.where(self.forward, b, a)[kept]
        present, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
        first, second = codes.reshape(2, -1).astype(np.int64)
        lead = np.where(self.forward, log_words, -log_words)[kept][:, None]
        covariates = lead if length else np.empty((first.size, 0))
        shown = tuple(names[k] for k in present)
        return Comparisons(shown, first, second, self.ended[kept], pairs.prompt[self.pair][kept], covariates)


def net_of(pair: Codes, value: Floats, pairs: int) -> Floats:
    """Sign (1, 0 or -1) of the mean value of each pair, shape (pairs,); NaN = none. `pair` is that of each value."""
    mean = ratio(np.bincount(pair, weights=value, minlength=pairs), np.bincount(pair, minlength=pairs))
    return np.asarray(np.where(np.abs(mean) < _SAME, 0.0, np.sign(mean)), dtype=np.float64)


def datasets(table: PreferencesTable, drop_systems: Sequence[str] = ()) -> Iterator[tuple[Pairs, tuple[Side, ...]]]:
    """Pairs of stories and preferences of each dataset: people's, then judges', then those implied by ratings."""
    frame = table.frame
    if drop_systems:
        gone = frame["first_system"].isin(list(drop_systems)) | frame["second_system"].isin(list(drop_systems))
        frame = frame[~gone]
    for name, part in frame.groupby("dataset", sort=False, observed=True):
        pairs, code, forward = _pairs(str(name), part, pd.DataFrame(table.stories.loc[str(name)]))
        yield pairs, tuple(_sides(pairs, part, code, forward))


def _pairs(dataset: str, frame: pd.DataFrame, stories: pd.DataFrame) -> tuple[Pairs, Codes, Masks]:
    compared_stories = stories[~stories.index.duplicated()].sort_index()
    position = pd.Series(np.arange(len(compared_stories)), index=compared_stories.index)
    first, second = (position.loc[frame[side].astype(str)].to_numpy(dtype=np.int64) for side in ("first", "second"))
    a, b = np.minimum(first, second), np.maximum(first, second)
    unique, code = np.unique(a * len(compared_stories) + b, return_inverse=True)
    at_a, at_b = (side.astype(np.int64) for side in np.divmod(unique, max(1, len(compared_stories))))
    words = np.array([_words(row) for row in compared_stories.itertuples()], dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_words = np.log(words[at_a] / words[at_b])
    log_words[~np.isfinite(log_words)] = np.nan
    prompts = renumbered(compared_stories["story_prompt"].astype(str).to_numpy()[at_a])
    pairs = Pairs(
        dataset, compared_stories.assign(words=words), at_a, at_b, prompts.reshape(-1).astype(np.int64), log_words
    )
    return pairs, code.reshape(-1).astype(np.int64), first < second


def _words(row: object) -> float:
    text = getattr(row, "text", None)
    count = len(tokens(text)) if isinstance(text, str) and text else getattr(row, "words", np.nan)
    return float("nan") if pd.isna(count) else float(count)


def _sides(pairs: Pairs, frame: pd.DataFrame, pair: Codes, forward: Masks) -> Iterator[Side]:
    keys = ["source", "criterion", "run", "judge", "eval_prompt"]
    plain = frame[keys].astype(object).where(frame[keys].notna(), None).reset_index(drop=True)
    rank = plain["source"].map({"rater": 0, "judge": 1, "implied": 2}).fillna(3)
    groups = plain.assign(rank=rank).groupby(["rank", *keys], dropna=False, sort=False)
    rows_by_key: dict[Any, Any] = dict(groups.indices)
    for key, rows in sorted(rows_by_key.items(), key=lambda item: item[0][0]):
        _, source, criterion, run, judge, eval_prompt = (None if pd.isna(part) else str(part) for part in key)
        at = np.asarray(rows, dtype=np.int64)
        people = source == "rater"
        labels = (None, None, None) if people else (run, judge, eval_prompt)
        yield _side(pairs, frame.iloc[at], pair[at], forward[at], _KINDS[str(source)], labels, str(criterion))


def _side(
    pairs: Pairs,
    frame: pd.DataFrame,
    pair: Codes,
    forward: Masks,
    kind: Kind,
    labels: tuple[str | None, str | None, str | None],
    criterion: str,
) -> Side:
    preferences = frame["preference"].astype(object).to_numpy()
    ended = np.array([[value == word for word in _WORDS] for value in preferences], dtype=np.float64).reshape(-1, 3)
    kept = np.flatnonzero(ended.sum(axis=1) > 0)
    lead = ended[:, 0] - ended[:, 1]
    value = np.where(forward, lead, -lead)
    shares = frame[["p_first", "p_second", "p_tie"]].astype(np.float64).to_numpy()
    soft = ~np.isnan(shares[:, :2]).any(axis=1)
    ended[soft] = np.nan_to_num(shares[soft])
    ended[soft] /= np.maximum(ended[soft].sum(axis=1, keepdims=True), _SAME)
    rater = frame["rater"].astype(object).where(frame["rater"].notna(), None).to_numpy()
    placed = kind == "judge" and not frame["flags"].astype(str).str.contains(ORDER_UNKNOWN, regex=False).any()
    whole = Side(pairs, kind, *labels, criterion, pair, forward, ended, value, rater, 0, bool(placed))
    return replace(whole.only(kept), lost=len(preferences) - kept.size)


def people_beside(side: Side, sides: Sequence[Side]) -> Side | None:
    """The human preferences that one judge's are compared with: those on the same criterion. If this judge has none of
    people's criteria, they are those on people's only one. What people's own ratings imply is compared with their
    preferences on the same criterion alone. Where no person compared stories, preferences implied by human ratings are
    used."""
    for kind in ("people", "implied"):
        people = [other for other in sides if other.kind == kind and other.judge is None and other is not side]
        same = [other for other in people if _criterion(other) == _criterion(side)]
        if same:
            return same[0]
        own = {_criterion(other) for other in sides if other.judge == side.judge}
        if side.judge is not None and len(people) == 1 and _criterion(people[0]) not in own:
            return people[0]
    return None


def _criterion(side: Side) -> str:
    return side.criterion.casefold()
