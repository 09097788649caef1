"""Finds the two stories of each row of a table of comparisons, and the columns that say which was preferred."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from judge.base.late_pattern import late
from judge.base.records import Preferred
from judge.inputs.datasets.files.column_names import bare, is_count, named
from judge.inputs.datasets.files.column_words import GOLD, plain_letters

WORDS: Mapping[str, Preferred] = {
    **dict.fromkeys(("first", "a", "1", "model_a", "story a", "left", "a>>b", "a>b"), "first"),
    **dict.fromkeys(("links", "gauche", "izquierda"), "first"),
    **dict.fromkeys(("rechts", "droite", "derecha"), "second"),
    **dict.fromkeys(("second", "b", "2", "model_b", "story b", "right", "a<b", "a<<b", "b>a", "b>>a"), "second"),
    **dict.fromkeys(("tie", "equal", "both", "draw", "same", "neither", "tie (bothbad)", "a=b", "a~b", "b=a"), "tie"),
    **dict.fromkeys(("bothbad", "both bad", "both good", "about the same", "about equal", "no preference"), "tie"),
    **dict.fromkeys(("gleich", "gleichwertig", "unentschieden", "égal", "égalité", "empate", "igual"), "tie"),
}
# Other words -> what they mean as (first, second, tie): in two ways where both are usual, since 0 is a tie to some and
# the first story to others.
_CODES: Mapping[frozenset[str], tuple[tuple[str, ...], ...]] = {
    frozenset("012"): (("1", "2", "0"), ("0", "1", "2")),
    frozenset("123"): (("1", "2", "3"), ("1", "3", "2")),
    frozenset("01"): (("0", "1"), ("1", "0")),
    frozenset("12345"): (("1/2", "4/5", "3"), ("4/5", "1/2", "3")),
    frozenset("1234567"): (("1/2/3", "5/6/7", "4"), ("5/6/7", "1/2/3", "4")),
    frozenset(("-2", "-1", "0", "1", "2")): (("-2/-1", "1/2", "0"), ("1/2", "-2/-1", "0")),
    frozenset(("-3", "-2", "-1", "0", "1", "2", "3")): (("-3/-2/-1", "1/2/3", "0"), ("1/2/3", "-3/-2/-1", "0")),
    frozenset(("-1", "0", "1")): (("1", "-1", "0"), ("-1", "1", "0")),
    frozenset(("output_1", "output_2")): (("output_1", "output_2"),),
    frozenset(("output_1", "output_2", "tie")): (("output_1", "output_2", "tie"),),
}
# Ends of the names of two columns about two stories, the first's and the second's.
_ENDS = (("a", "b"), ("1", "2"), ("left", "right"), ("first", "second"), ("0", "1"))
_SPLIT = late(
    r"^(.*?)[ _.\-(]*(a|b|1|2|0|left|right|first|second)\)?$|^(left|right|first|second)[ _.-]*(.*)$", re.IGNORECASE
)
_BETTER = late(
    r"(?:(?:response|answer|story|text|model|translation|output|summary) )?(a|b|1|2|left|right|first|second)"
    r"(?: is)?(?: (?:much|slightly|significantly|a bit|clearly|far|somewhat|strongly))? (?:better|preferred)"
)
_SIGNS = late(r"\s*([<>=~]+)\s*")
_NOTE = late(r"\s*\(([^()]+)\)\s*$")
_STORIES = late(
    r"stor|text|output|response|answer|reply|completion|candidate|summary|generation|model|system|assistant|option"
    r"|translation|hypothes|traducc|traduct|ubersetzung|antwort|respuesta|reponse|resum|zusammenfassung"
)
_VERDICTS = ("preference", "preferred", "winner", "choice", "verdict")
# Parts of names of columns of verdicts: with more grades than three, numbers alone could be ratings.
_GRADED = late(r"pref|better|verdict|winner|vergleich|besser|mejor|meilleur|compar|choice")
_MOST_PLAIN = 3
# Names of columns of who wrote the stories, and words of a sentence at the least.
_WRITERS, _LEAST_WORDS = "source|author|writ|generator", 4


@dataclass(frozen=True, slots=True)
class Twins:
    """The columns of the first and second story of each row, those of `verdicts`, and of the two `systems`. `codes`:
    what the verdicts' words are as (first, second[, tie]), in two ways where both are usual. `because`: the evidence,
    by column."""

    first: str
    second: str
    verdicts: tuple[str, ...]
    systems: tuple[str, str] | None
    codes: tuple[tuple[str, ...], ...]
    because: Mapping[str, str]
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Verdicts that repeat the cell of one of two columns, such as the better system's name."""
    words: Mapping[str, Preferred] = field(default_factory=dict)
    """Verdicts that repeat what stands in brackets behind the two columns' names."""
    called: tuple[str, str] | None = None
    """These names, which are the systems'."""


