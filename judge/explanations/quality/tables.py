"""Tables of the quality measures of explanations, in the order in which they are printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from judge.base.printing.tables import Column, Table
from judge.explanations.quality.flag_rates import Validated
from judge.explanations.quality.flags import RULES
from judge.explanations.quality.numbers import Numbers
from judge.explanations.quality.specificity import BY_CRITERION, BY_PROMPT, Measured

_TITLES = {"eval_prompt": "eval prompt"}
_WRAP = 70


def tables(numbers: Numbers) -> list[Table]:
    """The tables of all quality measures; a note under the first names those without rows, which are left out."""
    tables_of_measures = [
        *_specificity(numbers),
        _named("Stability: are the reasons the same in each repeat?", BY_CRITERION, _STABILITY, numbers.stability),
        *_agreement(numbers),
        _named("Nearest guideline, compared with the rating given", BY_CRITERION, _NEAREST, numbers.nearest),
        _named("Substance: does the text refer to this story?", BY_CRITERION, _SUBSTANCE, numbers.groundedness),
        _flags(numbers),
    ]
    missing = [table.title for table in tables_of_measures if not table.rows]
    nothing = [f"no values for: {'; '.join(missing)}"] if missing else []
    first = _named("Presence: is there an explanation?", BY_CRITERION, _PRESENCE, numbers.presence, nothing)
    return [first, *(table for table in tables_of_measures if table.rows)]


def validation_table(rules: Measured[Validated]) -> Table:
    """Table of the precision and recall of every rule that flags errors in explanations."""
    columns = [
        Column("error", "error"),
        Column("precision", "precision x100", digits=0, factor=100),
        Column("recall", "recall x100", digits=0, factor=100),
        Column("base", "base rate x100", digits=0, factor=100),
        Column("both", "both"),
        Column("flagged", "flagged"),
        Column("positive", "any annotator"),
        Column("items", "items"),
        Column("remark", ""),
    ]
    title = "Precision and recall of the rules against annotators, on held-out items"
    return Table(title, columns, [row.cells for row in rules.rows], rules.signature, rules.notes)


_PRESENCE = (
    Column("published", "none, as published %", digits=1, factor=100),
    Column("ours", "none, ours %", digits=1, factor=100),
    Column("words", "median words", digits=0),
    Column("repeating", "repeat themselves %", digits=1, factor=100),
    Column("run_on", "run on %", digits=1, factor=100),
    Column("texts", "texts"),
    Column("answered", "answers"),
    Column("lost", "not obtained"),
)
_STABILITY = (
    Column("within", "one story"),
    Column("between", "different stories"),
    Column("difference", "difference"),
    Column("threshold", "threshold"),
    Column("other_reasons", "same rating, different reasons %", digits=1, factor=100),
    Column("pairs", "pairs of equal rating"),
    Column("texts", "texts"),
)
_NEAREST = (
    Column("match", "nearest is the rating %", digits=1, factor=100),
    Column("chance", "by chance", digits=1, factor=100),
    Column("difference", "nearest - rating"),
    Column("ties", "ties"),
    Column("texts", "texts"),
)
_SUBSTANCE = (
    Column("pointing", "point into the story %", digits=1, factor=100),
    Column("quotes", "quotations"),
    Column("quotes_story", "quoted: story %", digits=1, factor=100),
    Column("quotes_nowhere", "quoted: nowhere %", digits=1, factor=100),
    Column("names", "names"),
    Column("names_story", "named: story %", digits=1, factor=100),
    Column("names_nowhere", "named: nowhere %", digits=1, factor=100),
    Column("unsupported", "claims without support %", digits=1, factor=100),
    Column("boilerplate", "boilerplate %", digits=1, factor=100),
    Column("texts", "texts"),
)


def _specificity(numbers: Numbers) -> list[Table]:
    columns = []
    for key, title in (("silhouette", "silhouette"), ("purity", "kNN purity"), ("accuracy", "accuracy")):
        digits, factor = (3, 1.0) if key == "silhouette" else (1, 100.0)
        columns += [
            Column(key, title if factor == 1 else f"{title} x100", digits=digits, factor=factor),
            Column(f"{key}_chance", "by chance", digits=digits, factor=factor),
            Column(f"{key}_p", "p", digits=3, p="greater"),
        ]
    columns += [Column("texts", "texts"), Column("stories", "stories"), Column("criteria", "criteria")]
    pairs = [
        Column("criterion", "text about"),
        Column("taken_for", "taken for"),
        Column("taken", "share x100", digits=1, factor=100),
        Column("texts", "of texts"),
    ]
    by_criterion = _named(
        "Specificity: can the criterion be recognised from the text?", BY_PROMPT, columns, numbers.specificity
    )
    taken = _named("Criteria that the classifier confuses", BY_PROMPT, pairs, numbers.taken, top=numbers.options.top)
    return [by_criterion, taken]


def _agreement(numbers: Numbers) -> list[Table]:
    columns = [
        Column("rho", "Spearman x100", digits=1, factor=100),
        Column("error", "mean error"),
        Column("baseline", "error of the mean"),
        Column("gain", "less error"),
        Column("texts", "texts"),
        Column("stories", "stories"),
    ]
    listed = [
        *(Column(name, _TITLES.get(name, name)) for name in BY_CRITERION[1:]),
        Column("story", "story"),
        Column("repeat", "repeat"),
        Column("rating", "rating", digits=1),
        Column("predicted", "predicted", digits=1),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    title = "Agreement of text and rating: the rating predicted from the explanation alone"
    worst = "Texts whose rating differs most from the predicted rating"
    return [_named(title, BY_CRITERION, columns, numbers.agreement), _table(worst, listed, numbers.contradictions)]


def _flags(numbers: Numbers) -> Table:
    columns = [*(Column(name, f"{name.lower()} %", digits=1, factor=100) for name in RULES), Column("texts", "texts")]
    rows = [{**row.cells, **row.result.shares} for row in numbers.flags.rows]
    names = _names(numbers.flags, BY_CRITERION)
    measured = numbers.flags
    return Table("Texts flagged by rules, for reading", [*names, *columns], rows, measured.signature, measured.notes)


def _named(
    title: str,
    names: Sequence[str],
    columns: Sequence[Column],
    measured: Measured[Any],
    notes: Sequence[str] = (),
    *,
    top: int | None = None,
) -> Table:
    """A table whose first columns (`names`) identify the rows; only the first `top` rows, None = all."""
    return _table(title, [*_names(measured, names), *columns], measured, notes, top=top)


def _table(
    title: str, columns: Sequence[Column], measured: Measured[Any], notes: Sequence[str] = (), *, top: int | None = None
) -> Table:
    rows: list[Mapping[str, Any]] = [row.cells for row in measured.rows[:top]]
    return Table(title, columns, rows, measured.signature, [*measured.notes, *notes])


def _names(measured: Measured[Any], names: Sequence[str]) -> list[Column]:
    kept = [name for name in names if name != "run" or len({row.asked.run for row in measured.rows}) > 1]
    return [Column(name, _TITLES.get(name, name)) for name in kept]
