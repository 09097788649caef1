"""The answer to a question: numbers as a frame, the tables that the command prints, and a picture."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, dataclass_transform, get_type_hints

from judge.base.errors import SpecError
from judge.base.wording import PYTHON

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from judge.base.choices import Format
    from judge.base.printing.tables import Table
    from judge.base.wording import Wording
    from judge.exchange.imported_folder import Import
    from judge.questions.source import Source
    from judge.ratings.preferences_table import PreferencesTable
    from judge.ratings.ratings_table import RatingsTable
    from judge.ratings.ratings_table.columns import Explanations


# A way to answer a question: its options, what computes it, and what is shown of the result.

# Draws a result: takes the ratings table, the result, the options and a width in inches (None: as the picture needs).
Picture = Callable[[Any, Any, Any, float | None], Any]


@dataclass(frozen=True, slots=True)
class Function:
    """Function of a module that is imported at the first call. Equal for equal names, by which results are kept."""

    module: str
    name: str

    def __call__(self, *values: Any, **named: Any) -> Any:
        return getattr(import_module(self.module), self.name)(*values, **named)


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, function: str) -> Function:
        if function.startswith("__"):
            raise AttributeError(function)
        return Function(self._name, function)


def late(package: str, *modules: str) -> list[Any]:
    """Stand-ins for modules of a package, whose functions import them when they are called: a command uses few of all
    that its questions name."""
    return [_Module(f"{package}.{name}") for name in modules]


def shown(text: str, *, default: Any = False) -> Any:
    """Field of a dataclass of choices that change what is shown and no number, with its help text."""
    return field(default=default, metadata={"help": text})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(shown,))
class Shown:
    """Choices of what is shown, each a field by `shown`; none here."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


dataclass(frozen=True, kw_only=True)(Shown)


def _frame(value: Any, **_shown: Any) -> pd.DataFrame:
    frame: pd.DataFrame = value.frame
    return frame


def _table(source: Source, _options: Any) -> RatingsTable:
    return source.table


def _nothing(_source: Source, _table: Any) -> Mapping[str, Any]:
    return {}


def _computed(_source: Source, _options: Any, compute: Callable[[], Any]) -> Any:
    return compute()


def _no_words(_value: Any, **_shown: Any) -> str:
    return ""


def _against(options: Any) -> Sequence[str | None]:
    return [getattr(options, "against", None)]


