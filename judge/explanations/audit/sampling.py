"""Draws a stratified random sample with weights from a population of explanations, for an audit. Strata are the
combinations of the variables `by`. With `per_story`, explanations are first removed at random so that no story has more
than this number, and the weights are corrected for that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.base.errors import OptionError, SpecError
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Criterion
from judge.base.wording import Advice
from judge.explanations.audit.drawing import prepared
from judge.explanations.audit.items import BLINDABLE, Category, Facts, Subject
from judge.explanations.audit.options import SampleOptions
from judge.explanations.audit.population import NONE, Population
from judge.stats.estimation import stratified
from judge.stats.estimation.stratified import Allocation, Drawn
from judge.version import __version__


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A sample of explanations in the population's order, the table of strata, and data for `AuditStore.create`."""

    subjects: list[Subject]
    table: Table
    sampling: dict[str, Any]
    notes: list[str]


def sample(population: Population, options: SampleOptions, categories: Sequence[Category] = ()) -> Sampled:
    """A stratified random sample; its notes say which questions change because facts are hidden. Raises SpecError for
    invalid options, such as a sample size of 0, or a variable that is unknown or used twice."""
    _check(options)
    population = prepared(population, (*options.by, *options.spread), options.seed)
    rng = np.random.default_rng(options.seed)
    rows, first = _thinned(population, options, rng)
    by = tuple(name for name in options.by if len(options.by) == 1 or len(population.level(name).unique()) > 1)
    codes, levels = _codes(population, by, rows)
    # What a sample is said to be drawn by is what it was drawn by: a variable that nothing differs in decided nothing.
    drawable = {name: population.level(name).to_numpy()[rows] for name in (*by, *options.spread)}
    used, spread = (tuple(n for n in names if len(set(drawable[n])) > 1) for names in (by, options.spread))
    order = _codes(population, spread, rows)[0]
    crossed = np.array([np.unique(column, return_inverse=True)[1] for column in zip(*levels, strict=True)], np.int64).T
    drawn = stratified.draw(codes, order, options.n, rng, options.allocation, crossed if by else None)
    weight = drawn.weight * first[drawn.unit]
    chosen = population.frame.iloc[rows[drawn.unit]]
    strata = [levels[code] for code in codes[drawn.unit]]
    subjects = _subjects(population, chosen, strata, weight)
    notes = [*_notes(population, options, drawn, rows, subjects), *_of_blindness(options.blind, subjects, categories)]
    line = _signature(population, options, (used, spread), len(subjects))
    sampling = {
        "options": {key: list(v) if isinstance(v, tuple) else v for key, v in asdict(options).items()},
        "by": list(used),
        "spread": list(spread),
        "unknown": {n: count for n in (*used, *spread) if (count := int((drawable[n] == NONE).sum()))},
        "population": len(population.frame),
        "left_out": dict(population.left_out),
        "signature": line,
        "runs": sorted({fact.run for fact in population.facts}),
        "unequal": bool(np.ptp(weight) > 1e-9 * weight.max()),
    }
    if "helper" in population.frame:
        gap, values = population.frame["helper"], chosen["helper"]
        if gap.notna().all():
            sampling["helper"] = {"name": "gap between text and rating", "mean": float(gap.mean()), "of": list(values)}
    return Sampled(subjects, _table(by, levels, codes, drawn, weight, line, notes), sampling, notes)


def _check(options: SampleOptions) -> None:
    if options.n < 1:
        raise OptionError("n", options.n, "must be 1 or more")
    if options.per_story is not None and options.per_story < 1:
        raise OptionError("per_story", options.per_story, "must be 1 or more")
    if options.allocation not in get_args(Allocation):
        raise OptionError("allocation", options.allocation, allowed=get_args(Allocation))
    twice = set(options.by) & set(options.spread)
    if twice:
        name = min(twice)
        words = Advice("{!r} cannot be in {by} and in {spread}", name)
        raise SpecError(words, hint="strata differ in it already")


