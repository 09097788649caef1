"""Takes columns of words for labels of a known order, and tells those without an order, and ranks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from judge.base.errors import DataError
from judge.base.wording import Advice, few, typed
from judge.inputs.datasets.files.cell_patterns import as_spelled, spelled_alike
from judge.inputs.datasets.files.column_evidence import Evidence
from judge.inputs.datasets.files.column_names import OVERALL, is_count, named, named_column
from judge.inputs.datasets.files.column_words import ORDERS, RANKS
from judge.inputs.datasets.files.table_cells import TableCells
from judge.inputs.datasets.files.verdict_codes import WORDS

# Words of labels at the most, and how often each occurs at the least, on average.
_MOST_LABELS, _LEAST_REPEATS = 7, 3
# Categories without a known order at the most.
_MOST_CATEGORIES = 40
# Columns of ranks at the least.
_LEAST_RANKED = 2


class UnorderedLabelsError(DataError):
    """Columns of words that serve as labels, and whose order is not known."""

    table: TableCells
    columns: tuple[str, ...] = ()


class RankedTableError(DataError):
    """Columns of ranks of several systems' stories in each row: system -> column, who ranked, and for which prompt."""

    table: TableCells
    ranks: Mapping[str, str]
    rater: str | None = None
    item: str | None = None


def _system_ranked(column: str) -> str:
    """The system whose ranks a column holds: its name without the word for ranks, and without a note in brackets."""
    return re.sub(r"\s*\([^()]*\)\s*$", "", RANKS.sub("", column)).strip(" _-.:") or column


