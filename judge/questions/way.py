"""A way to answer a question: its options, what computes it, and what is shown of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, dataclass_transform, get_type_hints

if TYPE_CHECKING:
    import pandas as pd

    from judge.base.printing.tables import Table
    from judge.exchange.imports.imported_folder import Import
    from judge.questions.source import Source
    from judge.ratings.preferences_table import PreferencesTable
    from judge.ratings.ratings_table import RatingsTable

# Draws a result: takes the ratings table, the result, the options and a width in inches (None: as the picture needs).
Picture = Callable[[Any, Any, Any, float | None], Any]


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


def _no_sentence(_value: Any) -> str:
    return ""


def _against(options: Any) -> Sequence[str | None]:
    return [getattr(options, "against", None)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One way to answer a question.

    `options` and `shown` are frozen dataclasses: of the choices that can change a number, and of what is shown. `table`
    makes the ratings table from the `Source` and the options; `further` gives more arguments of `compute` from the
    source and the table; `compute` turns table and options into a result. `tables` and `frame` take it, and the fields
    of `shown` by name; `frame_of_table` replaces `frame` where the numbers need the table too, which it takes after the
    result. `sentence` answers the question; "" where the tables do. `helps` are help texts that differ from those
    elsewhere; options in `without` keep their defaults. `ratings` gives the result's own ratings as an import, `people`
    the human criteria that are kept even if others are selected. `explanations`: the computation looks at these, which
    take long to read. `coverage_once`: only the first table says what was answered. `names_raters`: the tables
    themselves say people, or labels.
    """

    options: type
    compute: Callable[..., Any]
    tables: Callable[..., Sequence[Table]]
    table: Callable[[Source, Any], RatingsTable | PreferencesTable] = _table
    further: Callable[[Source, Any], Mapping[str, Any]] = _nothing
    frame: Callable[..., pd.DataFrame] = _frame
    frame_of_table: Callable[..., pd.DataFrame] | None = None
    sentence: Callable[[Any], str] = _no_sentence
    shown: type = Shown
    helps: Mapping[str, str] = field(default_factory=dict)
    without: tuple[str, ...] = ()
    picture: Picture | None = None
    ratings: Callable[[Any, Any], Import] | None = None
    people: Callable[[Any], Sequence[str | None]] = _against
    explanations: bool = False
    coverage_once: bool = False
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