class File(NamedTuple):
    """A file of an answer's own form, which the command writes with -o beside its printed tables: the help of that
    option, and what writes the result and says so.
    """

    text: str
    write: Callable[[Any, Path], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to answer a question.

    `options` and `shown` are frozen dataclasses: of the choices that can change a number, and of what is shown. `table`
    makes the ratings table from the `Source` and the options; `further` gives more arguments of `compute` from the
    source and the table; `compute` turns table and options into a result, and `kept` may give one that was computed
    before. `tables` and `frame` take it, and the fields of `shown` by name; `frame_of_table` replaces `frame` where the
    numbers need the table too, which it takes after the result. `sentence` answers the question; "" where the tables
    do. `failed` says which check that the options declare did not hold; "" where none failed. On a screen `screen`
    stands in place of the tables. `helps` are help texts that differ from those elsewhere. Options in `without` keep
    their defaults, also those of every question such as `panel`; those in `of_frame` are Python's alone. `ratings`
    gives the result's own ratings as an import, `people` the human criteria that are kept even if others are selected.
    `explanations`: the computation looks at these, which take long to read ("given": at which answers have one).
    `coverage`: which tables say what was answered. `kinds`: runs that rate stories and runs that compare them are
    answered each by themselves. `names_raters`: the tables themselves say people, or labels.
    """

    options: type
    compute: Callable[..., Any]
    tables: Callable[..., Sequence[Table]]
    table: Callable[[Source, Any], RatingsTable | PreferencesTable] = _table
    further: Callable[[Source, Any], Mapping[str, Any]] = _nothing
    frame: Callable[..., pd.DataFrame] = _frame
    frame_of_table: Callable[..., pd.DataFrame] | None = None
    sentence: Callable[[Any], str] = _no_words
    failed: Callable[..., str] = _no_words
    screen: Callable[[Any], str] | None = None
    kept: Callable[[Source, Any, Callable[[], Any]], Any] = _computed
    shown: type = Shown
    helps: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    of_frame: tuple[str, ...] = ()
    picture: Picture | None = None
    file: File | None = None
    ratings: Callable[[Any, Any], Import] | None = None
    people: Callable[[Any], Sequence[str | None]] = _against
    explanations: Explanations = False
    kinds: bool = False
    coverage: Literal["each", "first", "none"] = "each"
    names_raters: bool = False

    @property
    def own(self) -> dict[str, Field[Any]]:
        """Options that this way offers, and its choices of what is shown."""
        offered = {each.name: each for each in fields(self.options) if each.name not in self.without}
        return offered | {each.name: each for each in fields(self.shown)}

    @property
    def hints(self) -> dict[str, Any]:
        """Types of these."""
        return get_type_hints(self.options) | get_type_hints(self.shown)


# Frames of answers whose numbers stand in their printed tables alone.


def frame_of(tables: Iterable[Table]) -> pd.DataFrame:
    """The rows of all tables as one frame; columns that a table lacks are null in its rows."""
    import pandas as pd

    from judge.base.printing.tables import flat_rows

    return pd.DataFrame([row for table in tables for row in flat_rows(table)])


class Answer:
    """Answer to one question about runs.

    Attributes
    ----------
    frame : DataFrame
        All numbers; the documentation of the question says what a row is. Undefined values are null, and some
        frames have a column with the reason. `frame.attrs` holds `signature` and `notes`.
    value : object
        Object with typed rows from which frame and tables are built: for example
        `analysis.correlation.Correlations` or `analysis.comparison.result.Comparison`.
    table : RatingsTable or PreferencesTable
        The ratings, or preferences, that it was computed from.
    options : object
        Options of the computation, as a frozen dataclass.
    way : Way
        The way in which the question was answered.
    """

    def __init__(
        self,
        value: Any,
        table: Callable[[], RatingsTable | PreferencesTable],
        options: Any,
        way: Way,
        show: Mapping[str, Any],
    ) -> None:
        self.value, self.options, self.way = value, options, way
        self._table, self._show = table, show

    @functools.cached_property
    def table(self) -> Any:
        return self._table()

    @functools.cached_property
    def frame(self) -> pd.DataFrame:
        way, show = self.way, self._show
        frame = (
            way.frame_of_table(self.value, self.table, **show) if way.frame_of_table else way.frame(self.value, **show)
        )
        frame.attrs |= {"signature": self.signature, "notes": list(self.notes)}
        return frame

    def showing(self, show: Mapping[str, Any]) -> Answer:
        """The same answer with other choices of what is shown."""
        return Answer(self.value, lambda: self.table, self.options, self.way, show)

    @property
    def failed(self) -> str:
        """Which check that the options declare did not hold; "" where none failed."""
        return self.way.failed(self.value, **self._show)

    @functools.cached_property
    def tables(self) -> tuple[Table, ...]:
        """The same numbers as the command prints them, with options named as in Python; a notebook displays them."""
        return self.printed(PYTHON)

    def printed(self, wording: Wording) -> tuple[Table, ...]:
        """The tables with options in their notes named as this wording does, and the raters by what they are."""
        from judge.analysis.raters import Raters
        from judge.base.printing.tables import worded
        from judge.ratings.ratings_table import RatingsTable

        # Options in notes become words first: words for labels are put into plain text.
        printed = [worded(table, wording) for table in self._made]
        if self.way.names_raters or not isinstance(self.table, RatingsTable):
            return tuple(printed)
        raters = Raters.of_all(self.table)
        return tuple(raters.table(table) for table in printed)

    def told(self, wording: Wording) -> tuple[Table, ...]:
        """The tables as `printed` gives them, with the answer's sentence above the first."""
        printed = self.printed(wording)
        if not printed or not self.sentence:
            return printed
        return (replace(printed[0], above=self.sentence), *printed[1:])

    @functools.cached_property
    def _made(self) -> Sequence[Table]:
        return self.way.tables(self.value, **self._show)

    @functools.cached_property
    def sentence(self) -> str:
        """The answer in one or two sentences, computed from the rows; "" where the first table has it above."""
        from judge.analysis.raters import Raters
        from judge.ratings.ratings_table import RatingsTable

        words = self.way.sentence(self.value)
        if not words:
            return ""
        return Raters.of_all(self.table).worded(words) if isinstance(self.table, RatingsTable) else words

    @property
    def signature(self) -> str:
        """All options on which the numbers depend, as printed under the first table."""
        return next((table.signature for table in self.tables if table.signature), "")

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks needed to read the numbers, as whole sentences without duplicates."""
        from judge.base.printing.tables import reasons

        every = [note for table in self.tables for note in (*table.notes, *reasons(table))]
        return tuple(dict.fromkeys(map(str, every)))

    def text(self, form: Format = "table") -> str:
        """The tables as text, in the format "table", "md", "latex", "csv" or "json"."""
        from judge.base.printing.tables import render

        return "\n".join(render(table, form) for table in self.tables)

    def figure(self, inches: float | None = None) -> Any:
        """Matplotlib figure of the answer, as the command draws it with -o PICTURE; requires the extra `report`.

        `inches` is its width; None = as the picture needs. Raises SpecError for an answer that has no picture.
        """
        if self.way.picture is None:
            raise SpecError("there is no picture of this result", hint="its frame can be plotted by pandas")
        return self.way.picture(self.table, self.value, self.options, inches)

    def _repr_html_(self) -> str:
        from judge.base.printing.output import html_table

        return "".join(html_table(table, copies=False) for table in self.told(PYTHON))

    def __repr__(self) -> str:
        return self.text()