class Labelled(Evidence):
    """Evidence on columns of words and of ranks."""

    def _labels(self, *, compared: bool) -> tuple[str, ...]:
        """Takes the columns whose words are labels of one known order, that of most columns; else those of a judge and
        of others that share a few words. Two words have an order that no agreement depends on; more must be told."""
        fields = ("id", "system", "story_prompt", "rater", "criterion", "panel")
        words: dict[str, set[str]] = {}
        for column in self.free():
            told = [str(v).strip() for v in self.values(column) if not isinstance(v, Mapping | list)]
            given = {word for word in told if not self.table.nothing(word, column)}
            free = not any(named_column(name, [column]) for name in fields) or named(column).side == "judge"
            free = free and not self._rated(column)
            if free and 0 < len(given) <= _MOST_LABELS and not self._numeric([*given]) and not is_count(column):
                words[column] = given
        best: tuple[list[str], tuple[str, ...]] = ([], ())
        for order in ORDERS:
            columns = [column for column, given in words.items() if {*map(spelled_alike, given)} <= {*order}]
            spelled = {spelled_alike(word): word for column in columns for word in words[column]}
            letters = len(order[0]) == len(order[-1]) == 1 and order[0].isascii()
            enough = len(columns) > 1 or not letters
            better = (len(columns), -len(order)) > (len(best[0]), -len(best[1]))
            if len(spelled) > 1 and enough and better:
                best = (columns, tuple(spelled.get(word, as_spelled(word, spelled)) for word in order))
        if best[0]:
            shared = set().union(*(words[column] for column in best[0]))
            others = [c for c in words if c not in best[0] and 2 * len(words[c] & shared) > len(shared)]
            if any(named(column).side for column in others):
                raise self._unordered([*best[0], *others], words)
            for column in best[0]:
                self.take(column, "label", f"labels {', '.join(best[1])}")
            return best[1]
        return () if compared or self.table.scale is not None else self._unknown_labels(words)

    def _unknown_labels(self, words: Mapping[str, set[str]]) -> tuple[str, ...]:
        sided = [column for column in words if named(column).side == "judge"]
        alike = {of: [c for c in words if 2 * len(words[c] & words[of]) > len(words[of])] for of in sided}
        same = max(alike.values(), key=len, default=[])
        union = sorted(set().union(*(words[column] for column in same)))
        self._refuse_categories()
        rows = len(self.table.rows)
        if len(same) < 2 or not 1 < len(union) <= _MOST_LABELS or _LEAST_REPEATS * len(union) > rows:
            return ()
        if len(union) > 2 or {word.casefold() for word in union} <= {*WORDS}:
            raise self._unordered(same, words)
        for column in same:
            self.take(column, "label", f"labels {', '.join(union)}")
        return tuple(union)

    def _unordered(self, columns: Sequence[str], words: Mapping[str, set[str]]) -> DataError:
        union = sorted(set().union(*(words[column] for column in columns)))
        message = (
            f"the columns {few(columns, 4)} hold the words {', '.join(map(repr, union))}, whose order is not known"
        )
        words_said = (
            "say the words from the lowest to the highest: {labels}; one that is no answer: {missing}; words without "
            "an order are read by judge import"
        )
        hint = Advice(words_said, labels=",".join(union), missing="WORD")
        error = UnorderedLabelsError(message, file=self.table.path, hint=hint)
        error.table, error.columns = self.table, tuple(columns)
        return error

    def _refuse_ranks(self) -> None:
        """Ranks compare the stories of a row, and rate none: in each row numbers from 1 to as many as there are."""
        found = {column: match for column in self.free() if (match := RANKS.search(column)) and self._rated(column)}
        if len(found) < _LEAST_RANKED:
            return
        numbers = [self.table.numbers(column) or [] for column in found]
        rows = [[n for n in row if n is not None] for row in zip(*numbers, strict=True)]
        if not rows or any(row and (min(row) != 1 or max(row) > len(found)) for row in rows):
            return
        ranks = {_system_ranked(column): column for column in found}
        message = f"the columns {few([*found], 4)} hold ranks of the stories of each row, and no ratings"
        hint = "ranks are compared within a row alone: judge check counts them as comparisons of two systems"
        error = RankedTableError(message, file=self.table.path, hint=hint)
        error.table, error.ranks = self.table, ranks
        roles = {read.role: name for name, read in self.roles.items()}
        error.rater, error.item = roles.get("rater"), roles.get("id") or roles.get("story_prompt")
        raise error

    def _refuse_categories(self) -> None:
        """DataError where a judge's column and people's hold many words, most of which are in both."""
        words = {column: {*map(str, self.values(column))} for column in self.free() if named(column).side}
        words = {c: given for c, given in words.items() if _MOST_LABELS < len(given) <= _MOST_CATEGORIES}
        words = {c: given for c, given in words.items() if 2 * len(given) < len(self.values(c)) and not self._rated(c)}
        judge = next((column for column in words if named(column).side == "judge"), "")
        people = [
            c for c in words if named(c).side == "human" and judge and 2 * len(words[c] & words[judge]) > len(words[c])
        ]
        if not people:
            return
        union = sorted(set().union(*(words[column] for column in (*people, judge))))
        message = f"the columns {few([*people, judge], 4)} hold {len(union)} categories ({few(union, 3)})"
        columns = {"story": "=row", f"judges.{OVERALL}": judge, f"people.{OVERALL}": ",".join(people)}
        columns |= {"labels": f"={','.join(union)}", "unordered": "=*"}
        others = [column for column in self.table.columns if column not in (judge, *people)]
        path, run = typed(self.table.path), f"runs/{self.table.path.stem}"
        way = Advice("judge import {} -o {} {columns}", path, run, columns=columns)
        way = Advice("{} {leave_out}", way, leave_out=",".join(others)) if others else way
        way = Advice("{}, then judge correlate {} {layout}", way, run, layout="confusion")
        words_said = (
            "where they have an order, say it, the lowest first: {labels}; categories without one are read by {}"
        )
        hint = Advice(words_said, way, labels="A,B,C")
        raise DataError(f"{message}, whose order is not known", file=self.table.path, hint=hint)
