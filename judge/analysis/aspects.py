"""Compares a judge's salience and ratings of the aspects of a story with the aspects that readers commented on.

Each StoryER reader chose three or more of ten aspects of a story, and rated and commented on these. A judge's salience
of an aspect is its rating of the criterion ``NAME (salience)``, which the criteria set `storyer_salience` requests. Its
rating of the aspect is its rating of the criterion NAME. Recall at k is the share of the chosen aspects that are among
the k most salient of their story; of aspects tied at rank k, each counts with the probability that it is among the k
when ties are broken at random. Two baselines ("floors") name the same aspects for every story: those chosen most often
in the other stories, and those of the study's Table 2."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import pandas as pd

from judge.analysis.frames import flat
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import Signed, signature_parts
from judge.analysis.options.table_options import AspectsOptions
from judge.base.arrays import Codes, Floats, Masks
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.inputs.datasets.studies import storyer
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation.coefficients import Coefficient, correlate, resampled
from judge.stats.ordering.storyer import recall_at_k
from judge.stats.resampling import bootstrap

# Result types of the analysis of aspects: rows and notes.

# How many of the aspects that a judge finds most to say about are looked at.
PLACES = (1, 3, 5)

Kind = Literal["judge", "floor"]

_ABOUT = ("dataset", "kind", "run", "judge", "eval_prompt", "aspect", "chosen", "incomplete")
_NUMBERS = (*(f"recall_{k}" for k in PLACES), "rho", "tau")


@dataclass(frozen=True, slots=True)
class AspectRow:
    """Results of one judge, or of one baseline (without run and Eval-Prompt), for one aspect; None = over all. `chosen`
    counts pairs of a story and an aspect that people chose. `recall` maps k to the share of these among the k most
    salient of their story; `incomplete` stories are left out, because some aspect has no salience. `rho` and `tau` are
    correlations with people's ratings of the chosen aspects."""

    dataset: str
    kind: Kind
    run: str | None
    judge: str
    eval_prompt: str | None
    aspect: str | None
    chosen: int
    recall: Mapping[int, Estimate]
    rho: Estimate
    tau: Estimate
    incomplete: int

    @property
    def is_judge(self) -> bool:
        return self.kind == "judge"

    def numbers(self) -> dict[str, Estimate]:
        """The row's estimates by frame column (``recall_1``..., ``rho``, ``tau``)."""
        return {**{f"recall_{k}": self.recall[k] for k in PLACES}, "rho": self.rho, "tau": self.tau}


@dataclass(frozen=True, slots=True, eq=False)
class Aspects(Signed):
    """How well judges and baselines find the chosen aspects and agree with people's ratings of them."""

    rows: tuple[AspectRow, ...]
    options: AspectsOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row per judge or baseline and aspect (null = all); estimates have `_low`, `_high` and `_reason`."""
        ends = [f"{name}{end}" for name in _NUMBERS for end in ("", "_low", "_high", "_reason")]
        return self.signed([flat(cells_of(row, *_ABOUT) | row.numbers()) for row in self.rows], [*_ABOUT, *ends])


# Printed tables of recall and ratings of story aspects.


def tables(result: Aspects) -> list[Table]:
    """Recall and correlations with people's ratings, overall by judge and baseline, then by judge and aspect."""
    overall = [row for row in result.rows if row.aspect is None]
    single = [row for row in result.rows if row.aspect is not None and row.is_judge]
    several = len({row.dataset for row in result.rows}) > 1
    title = "Aspects: which stand out, and how they are rated"
    if not single:
        return [_table(title, overall, result, several=several, by_aspect=False, notes=result.notes)]
    return [
        _table(title, overall, result, several=several, by_aspect=False),
        _table("Results for each aspect", single, result, several=several, by_aspect=True, notes=result.notes),
    ]


def _table(
    title: str, rows: Sequence[AspectRow], result: Aspects, *, several: bool, by_aspect: bool, notes: Sequence[str] = ()
) -> Table:
    columns = [Column("dataset", "dataset")] if several else []
    columns += plain("judge", "eval_prompt")
    columns += [Column("aspect", "aspect")] if by_aspect else []
    columns += [Column("chosen", "chosen"), *(Column(f"recall_{k}", f"R@{k} %", digits=1, factor=100) for k in PLACES)]
    columns += [Column("rho", "rho"), Column("tau", "tau-b")]
    columns += [] if by_aspect else [Column("incomplete", "stories lost")]
    cells = [
        cells_of(row, "dataset", "judge", "eval_prompt", "aspect", "chosen", "incomplete") | row.numbers()
        for row in rows
    ]
    return Table(title, columns, cells, result.signature, notes)