def twins_in(
    columns: Sequence[str], values: Callable[[str], list[Any]], cells: Callable[[str], list[Any]]
) -> Twins | None:
    """The two stories of each row of a table, None where a row holds one. `values` gives a column's cells that are not
    blank, `cells` all of them."""
    pairs = [(first, second) for first, second in column_pairs(columns) if not _numbers(values(first))]
    # Two columns of texts, however they are called, are stories beside verdicts on them.
    others = column_pairs(columns, any_stem=True) if not any(_texts(values(first)) for first, _ in pairs) else []
    pairs += [pair for pair in others if pair not in pairs and all(_texts(values(column)) for column in pair)]
    writers = [pair for pair in column_pairs(columns, any_stem=True) if _is(pair[0], _WRITERS)]
    writers = [pair for pair in writers if not {*map(verdict_word, values(pair[0]))} <= {*WORDS}]
    pairs += [pair for pair in writers if pairs and pair not in pairs and not _numbers(values(pair[0]))]
    texts = max(pairs, key=lambda pair: sum(len(str(value)) for value in values(pair[0])), default=None)
    if texts is None:
        return None
    about = {column for pair in pairs for column in pair}
    systems = next((pair for pair in pairs if pair != texts and _is(pair[0], f"model|system|{_WRITERS}")), None)
    if systems is None and _is(texts[0], "model|system"):
        systems = texts
    verdicts: dict[str, frozenset[str]] = {}
    called = _called(*texts)
    known = {*WORDS, *called, *(word for words in _CODES for word in words)}
    for column in columns:
        words = frozenset(verdict_word(value) for value in values(column))
        graded = len(words) > _MOST_PLAIN and _codes(words) and _GRADED.search(plain_letters(column).lower()) is None
        counts = is_count(column) and not (named(column).side == "judge" and not _codes(words))
        if column not in about and not counts and words and words <= known and not graded:
            verdicts[column] = words
    gold = {column for column in verdicts if GOLD.search(bare(column))}
    if any(named(column).side != "judge" for column in verdicts.keys() - gold):
        verdicts = {column: words for column, words in verdicts.items() if column not in gold}
    if called and any({*called} & words for words in verdicts.values()):
        verdicts = {column: words for column, words in verdicts.items() if words <= {*WORDS, *called}}
        because = dict.fromkeys(about, "one of two stories in each row")
        because |= dict.fromkeys(verdicts, "which of two stories is preferred")
        names = [name for name, side in called.items() if side != "tie"]
        return Twins(*texts, tuple(verdicts), systems, (), because, words=called, called=(names[0], names[1]))
    if any(not _codes(words) for words in verdicts.values()):
        verdicts = {column: words for column, words in verdicts.items() if not _codes(words)}
    words = frozenset().union(*verdicts.values()) if verdicts else frozenset()
    chosen = _chosen([column for column in columns if column not in about], pairs, cells)
    if chosen:
        because = dict.fromkeys(about, "one of two stories in each row")
        because |= dict.fromkeys(chosen, "names the preferred one of two in each row")
        return Twins(*texts, tuple(chosen), systems, (), because, chosen)
    if len(words) < 2 and not any(bare(column) in _VERDICTS for column in verdicts):
        return None
    codes = () if words <= {*WORDS} else _codes_of(words)
    if not codes and not words <= {*WORDS}:
        return None
    said = ", ".join(sorted(words))
    because = dict.fromkeys(about, "one of two stories in each row")
    because |= dict.fromkeys(verdicts, f"which of two stories is preferred: {said}")
    return Twins(*texts, tuple(verdicts), systems, codes, because)


