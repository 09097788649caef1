"""Questions about a table of ratings that can be read in two ways, which change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.base.errors import DataError
from judge.base.wording import Advice, few, typed
from judge.exchange.tables.table_roles import GivenColumns, Guessed, as_stated, options_of
from judge.inputs.datasets.files.cell_patterns import constant_within, number_of, numbered
from judge.inputs.datasets.files.column_names import OVERALL, NamedColumn, bare, is_given_name, may_be_persons, stem
from judge.inputs.datasets.files.column_words import BOTH_NAMES
from judge.inputs.datasets.files.reading import Reading, TwoReadingsError
from judge.inputs.datasets.files.table_cells import TableCells

# A code for none that many surveys write, the end of a scale below it at the least, and its share at the most.
_NINE, _LEAST_END, _OFTEN = 9.0, 4, 0.3
# A word for no rating that says: no other does.
_NONE = "none"


def refuse_judges_in_rows(guessed: Guessed, reading: Reading) -> None:
    """DataError where a column of models may name who judged: people's ratings are the same in all rows of an id."""
    system, item = guessed.fields.get("by"), guessed.fields.get("prompt")
    if not reading.by_prompt or system is None or item is None or guessed.given.by or "text" in guessed.fields:
        return
    if not all(constant_within(reading.table, column.column, item) for column in guessed.people):
        return
    scores, people = ({column.criterion: column.column for column in side} for side in (guessed.judges, guessed.people))
    columns = {"story": item, "judge": system}
    columns |= {f"ratings.{c}": column for c, column in scores.items()}
    columns |= {f"people.{c}": column for c, column in people.items()}
    path = typed(reading.table.path)
    yes = Advice("judge import {} {columns}", path, columns=columns)
    no = Advice("judge check {} {}", path, options_of(replace(guessed.given, **as_stated(guessed))))
    message = f"can be read in two ways: does {system} name who judged, and not who wrote the stories?"
    hint = Advice("if yes: {}\nif no: {}", yes, no)
    raise DataError(message, file=reading.table.path, hint=hint)


def ask(
    guessed: Guessed,
    given: GivenColumns,
    judges: Sequence[NamedColumn],
    people: Sequence[NamedColumn],
    table: TableCells,
) -> None:
    """Raises TwoReadingsError where a name is a model's and a person's, where columns differ only in a number (persons
    or not, judges or repeats), and where people rated several criteria and the judge's columns name none."""
    stated = replace(given, **as_stated(guessed))
    if not given.missing and (doubtful := _doubtful_code([*judges, *people], table)) is not None:
        code, columns, gap = doubtful
        question = f"does {code} in {few(columns, 3)} say that no rating was given? ({gap} never occurs)"
        said = (*stated.missing, code)
        raise _two(table, question, replace(stated, missing=said), replace(stated, missing=stated.missing or (_NONE,)))
    called = [column.column for column in judges if bare(column.column) in BOTH_NAMES]
    if called and not given.judge and any(is_given_name(column.column) for column in people):
        persons = replace(
            stated,
            judge=tuple(name for name in stated.judge if name.rpartition("=")[2] not in called),
            human=(*stated.human, *called),
        )
        raise _two(table, f"is {called[0]} a language model, and no person like {people[0].column}?", stated, persons)
    if not given.human and not given.positions and not guessed.positions and numbered(people):
        names = ", ".join(column.column for column in numbered(people))
        question = f"does each of the columns {names} hold one person's ratings throughout?"
        error = _two(table, question, stated, replace(stated, positions=True))
        if len(judges) == 1 and judges[0].criterion is None:
            one = people[0].column
            alone = replace(stated, judge=(f"{one}={judges[0].column}",), human=(f"{one}={one}",))
            words = "{}\nif they are criteria by one person, each alone: judge check {} {}"
            error.hint = Advice(words, error.hint or "", typed(table.path), options_of(alone))
        raise error
    repeats = [column for column in judges if sum(stem(c.column) == stem(column.column) for c in judges) > 1]
    if not given.judge and not given.number_repeats and len({stem(column.column) for column in repeats} - {None}) == 1:
        names = ", ".join(column.column for column in repeats)
        question = f"are the columns {names} judges of their own, and no repeats of one judge?"
        raise _two(table, question, stated, replace(stated, number_repeats=True))
    criteria = list(dict.fromkeys(column.criterion for column in people))
    nameless = {column.criterion for column in judges} & {*criteria} == set() and "criterion" not in guessed.fields
    if judges and nameless and len(criteria) > 1 and not given.human:
        of = [
            replace(
                stated,
                judge=tuple(f"{criterion or OVERALL}={column.column}" for column in judges),
                human=tuple(f"{criterion or OVERALL}={c.column}" for c in people if c.criterion == criterion),
            )
            for criterion in criteria[:2]
        ]
        if may_be_persons(people):
            names = ", ".join(column.column for column in people)
            raise _two(table, f"are {names} columns of several people, and not of criteria?", stated, of[0])
        first, second = (criterion or OVERALL for criterion in criteria[:2])
        raise _two(table, f"is {judges[0].column} the judge's rating of {first}, not of {second}?", *of)


def persons_or_criteria(table: TableCells, persons: GivenColumns, criteria: GivenColumns) -> TwoReadingsError:
    """The question whether columns, in a table without a judge, are several persons' or of several criteria."""
    names = few([name.partition("=")[2] for name in persons.human], 4)
    question = f"are {names} columns of several people, and not of criteria?"
    return _two(table, question, persons, criteria)


def _doubtful_code(columns: Sequence[NamedColumn], table: TableCells) -> tuple[str, list[str], str] | None:
    """9 above a scale that ends below 8, which never occurs: a rating, or a sign for none; with the columns that hold
    it, and the gap."""
    given = {c.column: {n for n in table.numbers(c.column) or () if n is not None} for c in columns}
    with_nine = [name for name, numbers in given.items() if _NINE in numbers]
    below = set().union(*(given[name] - {_NINE} for name in with_nine)) if with_nine else set()
    if not below or not all(n.is_integer() and n >= 0 for n in below) or not _LEAST_END <= max(below) < _NINE - 1:
        return None
    spelled = {text: n for name in with_nine for text, n in table.written(name).items() if number_of(text) == _NINE}
    often = max(spelled.values(), default=0) / len(table.rows)
    # One alone is a slip of the hand, which is told as out of scale.
    recurs = sum(spelled.values()) > 1
    return (next(iter(spelled)), with_nine, f"{max(below) + 1:g}") if recurs and often < _OFTEN else None


def _two(table: TableCells, question: str, yes: GivenColumns, no: GivenColumns) -> TwoReadingsError:
    lines = [Advice("judge check {} {}", typed(table.path), options_of(given)) for given in (yes, no)]
    return TwoReadingsError(table.path, question, (lines[0], yes), (lines[1], no))