# Table 2 of the StoryER study: how often its readers chose each aspect, and their mean rating of it.


_TABLE = "aspect_sizes"
_COMMENTS, _RATE = "comments", "rate"


@cache
def printed() -> tuple[Floats, Floats]:
    """Number of comments and mean rating of each of the ten aspects in Table 2 of the StoryER study, shape (10,)."""
    path = package_file("reproduce", "published_data", "storyer_published.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["table"] == _TABLE and row["row"] != "overall"]
    columns = ([float(row["published"]) for row in rows if row["column"] == name] for name in (_COMMENTS, _RATE))
    comments, rates = (np.array(column) for column in columns)
    return comments, rates


# What stands behind an aspect's name in the name of the criterion that asks how much it stands out.
SALIENCE = " (salience)"

OTHER_STORIES, TABLE_2 = "floor: most frequent in other stories", "floor: Table 2 of StoryER"
_NO_SALIENCE = f"the judge did not rate NAME{SALIENCE}, as the criteria set storyer_salience asks it"
_NO_RATINGS = "the judge did not rate these aspects, as the criteria set storyer asks it"
_AGAINST = "the mean of the other stories falls as a story's own rating rises"
_ALL_CHOSEN = "people rated every aspect of every story: nothing was chosen"
_RESAMPLED = "95 %, expanded percentiles over resampled story-prompts"


@dataclass(frozen=True, slots=True)
class _Guess:
    """Salience and ratings of the aspects by one judge or baseline, shape (stories, aspects); None = none."""

    kind: Kind
    judge: str
    salience: Floats | None
    ratings: Floats | None
    run: str | None = None
    eval_prompt: str | None = None
    no_ratings: str = _NO_RATINGS


def aspects(table: RatingsTable, options: AspectsOptions | None = None) -> Aspects:
    """How well judges find the aspects of a story that people chose (recall), and how well they rate these
    (correlation). Raises SpecError where no person rated anything."""
    options = options or AspectsOptions()
    table = numbers(table)
    matrices = tuple(matrix for matrix in build(table) if matrix.criteria)
    if not matrices:
        raise SpecError(
            "no person rated these stories, so that nobody chose an aspect",
            hint="run on a dataset whose readers chose aspects, e.g. storyer_reasons",
        )
    rows = tuple(row for matrix in matrices for row in _rows(matrix, options))
    return Aspects(
        rows=rows,
        options=options,
        signature_parts=tuple(signature_parts(table, matrices, options, extra=["recall:t-stories"])),
        notes=(*table.notes, *_notes(rows)),
    )


def _rows(matrix: RatingMatrix, options: AspectsOptions) -> Iterator[AspectRow]:
    names = _aspects(matrix)
    people = np.full((matrix.n, len(names)), np.nan)
    counts = np.zeros(people.shape, dtype=np.int64)
    for name, means, given in zip(matrix.criteria, matrix.people, matrix.raters, strict=True):
        people[:, names.index(name)] = np.where(given > 0, means, np.nan)
        counts[:, names.index(name)] = given
    drawn = None
    if options.ci != "none":
        drawn = bootstrap.draw(matrix.story_prompt, options.resamples, np.random.default_rng(options.seed), options.ci)
    for guess in (*_floors(names, counts), *_judges(matrix, names)):
        for at in (None, *range(len(names))):
            yield _row(matrix.dataset, names, people, guess, at, drawn)


def _aspects(matrix: RatingMatrix) -> tuple[str, ...]:
    """The human criteria and those whose salience a judge rated; all StoryER aspects if they are among these."""
    asked = (cell.criterion for cell in matrix.cells if cell.criterion.casefold().endswith(SALIENCE))
    folded = {name.casefold(): name for name in (*(name[: -len(SALIENCE)] for name in asked), *matrix.criteria)}
    study_aspects = storyer.aspects()
    return study_aspects if set(folded.values()) <= set(study_aspects) else tuple(folded.values())


def _floors(names: tuple[str, ...], counts: Codes) -> Iterator[_Guess]:
    elsewhere = (counts.sum(axis=0) - counts).astype(np.float64)
    yield _Guess("floor", OTHER_STORIES, elsewhere, None, no_ratings=_AGAINST)
    if names == storyer.aspects():
        comments, rates = (np.tile(column, (counts.shape[0], 1)) for column in printed())
        yield _Guess("floor", TABLE_2, comments, rates)


def _judges(matrix: RatingMatrix, names: tuple[str, ...]) -> Iterator[_Guess]:
    index_of = {name.casefold(): at for at, name in enumerate(names)}
    ratings_by_judge: dict[tuple[str, str, str], dict[bool, Floats]] = {}
    for cell, values in zip(matrix.cells, matrix.judge, strict=True):
        folded = cell.criterion.casefold()
        at = index_of.get(folded.removesuffix(SALIENCE))
        if at is None:
            continue
        own = ratings_by_judge.setdefault((cell.run, cell.judge, cell.eval_prompt), {})
        empty = np.full((matrix.n, len(names)), np.nan)
        own.setdefault(folded.endswith(SALIENCE), empty)[:, at] = values
    for (run, judge, eval_prompt), own in ratings_by_judge.items():
        yield _Guess("judge", judge, own.get(True), own.get(False), run, eval_prompt)


def _row(
    dataset: str,
    names: tuple[str, ...],
    people: Floats,
    guess: _Guess,
    at: int | None,
    drawn: bootstrap.Resamples | None,
) -> AspectRow:
    chosen = ~np.isnan(people)
    nothing_chosen = bool(chosen.all())
    if at is not None:
        chosen = chosen & (np.arange(len(names)) == at)
    incomplete = 0
    recall = dict.fromkeys(PLACES, Estimate.undefined(_NO_SALIENCE))
    if nothing_chosen:
        recall = dict.fromkeys(PLACES, Estimate.undefined(_ALL_CHOSEN))
    elif guess.salience is not None:
        recall_by_k = {k: recall_at_k(guess.salience, chosen, k) for k in PLACES if k <= len(names)}
        recall |= {k: recall_at.micro for k, recall_at in recall_by_k.items()}
        recall |= {k: Estimate.undefined(f"there are {len(names)} aspects") for k in PLACES if k > len(names)}
        incomplete = recall_by_k[PLACES[0]].incomplete
    return AspectRow(
        dataset=dataset,
        kind=guess.kind,
        run=guess.run,
        judge=guess.judge,
        eval_prompt=guess.eval_prompt,
        aspect=None if at is None else names[at],
        chosen=int(chosen.sum()),
        recall=recall,
        rho=_correlation(people, guess, chosen, "spearman", drawn),
        tau=_correlation(people, guess, chosen, "kendall", drawn),
        incomplete=incomplete,
    )


def _correlation(
    people: Floats, guess: _Guess, chosen: Masks, coefficient: Coefficient, drawn: bootstrap.Resamples | None
) -> Estimate:
    if guess.ratings is None:
        return Estimate.undefined(guess.no_ratings)
    # Resampling keeps all aspects of a story together.
    story, aspect = np.nonzero(chosen)
    x, y = guess.ratings[story, aspect], people[story, aspect]
    correlation = correlate(x, y, coefficient, names=(f"{guess.judge}'s ratings", "people's ratings"), unit="comments")
    if drawn is None or not correlation.defined:
        return correlation
    again = resampled(x, y, coefficient)
    return bootstrap.percentile(correlation, drawn.values(lambda weights: again(weights[:, story])), _RESAMPLED)


def _notes(rows: tuple[AspectRow, ...]) -> Iterator[str]:
    yield (
        "chosen: aspects that people commented on; R@k: share of these among the k aspects that are most salient in "
        "their story, tied aspects by their chance; t intervals over stories"
    )
    yield "rho, tau-b: with people's ratings of the aspects that they chose, over comments"
    yield f"floors name the same aspects for every story; {OTHER_STORIES.removeprefix('floor: ')}: its own left out"
    if not any(row.is_judge for row in rows):
        yield "no judge of these runs rated an aspect or its salience (criteria sets storyer and storyer_salience)"
    if any(row.incomplete for row in rows):
        yield "stories lost: stories in which an aspect has no salience, so that their order of aspects is not known"
