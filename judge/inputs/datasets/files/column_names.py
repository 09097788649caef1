"""What the name of a column suggests: a field, a criterion, and whose ratings it holds."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

from judge.base.late_pattern import late
from judge.inputs.datasets.files.column_words import (
    CRITERIA,
    FILLERS,
    GIVEN_NAMES,
    HUMAN,
    JUDGE,
    MEANS,
    NAMES,
    PLAIN,
    TITLES,
    WEAK_HUMAN,
    WEAK_JUDGE,
    counts,
    plain_letters,
)

# Guess of a column's rater and criterion from its name, for the user to confirm.

Side = Literal["judge", "human"]

# The criterion of ratings that name none.
OVERALL = "Overall"

_VERSION = late(
    r"^v?\d+[a-z]{0,2}$"
    r"|^(?:turbo|mini|instruct|chat|pro|flash|sonnet|opus|haiku|large|small|preview)$"
)
_QUESTIONS = frozenset({"question", "item", "test", "task", "aspect", "criterion", "dim", "dimension", "statement"})
_PARTS = late(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*[a-z]?|[A-Z]+\d*|\d+[A-Za-z]*|[^\W\d_A-Za-z]+\d*")
# Letters of a word; fewer before a number are a sign, as in x1.
_SHORTEST = 3
_ENDS = " _-./:|()"
# What stands in brackets at the end of a name: a note where it is more than a word, as in (1=yes) or (mean of 3).
_NOTE = late(r"\s*[(（\[]([^()（）\[\]]*)[)）\]]\s*$")
# A crowd worker's code, whose letters spell a model's name by chance.
_WORKER = late(r"A(?=[A-Z]*\d)[A-Z0-9]{10,}")
_FORM_FIELD = late(r"^(?:input|answer)\.", re.IGNORECASE)
_NUMBERS_NAMES = late(r"^(.*)(?:no|nr|num|code)$")
_NUMBERED = late(r"^(.*?)[ _.-]*(?:\d+|[a-e])$", re.IGNORECASE)


# What is a criterion as a whole: a likeness to people, and a statement that was agreed with.
_LIKE_PEOPLE = late(r"\bhuman[ _-]?like(?:ness)?\b", re.IGNORECASE)
_SENTENCE = late(r"^\S+(?: \S+){2,}[.?!]$")
# Before the last key of an object, as in `human.score`, and not in `gpt-3.5` or `Nr.`
_KEY = late(r"\.(?=[^\W\d])")
_REPEAT = late(
    r"^(.*?)[ _.-]*(?:runs?|try|trial|samples?|repeats?|rep|seed|iter(?:ation)?|attempt|pass|durchlauf|lauf|essai"
    r"|passage|intento|prova|tentativa|次|回|回目|轮)[ _.#-]*\d+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """What the name of a column of ratings suggests; `side` is None for neither, `mean`: it holds means."""

    column: str
    side: Side | None
    criterion: str | None
    who: str
    mean: bool


def named(column: str) -> NamedColumn:
    """Side, criterion and rater that a column's name suggests, such as judge, Coherence and gpt4 of `gpt4_coh`. A
    language model's name goes before words such as rater, which may speak of one."""
    name = _without_note(_FORM_FIELD.sub("", column))
    if _WORKER.fullmatch(name):
        return NamedColumn(column, "human", None, column, mean=False)
    if _LIKE_PEOPLE.search(name) or _SENTENCE.search(name):
        return NamedColumn(column, None, name.strip(), name.strip(), mean=False)
    parts = list(_PARTS.finditer(plain_letters(name)))
    low = [part[0].lower() for part in parts]
    judges = [bool(JUDGE.search(part)) for part in low]
    people = [bool(HUMAN.search(part)) for part in low]
    weak_judges = [bool(WEAK_JUDGE.search(part)) for part in low]
    weak_people = [bool(WEAK_HUMAN.search(part)) for part in low]
    given = [part in GIVEN_NAMES for part in low]
    ranks: tuple[tuple[list[bool], Side], ...]
    ranks = ((people, "human"), (judges, "judge"), (weak_people, "human"), (weak_judges, "judge"), (given, "human"))
    side = next((which for marks, which in ranks if any(marks)), None)
    sided = [any(marks) for marks in zip(judges, people, weak_judges, weak_people, given, strict=True)]
    plain = [part.rstrip("0123456789") in PLAIN | MEANS for part in low]
    version = [bool(_VERSION.search(part)) or (side is not None and len(part) == 1) for part in low]
    rest = [part for part, *marks in zip(parts, sided, plain, version, strict=True) if not any(marks)]
    words = " ".join(unicodedata.normalize("NFC", name)[part.start() : part.end()] for part in rest)
    criterion = criterion_name(_unnumbered(words)) if rest else None
    who = unicodedata.normalize("NFC", name)
    for part, *marks in reversed(list(zip(parts, sided, version, strict=True))):
        if not any(marks):
            who = who[: part.start()].rstrip(_ENDS) + who[part.end() :]
    words_of_all = {part[0].lower() for part in _PARTS.finditer(plain_letters(column))}
    return NamedColumn(column, side, criterion, who.strip(_ENDS) or column, bool(MEANS & words_of_all))


def _without_note(name: str) -> str:
    note = _NOTE.search(name)
    if note is None or not name[: note.start()].strip():
        return name
    more = any(sign.isdigit() or sign in "=,; " for sign in note[1].strip())
    return name[: note.start()] if more else name


