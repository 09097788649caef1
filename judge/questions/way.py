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
    """Choices of what is shown; a subclass declares each as a field by `shown`. None here."""

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

    Attributes
    ----------
    options : type
        Frozen dataclass of the choices that can change a number.
    compute : callable
        Takes a ratings table and the options; returns the result with its typed rows.
    table : callable
        Takes the `Source` and the options; returns this ratings table.
    further : callable
        Takes the source and the table; returns further arguments of `compute`.
    tables, frame : callable
        Take this result, and the fields of `shown` by name; return printed tables, and the numbers as a frame.
    frame_of_table : callable or None
        In place of `frame`, where the numbers need the ratings table too: takes it after the result.
    sentence : callable
        Takes the result; returns one or two sentences that answer the question, "" where the tables have their own.
    shown : type
        Frozen dataclass of choices of what is shown, each declared by `shown`.
    helps : mapping
        Help text of each option that has another one than everywhere.
    without : tuple of str
        Options that this way does not offer; they keep their defaults.
    picture : callable or None
        Takes the table, the result, the options and a width; returns what is drawn.
    ratings : callable or None
        Takes the result and the table; returns its ratings as an import, where it has ratings of its own.
    people : callable
        Takes the options; returns people's criteria that are kept even if other criteria are selected.
    explanations : bool
        Whether the computation looks at explanations, which take long to read.
    coverage_once : bool
        Whether only the first table says what was answered.
    names_raters : bool
        Whether the tables name the raters by what they are (people, or labels) themselves.
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
        """Options that this way offers, and its choices of what is shown: name -> field."""
        offered = {each.name: each for each in fields(self.options) if each.name not in self.without}
        return offered | {each.name: each for each in fields(self.shown)}

    @property
    def hints(self) -> dict[str, Any]:
        """Type of each of its options and choices, by name."""
        return get_type_hints(self.options) | get_type_hints(self.shown)
