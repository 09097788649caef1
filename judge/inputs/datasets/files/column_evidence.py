"""What a table's cells and their repetition say of a column: ratings, raters, criteria, names of stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.inputs.datasets.files.cell_patterns import LEAST_GROUPS, fits, number_of
from judge.inputs.datasets.files.column_names import bare, is_count, is_given_name, named, named_column
from judge.inputs.datasets.files.column_words import CRITERIA, NAMES, fold
from judge.inputs.datasets.files.reading import ReadColumn, Role
from judge.inputs.datasets.files.source_file import is_missing, ratings_in
from judge.inputs.datasets.files.table_cells import TableCells

# Values of a rating at the most, and how far from 0 a rating lies.
_MOST_POINTS, _FARTHEST = 25, 100
# Share of stories at the most whose text another story has too: short and failed answers.
_MOST_TWICE = 0.1
# Questions about each story at the most, and share of the stories that have all of them at the least.
_MOST_QUESTIONS, _LEAST_ASKED = 20, 0.9
# Columns that name together what is rated at the most.
_MOST_PARTS = 3
# Raters of whom several have one value each, and how many times as many texts as what they answer.
LEAST_RATERS, _FINER = 3, 1.3
# Names of columns that number a judge's answers or a system's.
REPEATS = frozenset(("sample", "repeat", "rep", "run", "seed", "try", "trial", "iteration", "attempt"))
# Systems that a column names by their cells at the most.
_MOST_SYSTEMS = 12
# Rows that tell a judge's raw answers, and the share of those that hold the number beside them at the least.
_RAW_ROWS, _LEAST_RAW = 200, 0.8
# Why a column has the role that the user gave it.
SAID = "as you said"
# Why a column of words is not read.
WORDS_ALONE = "words, taken for no system, story or rater"
_NUMBER = late(r"(?<![\w.])\d+(?:\.\d+)?(?![\w])")
# Rows from which on a number of its own in each of them is an id.
LEAST_IDS = 20


@dataclass(slots=True)
class Evidence:
    """A table with the columns taken so far, and what its cells say of a column."""

    table: TableCells
    roles: dict[str, ReadColumn] = field(default_factory=dict)
    cells: dict[str, list[Any]] = field(default_factory=dict)
    rated: dict[str, bool] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    """Columns of ratings, as the user said."""
    shares: list[tuple[str, ...]] = field(default_factory=list)

    def take(self, column: str, role: Role, because: str) -> None:
        self.roles[column] = ReadColumn(column, role, because, named(column))

    def values(self, column: str) -> list[Any]:
        """The column's cells that are not blank."""
        if column not in self.cells:
            self.cells[column] = [value for value in self.table.values(column) if not is_missing(value, ())]
        return self.cells[column]

    def free(self) -> list[str]:
        return [column for column in self.table.columns if column not in self.roles]

    def has(self, *roles: Role) -> bool:
        return any(read.role in roles for read in self.roles.values())

    def _by_rater(self, column: str) -> bool:
        """Whether objects in a column hold numbers by raters: other keys in other rows."""
        values = [value for value in self.values(column) if isinstance(value, Mapping)]
        if len(values) < len(self.values(column)) or not self._rated(column):
            return False
        return len({key for value in values for key in value}) > max(map(len, values))

    def _judges_in_rows(self, ids: str, rater: str | None) -> bool:
        """Whether models may be those who judged: people's ratings are the same in all rows of an id (and rater)."""
        if rater is None or self.has("text"):
            return False
        others = [c for c in self.free() if self._rated(c) and not is_count(c)]
        people = [c for c in others if named(c).side == "human"] or [c for c in others if bare(c) in NAMES["rating"]]
        return bool(people) and all(self._same_within(f"{ids}+{rater}", column) for column in people)

    def _may_be_ids(self, column: str) -> bool:
        values = self.values(column)
        return fits("id", values) and not is_count(column) and named(column).side is None and not self._parted(values)

    def _parted(self, values: Sequence[Any]) -> bool:
        return any((number := number_of(value)) is not None and not number.is_integer() for value in values)

    def _names_stories(self, column: str) -> bool:
        """Whether rows with one value of a column share what a story has once: its text, its system, the judge's
        ratings; and no person rates it twice."""
        once = [name for name, read in self.roles.items() if read.role in ("text", "system")]
        once += self._sided("judge")
        once = [name for name in once if name not in column.split("+")]
        varied = [name for name in once if len({*map(str, self.table.values(name))}) > 1]
        keys = len({*map(str, self.table.values(column))})
        many = LEAST_GROUPS <= keys < len(self.table.rows)
        return (
            many
            and bool(varied)
            and all(self._same_within(column, name) for name in varied)
            and self._tells_rows(column)
        )

    def _id_names(self, *without: str) -> list[str]:
        """Free columns that are named as ids and hold short values."""
        free = [
            c
            for c in self.free()
            if c not in without and fits("id", self.values(c)) and not self._parted(self.values(c))
        ]
        return [c for c in free if named_column("id", [c]) or bare(c).endswith(("id", "nr", "nummer", "number"))]

    def _share_of_several(self, column: str, name: str) -> float:
        """Share of the values of `name` whose cell in `column` stands beside another value of `name` too."""
        beside: dict[str, set[str]] = {}
        for of, value in zip(self.table.values(column), self.table.values(name), strict=True):
            if not is_missing(of, ()) and not is_missing(value, ()):
                beside.setdefault(str(of), set()).add(str(value))
        values = set().union(*beside.values()) if beside else set()
        several = set().union(*(names for names in beside.values() if len(names) > 1)) if beside else set()
        return len(several) / len(values) if values else 0.0

    def _repeats(self, column: str) -> bool:
        """Whether a column's cells, of some rows, repeat in more than a few of them."""
        cells = [*map(str, self.values(column))]
        return len(cells) >= LEAST_GROUPS and len({*cells}) < (1 - _MOST_TWICE) * len(cells)

    def _item_columns(self, key: str | None) -> list[str] | None:
        """The fewest columns that name together what is rated, where `key` does not: all rows of a name share text,
        system and the judge's ratings, and a person (or the table, which names none) rates it once. None where `key`
        does, or no columns are known to."""
        facts = [name for name, read in self.roles.items() if read.role in ("text", "system")]
        facts += self._sided("judge") if not self.has("criterion") else []
        facts = [name for name in facts if len({*map(str, self.table.values(name))}) > 1]
        whose = [name for name, read in self.roles.items() if read.role in ("rater", "criterion")]
        whose += [c for c in self.table.columns if bare(c) in REPEATS and c not in whose]
        if not facts or (not self.has("rater") and not self._sided("human")):
            return None
        parts = key.split("+") if key is not None else []
        texts = {name for name, read in self.roles.items() if read.role == "text"}
        if (
            parts
            and not {*parts} & texts
            and self._items(parts, facts, whose)
            and (not self.has("rater") or self._several_rows(parts))
        ):
            return None
        named = [c for c in self.table.columns if self._may_name_items(c)]
        for size in range(1, _MOST_PARTS + 1):
            for columns in combinations(named, size):
                if self._several_rows(columns) == self.has("rater") and self._items(columns, facts, whose):
                    return [*columns]
        return None

    def _may_name_items(self, column: str) -> bool:
        role = self.roles[column].role if column in self.roles else None
        if role in ("system", "story_prompt"):
            return fits("id", self.values(column))
        known = named_column("id", [column]) or bare(column).endswith(("id", "nr", "nummer", "number", "key"))
        whole = fits("id", self.values(column)) and not self._parted(self.values(column))
        return bool(known) and whole and role in (None, "id", "ignored") and bare(column) not in REPEATS

    def _items(self, columns: Sequence[str], facts: Sequence[str], whose: Sequence[str]) -> bool:
        """Whether these columns name what is rated: its facts are the same in all rows of a name, and nobody's row
        occurs twice."""
        rows = [*zip(*([*map(str, self.table.values(name))] for name in columns), strict=True)]
        for name in facts:
            told: dict[tuple[str, ...], str] = {}
            if any(
                told.setdefault(row, str(value)) != str(value)
                for row, value in zip(rows, self.table.values(name), strict=True)
            ):
                return False
        cells = [[*map(str, self.table.values(name))] for name in whose]
        return len({*zip(rows, *cells, strict=True)}) == len(rows)

    def _several_rows(self, columns: Sequence[str]) -> bool:
        cells = [[*map(str, self.table.values(name))] for name in columns]
        return len({*zip(*cells, strict=True)}) < len(self.table.rows)

    def _judged_once(self, column: str) -> bool:
        """Whether each judge has one rating for each cell of a column (and criterion), and not the same everywhere."""
        judged = [c for c in self._sided("judge") if len({*map(str, self.values(c))}) > 1]
        return bool(judged) and self._repeats(column) and all(self._same_within(column, c) for c in judged)

    def _of_several_stories(self, column: str) -> bool:
        """Whether one long text stands beside several stories: several systems, or ids, in more than a few cells."""
        if not self._repeats(column) or self._judged_once(column):
            return False
        in_rows = self.has("rater", "criterion")
        ids = [c for c in self._id_names(column) if not (in_rows and self.table.unique(c))]
        ids = [c for c in ids if self._same_within(c, column)]
        if any(self._share_of_several(column, c) <= _MOST_TWICE for c in ids):
            return False
        system = next((name for name, read in self.roles.items() if read.role == "system"), None)
        if system is None or len({*map(str, self.table.values(system))}) < 2:
            return bool(ids)
        pairs = {*zip(map(str, self.table.values(column)), map(str, self.table.values(system)), strict=True)}
        texts = {text for text, _ in pairs}
        shared = len(pairs) > (1 + _MOST_TWICE) * len(texts)
        return shared and not self._rated_once_by_people(column)

    def _rated_once_by_people(self, column: str) -> bool:
        people = [c for c in self._sided("human") if len({*map(str, self.values(c))}) > 1]
        return bool(people) and all(self._same_within(column, c) for c in people)

    def _said_of_a_story(self, column: str) -> bool:
        """Whether a text differs between rows that tell of one story: of an id with one rating by the judge, or with a
        row for each criterion."""
        ids = [c for c in self._id_names(column) if self._repeats(c) and not self._same_within(c, column)]
        if any(self._judged_once(c) for c in ids):
            return True
        return bool(ids) and self.has("criterion") and self.table.unique(column)

    def _repeats_unexplained(self, column: str) -> bool:
        """Whether a text repeats in rows with other ratings, in a table in which nothing tells whose these rows are."""
        if self.has("rater", "criterion", "system") or not self._repeats(column) or self._id_names(column):
            return False
        if any(bare(c) in REPEATS | {"source"} for c in self.table.columns) or self._rated_once_by_people(column):
            return False
        return bool(self._sided("human")) and bool(self._sided("judge")) and not self._judged_once(column)

    def _asked_of_one_text(self, column: str) -> bool:
        """Whether a column names few questions, several of which were asked about most texts."""
        questions = {*map(str, self.values(column))}
        if not 1 < len(questions) <= _MOST_QUESTIONS or 2 * len(questions) > len(self.table.rows):
            return False
        texts = [c for c in self.table.columns if c != column and fits("text", self.values(c))]
        finest_text = max(texts, key=lambda c: len({*map(str, self.values(c))}), default=None)
        if finest_text is None or not self._repeats(finest_text):
            return False
        beside: dict[str, set[str]] = {}
        for text, question in zip(self.table.values(finest_text), self.table.values(column), strict=True):
            beside.setdefault(str(text), set()).add(str(question))
        return 2 * sum(len(asked) > 1 for asked in beside.values()) > len(beside)

    def _of_one_rater(self, column: str) -> bool:
        """Whether a column tells something of the raters: one value in all rows of each."""
        rater = next((name for name, read in self.roles.items() if read.role == "rater"), None)
        if rater is None or len({*map(str, self.table.values(rater))}) < LEAST_RATERS:
            return False
        names = len({*map(str, self.table.values(rater))})
        several = 2 * names < len(self.table.rows) and len({*map(str, self.values(column))}) > 1
        return several and self._same_within(rater, column)

    def _finer(self, column: str, others: Sequence[str]) -> str | None:
        """A text of which each stands beside one of `column`'s, and several beside the same: what answers it."""
        own = len({*map(str, self.values(column))})
        for other in others:
            texts = {*map(str, self.values(other))}
            whole = len(self.values(other)) == len(self.table.rows) and named(other).side is None
            if whole and len(texts) > _FINER * own and self._same_within(other, column):
                return other
        return None

    def _asked_of_each_story(self, column: str) -> bool:
        """Whether a column numbers or names the questions that were asked of each story: without it, rows are known by
        a story, which has more names than there are questions, and each has each question once."""
        values = [str(value) for value in self.values(column)]
        questions = {*values}
        if len(values) < len(self.table.rows) or not 1 < len(questions) <= _MOST_QUESTIONS:
            return False
        rater = [name for name, read in self.roles.items() if read.role in ("rater", "system")]
        names = [c for c in self.free() if c != column and self._may_be_ids(c) and not self.table.unique(c)]
        names = [c for c in names if bare(c) not in REPEATS and (not self._rated(c) or named_column("id", [c]))]
        items = [c for c in names if not named_column("rater", [c]) and not named_column("system", [c])]
        items = [c for c in items if len({*map(str, self.values(c))}) > len(questions)]
        cells = [[*map(str, self.table.values(name))] for name in (*names, *rater)]
        if not items:
            return False
        rest = [*zip(*cells, strict=True)]
        whole = len({*rest}) * len(questions)
        told = len({*zip(rest, values, strict=True)}) == len(values)
        return told and len({*rest}) >= LEAST_GROUPS and len(values) >= _LEAST_ASKED * whole

    def _same_for_raters(self, column: str) -> bool:
        """Whether a number is the same in all rows of a story, which several persons rated."""
        ids = next((name for name, read in self.roles.items() if read.role == "id"), None)
        if ids is None or not self.has("rater") or not self._repeats(ids):
            return False
        return len({*map(str, self.values(column))}) > 1 and self._same_within(ids, column)

    def _same_within(self, column: str, name: str) -> bool:
        """Whether a column has one value for each of another (and of the criterion, for ratings)."""
        criterion = next((c for c, read in self.roles.items() if read.role == "criterion"), None)
        keys: dict[tuple[str, str], str] = {}
        rated = name not in self.roles or self.roles[name].role in ("rating", "label")
        by = self.table.values(criterion) if criterion is not None and rated else self.table.rows
        for key, of, value in zip(self.table.values(column), by, self.table.values(name), strict=True):
            both = (str(key), str(of) if by is not self.table.rows else "")
            if keys.setdefault(both, str(value)) != str(value):
                return False
        return True

    def _tells_rows(self, column: str) -> bool:
        """Whether a row is known by this column with its rater and criterion."""
        names = [column, *(c for c, read in self.roles.items() if read.role in ("rater", "criterion"))]
        cells = [[*map(str, self.table.values(name))] for name in names]
        return len({*zip(*cells, strict=True)}) == len(self.table.rows)

    def _sided(self, *sides: str) -> list[str]:
        """Columns of numbers or labels that are named as one side's."""
        free = [c for c in self.free() if named(c).side in sides and not is_count(c) and self._rated(c)]
        return free + [name for name, read in self.roles.items() if read.role == "label" and read.named.side in sides]

    def _all_sided(self, column: str) -> bool:
        return None not in {named(str(value)).side for value in self.values(column)}

    def _names_models(self, column: str) -> bool:
        words = {*map(str, self.values(column))}
        return len(words) <= _MOST_SYSTEMS and {named(word).side for word in words} == {"judge"}

    def _calls_people(self, column: str) -> bool:
        """Whether cells are given names, or such as `rater 3`, beside each other or a language model's."""
        values = {str(value) for value in self.values(column)}
        people = [v for v in values if named(v).side == "human" and (is_given_name(v) or any(map(str.isdigit, v)))]
        known = len(people) + sum(named(v).side == "judge" for v in values)
        return bool(people) and 1 < len(values) < 2 * known and not self._numeric([*values])

    def _names_raters(self, column: str) -> bool:
        """Whether cells name persons. Numbers that could be ratings are names where rows of one story never repeat one,
        or where another column holds people's ratings."""
        values = self.values(column)
        if not fits("rater", values):
            return False
        if not self._few(values):
            return len({*map(str, values)}) < len(values) or len(values) < LEAST_IDS
        others = [c for c in self.free() if c != column and self._rated(c)]
        others += [name for name, read in self.roles.items() if read.role == "label"]
        if any(named(other).side == "human" and bare(other) not in NAMES["rater"] for other in others):
            return True
        single = any(self.table.unique(c) for c in self.free() if c != column and not self._rated(c))
        if not single and any(named(other).side is None and bare(other) in NAMES["rating"] for other in others):
            return True
        ids = named_column("id", [c for c in self.free() if fits("id", self.values(c))])
        if ids is None or not others:
            return False
        keys = [str(a) for a in self.table.values(ids)]
        repeats = len({*keys}) < len(keys)
        criteria = named_column("criterion", self.free())
        cells = zip(keys, self.table.values(column), self.table.values(criteria) if criteria else keys, strict=True)
        return repeats and len({tuple(map(str, key)) for key in cells}) == len(keys)

    def _calls(self, name: str, column: str) -> bool:
        """Whether most cells name criteria, or language models, by words that repeat."""
        values = [str(value) for value in self.values(column)]
        words = {*values}
        if self._numeric(values) or 2 * len(words) > len(values) or len(words) < 2:
            return False
        if name == "criterion":
            known = [word for word in words if CRITERIA & {fold(word), *fold(word).split()}]
            return 2 * len(known) > len(words) and self._crosses(column)
        known = [word for word in words if named(word).side == "judge"] if name == "system" else []
        text = next((c for c, read in self.roles.items() if read.role == "text"), None)
        few = len(words) <= _MOST_SYSTEMS and named(column).side is None
        if known and few and text is not None and not any(map(is_given_name, words)):
            # Models' names beside words for who else wrote, one for each text.
            return self._same_within(text, column)
        return 2 * len(known) > len(words)

    def _crosses(self, column: str) -> bool:
        """Whether each value of a column meets most stories, as a criterion does; no matter where none is known."""
        ids = [c for c in [*self._id_names(column), *self.of_role("text")] if self._repeats(c)]
        values = len({*map(str, self.values(column))})
        for name in ids:
            pairs = {*zip(map(str, self.table.values(name)), map(str, self.table.values(column)), strict=True)}
            if 2 * len(pairs) > values * len({*map(str, self.values(name))}):
                return True
        return not ids

    def of_role(self, role: Role) -> list[str]:
        return [column for column, read in self.roles.items() if read.role == role]

    def _names_criteria(self, column: str) -> bool:
        values = [str(value) for value in self.values(column)]
        words = {*values}
        repeated = 2 * len(words) <= len(values) or bare(column) in NAMES["criterion"][:4]
        return not self._numeric(values) and repeated

    def _holds_answer_to(self, column: str, numbers: Sequence[str]) -> str | None:
        """The column of numbers that stand in a column's texts too: what the judge wrote, of which it was read."""
        cells = self.table.values(column)[:_RAW_ROWS]
        if not all(is_missing(value, ()) or isinstance(value, str | int | float) for value in cells):
            return None
        figures = [{float(n) for n in _NUMBER.findall(str(value))} for value in cells]
        for name in numbers:
            rows = [*zip(self.table.values(name)[:_RAW_ROWS], figures, strict=True)]
            own = [(number, found) for value, found in rows if (number := number_of(value)) is not None]
            held = sum(number in found for number, found in own)
            if len(own) >= LEAST_IDS and held >= _LEAST_RAW * len(own) and len({number for number, _ in own}) > 1:
                return name
        return None

    def _adds_to_one(self, columns: Sequence[str]) -> bool:
        numbers = [self.table.numbers(column) for column in columns]
        rows = [row for row in zip(*(given or () for given in numbers), strict=False) if None not in row]
        return bool(rows) and all(abs(sum(row) - 1) < 0.02 and all(0 <= number <= 1 for number in row) for row in rows)

    def _reason(self, column: str) -> str:
        values = self.values(column)
        if len({*map(str, values)}) == 1 and len(values) > 1:
            return "the same in every row" if len(values) == len(self.table.rows) else "one word, or nothing"
        if is_count(column):
            return "its name says that it counts or numbers something"
        if self._numeric(values):
            return "numbers, by no judge or person that is named"
        return "long texts" if fits("text", values) else WORDS_ALONE

    def _rated(self, column: str) -> bool:
        if column not in self.rated:
            self.rated[column] = self.table.holds_ratings(column)
        return self.rated[column]

    def _numeric(self, values: Sequence[Any]) -> bool:
        return all(number_of(value) is not None for value in values)

    def _whole(self, values: Sequence[Any]) -> bool:
        return all((number := number_of(value)) is not None and number.is_integer() for value in values)

    def _few(self, values: Sequence[Any]) -> bool:
        """Whether cells are few distinct numbers of small size, or lists of them."""
        numbers: set[float] = set()
        place = self.table.place("", ("NA", "nan"))
        for value in values:
            try:
                numbers.update(number for _, number in ratings_in(value, place) if number is not None)
            except DataError:
                if isinstance(value, str) and not any(map(str.isdigit, value)):
                    continue  # a word for no rating, as `holds_ratings` knows
                return False
        return bool(numbers) and len(numbers) <= _MOST_POINTS and all(abs(number) <= _FARTHEST for number in numbers)