def _thinned(
    population: Population, options: SampleOptions, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Indices of the rows that may be drawn, and the number of explanations that each of them represents."""
    if options.per_story is None:
        count = len(population.frame)
        return np.arange(count), np.ones(count)
    story = np.asarray(
        population.frame.groupby(["dataset", "story"], sort=False, observed=True).ngroup(), dtype=np.int64
    )
    return stratified.thin(story, options.per_story, rng)


def _codes(
    population: Population, variables: Sequence[str], rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], list[tuple[str, ...]]]:
    """Code 0..k-1 of each row's combination of values, and the k combinations, sorted."""
    if not variables:
        return np.zeros(rows.size, dtype=np.int64), [()]
    levels = pd.DataFrame({name: population.level(name).to_numpy()[rows] for name in variables})
    grouped = levels.groupby(list(variables), sort=True)
    names = [key if isinstance(key, tuple) else (key,) for key, _ in grouped.size().items()]
    return np.asarray(grouped.ngroup(), dtype=np.int64), [tuple(map(str, name)) for name in names]


def _subjects(
    population: Population, chosen: pd.DataFrame, strata: Sequence[tuple[str, ...]], weight: NDArray[np.float64]
) -> list[Subject]:
    places = {(str(d), str(s)) for d, s in zip(chosen["dataset"], chosen["story"], strict=True)}
    stories = population.stories[population.stories.index.isin(list(places))]
    texts = dict(zip(stories.index, stories.to_dict("records"), strict=True))
    subjects = []
    rows = chosen.astype(object).where(chosen.notna(), None).to_dict("records")
    for row, stratum, stands_for in zip(rows, strata, weight, strict=True):
        key = (str(row["dataset"]), str(row["story"]))
        story = texts.get(key, {})
        criterion = population.criteria.get(row["criterion"])
        if criterion is None and row["criterion"]:
            criterion = Criterion(str(row["criterion"]), str(row["criterion"])[:8], "")
        subject = Subject(
            explanation=str(row["explanation"]),
            story=key[1],
            dataset=key[0],
            system=_text(row["system"]),
            story_prompt=_text(row["story_prompt"]),
            text=_text(story.get("text")),
            reference=_text(story.get("reference")),
            criterion=criterion,
            facts=_facts(row, stratum, float(stands_for)),
        )
        subjects.append(subject)
    return subjects


def _facts(row: dict[Any, Any], stratum: tuple[str, ...], weight: float) -> Facts:
    return Facts(
        run=_text(row["run"]),
        judge=_text(row["judge"]),
        eval_prompt=_text(row["eval_prompt"]),
        repeat=None if row["repeat"] is None else int(row["repeat"]),
        rating=row["rating"],
        people=row["people"],
        gap=row["gap"],
        cluster=_text(row["cluster"]),
        stratum=", ".join(stratum) or None,
        weight=weight,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _notes(
    population: Population, options: SampleOptions, drawn: Drawn, rows: NDArray[np.int64], subjects: Sequence[Subject]
) -> list[str]:
    notes = list(population.notes)
    left = sum(population.left_out.values())
    causes = "; ".join(f"{count} {cause}" for cause, count in population.left_out.items() if count)
    notes.append(
        f"{len(population.frame)} explanations could be drawn, {left} rows could not" + (f" ({causes})" * bool(left))
    )
    if options.per_story is not None:
        notes.append(f"at most {options.per_story} of each story: {rows.size} explanations were left to draw from")
    if len(subjects) < options.n:
        notes.append(f"{options.n} items were asked for, and there are {len(subjects)}")
    if drawn.some:
        inside, strata = int((drawn.drawn > 0).sum()), int((drawn.size > 0).sum())
        words = "which ones, is random, balanced over the levels of each variable"
        notes.append(f"{inside} of {strata} strata are in the sample; {words}")
    for name in ("gap", "cluster"):
        if name in (*options.by, *options.spread) and bool((population.level(name) == NONE).all()):
            why = "people rated none of these" if name == "gap" else "judge explain has made no map of these runs"
            notes.append(f"{name} is not known of any explanation: {why}")
    return notes


def _of_blindness(blind: Sequence[str], subjects: Sequence[Subject], categories: Sequence[Category]) -> list[str]:
    notes = []
    if "rating" in blind:
        notes.append("annotators are not shown the rating; where an explanation names it, it can be read there")
        notes += [f"{c.label} is asked without the rating: {c.asked(blind)}" for c in categories if c.question_blind]
    if "judge" in blind:
        telling = sum(_names_its_judge(subject) for subject in subjects)
        if telling:
            notes.append(
                f"annotators are not shown the judge; {telling} of {len(subjects)} explanations name it or its model, "
                'or say "language model", and are shown as they are'
            )
    return notes


def _names_its_judge(subject: Subject) -> bool:
    judge = subject.facts.judge or ""
    words = {"language model", judge, judge.rpartition("/")[2]} - {""}
    pattern = "|".join(re.escape(word) for word in words)
    return re.search(rf"(?<!\w)(?:{pattern})(?!\w)", subject.explanation, re.IGNORECASE) is not None


def _signature(
    population: Population, options: SampleOptions, used: tuple[Sequence[str], Sequence[str]], count: int
) -> str:
    by, spread = used
    judges = ",".join(dict.fromkeys(str(name) for name in population.frame["judge"]))
    parsers = ",".join(dict.fromkeys(fact.parser for fact in population.facts))
    parts = [
        ",".join(f"{name}:{number}" for name, number in population.frame["dataset"].value_counts().items()),
        f"judge:{judges}",
        f"parser:{parsers}" if parsers else "",
        f"sample:{count}/{options.allocation}/seed{options.seed}",
        f"by:{','.join(by)}" if by else "",
        f"spread:{','.join(spread)}" if spread else "",
        "first-repeat" if options.first_repeat else "",
        f"per-story:{options.per_story}" if options.per_story else "",
        "" if set(options.blind) == set(BLINDABLE) else f"blind:{','.join(options.blind) or 'none'}",
        f"v{__version__}",
    ]
    return "|".join(part for part in parts if part)


def _table(
    by: Sequence[str],
    names: Sequence[tuple[str, ...]],
    codes: NDArray[np.int64],
    drawn: Drawn,
    weight: NDArray[np.float64],
    line: str,
    notes: Sequence[str],
) -> Table:
    stands = np.bincount(codes[drawn.unit], weights=weight, minlength=len(names))
    rows = []
    for code, name in enumerate(names):
        count = int(drawn.drawn[code])
        row: dict[str, Any] = dict(zip(by, name, strict=True))
        row |= {"explanations": int(drawn.size[code]), "drawn": count}
        rows.append(row | {"stands_for": float(stands[code]) / count if count else None})
    columns = [Column(name, name.replace("_", " ")) for name in by]
    columns += plain("explanations", "drawn")
    columns.append(Column("stands_for", "each stands for", digits=1))
    return Table("Sample by stratum", columns, rows, line, notes)