def with_persons(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """The columns; those of one name, each with another word in brackets of which one is a person's given name and none
    a judge's, are persons', as in `style (Ana)` and `style (Bo)`."""
    groups: dict[str, dict[str, str]] = {}
    for column in columns:
        note = _NOTE.search(column.column)
        whole = note is not None and (_without_note(column.column) == column.column or is_given_name(note[1].strip()))
        if note is not None and note[1].strip() and whole:
            groups.setdefault(column.column[: note.start()].strip(), {})[column.column] = note[1].strip()
    persons: dict[str, tuple[str | None, str]] = {}
    for base, words in groups.items():
        sides = {column.side for column in columns if column.column in words}
        if len(words) > 1 and "judge" not in sides and any(map(is_given_name, words.values())):
            persons |= {column: (named(base).criterion, who) for column, who in words.items()}
    return [
        replace(column, side="human", criterion=persons[column.column][0], who=persons[column.column][1])
        if column.column in persons
        else column
        for column in columns
    ]


def may_be_persons(columns: Sequence[NamedColumn]) -> bool:
    """Whether people's columns, one for each of what would be criteria, may be named for persons: `annotator_ann`."""
    criteria = [column.criterion for column in columns]
    different = len(columns) > 1 and None not in criteria and len({*criteria}) == len(columns)
    lettered = {plain_letters(str(name)).lower().rstrip("0123456789") for name in criteria}
    if different and len(lettered) == 1 and lettered != {"q"} and len(min(lettered)) < _SHORTEST:
        return True
    return different and not any(is_criterion(str(name)) for name in criteria)


def is_given_name(column: str) -> bool:
    """Whether a column is called by a person's given name."""
    parts = [part[0].lower() for part in _PARTS.finditer(plain_letters(column))]
    return any(part in GIVEN_NAMES for part in parts) or (len(parts) > 1 and parts[0] in TITLES)


def counts_repeats(column: str) -> str | None:
    """The name of a column without the word that counts repeats: gemini of `gemini_run2`; None without one."""
    match = _REPEAT.match(column)
    return match[1].strip(_ENDS) if match and match[1].strip(_ENDS) else None


def is_criterion(name: str) -> bool:
    """Whether a name is that of a criterion: known, with a number as questions have, or of several words."""
    words = [part[0].lower() for part in _PARTS.finditer(plain_letters(name))]
    return bool(CRITERIA & {*words, bare(name)}) or len(words) > 1 or any(map(str.isdigit, name))


def _unnumbered(name: str) -> str:
    """The name of a criterion without the number of a column at its end; questions are told apart by theirs."""
    plain = name.rstrip("0123456789")
    return plain if len(plain) > 2 and plain.lower() not in _QUESTIONS else name


def is_count(column: str) -> bool:
    """Whether a column's name suggests counts, ids or a measure of spread instead of ratings."""
    low = frozenset(part[0].lower() for part in _PARTS.finditer(plain_letters(column)))
    return not low or counts(low, bare(column), plain_letters(column).lower())


def without_means(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """The columns, without each column of means whose criterion also has a column of single ratings."""
    single = {column.criterion for column in columns if not column.mean}
    return [column for column in columns if not column.mean or column.criterion not in single]


def bare(column: str) -> str:
    """Small letters without accents, and digits, of a column's name, without the prefixes of crowd-sourcing files."""
    last = _FORM_FIELD.sub("", column)
    return re.sub(r"[\W_]", "", plain_letters(_KEY.split(last)[-1]).lower())


def stem(column: str) -> str | None:
    """A column's name without the number or letter at its end; None where it has none."""
    numbered = _NUMBERED.match(column)
    return numbered[1].strip(_ENDS) if numbered and numbered[1].strip(_ENDS) else None


def named_column(name: str, columns: Sequence[str]) -> str | None:
    """The first column with a usual name for the field, the more usual names first; else one whose words are such names
    and fillers, as in `Geschichte Nr.`"""
    for usual_name in NAMES[name]:
        for column in columns:
            if bare(column) == usual_name:
                return column
    if name in ("id", "rater"):
        for column in columns:
            numbered_name = _NUMBERS_NAMES.match(bare(column))
            if numbered_name and len(numbered_name[1]) > _SHORTEST and numbered_name[1] in NAMES[name]:
                return column
    words = {*NAMES[name]} | FILLERS
    for column in columns:
        parts = {part[0].lower() for part in _PARTS.finditer(plain_letters(column))}
        if parts <= words and not parts <= FILLERS:
            return column
    return None


def criterion_name(column: str) -> str:
    """Criterion (HANNA's, or overall quality) of a ratings column, by name, abbreviation or at least 3 first letters;
    else `column`."""
    name = bare(column)
    for known, abbreviation in _shipped():
        if name in (known.lower(), abbreviation) or (len(name) > 2 and known.lower().startswith(name)):
            return known
    return column


@cache
def _shipped() -> tuple[tuple[str, str], ...]:
    # Read once: a wide table asks for every column, and of pairs of them.
    from judge.inputs.criteria import load_criteria

    found = [criterion for name in ("hanna", "overall") for criterion in load_criteria(name).criteria]
    return tuple((criterion.name, criterion.abbreviation.lower()) for criterion in found)