def _codes_of(words: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """What codes may mean: those of the smallest known scale that has all of them."""
    if words in _CODES:
        return _CODES[words]
    wider = [scale for scale in _CODES if words < scale and len(scale) > _MOST_PLAIN and len(words) > _MOST_PLAIN]
    return _CODES[min(wider, key=len)] if wider else ()


def _called(first: str, second: str) -> dict[str, Preferred]:
    """What stands in brackets behind the names of the two stories' columns, such as their systems, as verdicts."""
    notes = [_NOTE.search(column) for column in (first, second)]
    names = [verdict_word(note[1]) for note in notes if note is not None]
    return {names[0]: "first", names[1]: "second"} if len({*names}) == len(_ENDS[0]) else {}


def _chosen(
    columns: Sequence[str], pairs: Sequence[tuple[str, str]], cells: Callable[[str], list[Any]]
) -> dict[str, tuple[str, str]]:
    """Columns each of whose cells is that of the first or the second column of a pair, or a tie; both occur."""
    chosen: dict[str, tuple[str, str]] = {}
    for column in columns:
        for first, second in pairs:
            sides = {
                None if value in (None, "") else "first" if value == a else "second" if value == b else _tie(value)
                for value, a, b in zip(cells(column), cells(first), cells(second), strict=True)
            }
            if {"first", "second"} <= sides <= {None, "first", "second", "tie"}:
                chosen[column] = (first, second)
    return chosen


def _texts(values: Sequence[Any]) -> bool:
    """Whether cells are mostly sentences."""
    words = [value for value in values if isinstance(value, str) and len(value.split()) >= _LEAST_WORDS]
    return bool(values) and 2 * len(words) > len(values)


def _tie(value: Any) -> str:
    return "tie" if WORDS.get(verdict_word(value)) == "tie" else "other"


def stories_in_a_row(columns: Sequence[str]) -> list[str]:
    """The longest series of columns whose names differ in their number alone and speak of stories; empty for none."""
    series: dict[str, list[str]] = {}
    for column in columns:
        match = re.match(r"^(.*?)[ _.-]*\d+$", column)
        if match and _STORIES.search(match[1].lower()):
            series.setdefault(match[1], []).append(column)
    longest = max([*series.values(), *map(list, column_pairs(columns))], key=len, default=[])
    return longest if len(longest) > 1 else []


def written_by_both(columns: Sequence[str]) -> list[str]:
    """Columns of stories by people and by models, as `human_story` and `gpt4_story`: what is named alike beside them
    rates these, and is not by them. Empty for none."""
    stories = [column for column in columns if _STORIES.search(column.lower())]
    return stories if {named(column).side for column in stories} >= {"human", "judge"} else []


def code_question(codes: Sequence[Sequence[str]]) -> str:
    """The question which of two meanings verdicts' codes have; yes is the first."""
    first, second, *tie = codes[0]
    words = f"{first} = the first story, {second} = the second" + (f", {tie[0]} = a tie" if tie else "")
    return f"do the verdicts' codes mean {words}?"


def column_pairs(columns: Sequence[str], *, any_stem: bool = False) -> list[tuple[str, str]]:
    """Columns about the first and the second of two stories, by their names; with `any_stem`, of anything two."""
    parts: dict[tuple[str, str], str] = {}
    for column in columns:
        match = _SPLIT.match(plain_letters(_NOTE.sub("", column)))
        if match:
            stem, end = (match[1], match[2]) if match[2] else (match[4], match[3])
            parts.setdefault((bare(stem), end.lower()), column)
    pairs = []
    for (stem, end), column in parts.items():
        for first, second in _ENDS:
            longer = any((stem, more) in parts for more in ("3", "c"))
            if (
                end == first
                and (stem, second) in parts
                and not longer
                and (any_stem or _STORIES.search(stem) or not stem)
            ):
                pairs.append((column, parts[stem, second]))
    return pairs


def _codes(words: frozenset[str]) -> bool:
    return all(word.lstrip("-").isdigit() for word in words)


def _is(column: str, names: str) -> bool:
    return re.search(names, column.lower()) is not None


def verdict_word(value: Any) -> str:
    """A verdict's word in small letters with single blanks; a grade in words or signs, such as `A is much better` or
    `A >> B`, as `a>b`."""
    text = " ".join(str(value).casefold().split()).strip("[]").removesuffix(".0")
    if match := _BETTER.fullmatch(text):
        return "a>b" if match[1] in ("a", "1", "left", "first") else "a<b"
    return _SIGNS.sub(r"\1", text)


def _numbers(values: Sequence[Any]) -> bool:
    return all(re.fullmatch(r"-?\d+(?:[.,]\d+)?", str(value)) for value in values)
