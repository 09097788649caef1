"""Verdicts in answers given as JSON: which keys hold one, and what a value means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from judge.answers.parsing.ours.clauses import is_template
from judge.answers.parsing.ours.json_answer import explanation_in, placed_objects, without_placed
from judge.answers.parsing.vocabulary import word_set
from judge.base.late_pattern import late
from judge.base.records import Preferred

# The names of two compared stories, derived once from the labels of a comparison.

# Symbols of the stories, and of a tie, in a sheet.
FIRST, SECOND, TIE = "①", "②", "⓪"

MEANS: dict[str, Preferred] = {FIRST: "first", SECOND: "second", TIE: "tie"}
OTHER = {FIRST: SECOND, SECOND: FIRST}

NOUNS = (
    "story|option|text|narrative|response|candidate|output|answer|summary|version|tale|piece|passage|entry|submission|sample|assistant|model"
    "|excerpt|document|essay|geschichte|erzählung|histoire|récit|texte|historia|relato|cuento|texto|história|conto"
    "|storia|racconto|verhaal|рассказ|история"
)
_CJK_NOUNS = "故事|选项|選項|文章|作品|文本|物語|ストーリー|이야기|스토리"
_NTH = {"première": FIRST, "erste": FIRST, "primera": FIRST, "prima": FIRST, "primeira": FIRST, "一": FIRST}
_NTH |= {"deuxième": SECOND, "seconde": SECOND, "zweite": SECOND, "segunda": SECOND, "seconda": SECOND, "二": SECOND}
_ORDINALS = ({"first", "1st", "one", "1", "i"}, {"second", "2nd", "two", "2", "ii"})
_PLACES = word_set("first second 1st 2nd one two left right former latter former one")
_IN_BRACKETS = re.compile(r"[(\[]\w+[)\]]")
_TIE_WORDS = ("tie", "draw", "dead heat", "toss-up", "toss up")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Sides:
    """The labels of two stories and of a tie (None = no such label), without the words with which both stories' begin
    ("Story"). `positions`: "the first story" is the one shown first, unless the labels are ordinals in another order.
    `letters` holds the labels of one character, without brackets; `enclosed`: in brackets alone, as "(a)"."""

    names: tuple[str, str]
    tie: str | None
    positions: bool
    pattern: re.Pattern[str]
    letters: str
    enclosed: bool = False

    def side_of(self, word: str) -> str | None:
        """The symbol (one character) of the story or tie with this label, in any letter case."""
        low = word.lower()
        for symbol, name in zip((FIRST, SECOND), self.names, strict=True):
            if low == name.lower():
                return symbol
        if self.tie is not None and low == self.tie.lower():
            return TIE
        return None

    def is_short(self, word: str) -> bool:
        """Whether a label is one character or an ordinal, which name a story only in certain positions."""
        return len(word) == 1 or word.lower() in _PLACES


def ordinal(word: str) -> str | None:
    """The symbol of the story that an ordinal ("first") names, in several languages."""
    low = word.lower()
    if low in _NTH:
        return _NTH[low]
    return FIRST if low in _ORDINALS[0] else SECOND if low in _ORDINALS[1] else None


@lru_cache(maxsize=64)
def sides(choices: tuple[str, ...]) -> Sides:
    """The names in a comparison with these labels: first story, second story and, as the third, a tie."""
    words = [" ".join(choice.split()) for choice in choices]
    tie = words[_PAIR] if len(words) > _PAIR else None
    # "Story A" and "Story B" become "A" and "B".
    left, right = words[0].split(" "), words[1].split(" ")
    while len(left) > 1 and len(right) > 1 and left[0].lower() == right[0].lower():
        left, right = left[1:], right[1:]
    first, second = " ".join(left), " ".join(right)
    bracketed = all(_IN_BRACKETS.fullmatch(name) for name in (first, second))
    names = (first[1:-1], second[1:-1]) if bracketed else (first, second)
    ranks = [ordinal(name) for name in names]
    positions = ranks in ([None, None], [FIRST, SECOND])
    letters = "".join(name for name in (first, second, tie or "") if len(name) == 1)
    enclosed = bracketed and all(_IN_BRACKETS.fullmatch(word) for word in words[:_PAIR])
    return Sides(names, tie, positions, _pattern(names, tie, positions=positions), letters, enclosed)


def _pattern(names: tuple[str, str], tie: str | None, *, positions: bool) -> re.Pattern[str]:
    # `sheet` checks each match.
    low = [name.lower() for name in names]
    every = [*low, *([tie.lower()] if tie else [])]
    single = "|".join(re.escape(name) for name in every if len(name) == 1)
    between = r"(?:[ \t]{1,2}|[_#-]|[ \t]?\*\*|[ \t][\"'(\[])"
    ways = [rf"(?:{NOUNS}){between}(?P<noun>{_either(low)})(?!\w)"]
    if positions:
        ways.append(rf"(?:{NOUNS})[ \t](?:number |no\. ?|#)?(?P<count>one|two|1|2|i|ii)(?!\w)")
        ways.append(
            rf"(?P<the>the[ \t]{{1,2}})?(?P<order>first|second|1st|2nd)(?P<of>[ \t]{{1,2}}(?:{NOUNS}|one)(?!\w)|(?!\w))"
        )
    long = [name for name in low if len(name) > 1]
    if long and not (positions and ordinal(low[0])):
        ways.append(rf"(?:the[ \t])?(?P<led>{_either(long)})[ \t](?:{NOUNS}|one)(?!\w)")
    ways.append(rf"(?:an?[ \t])?(?P<tie>{'|'.join(_TIE_WORDS)})(?!\w)")
    if positions:
        ways.append(rf"(?:la|il|die|a)[ \t](?P<nth>{'|'.join(_NTH)})[ \t](?:{NOUNS})(?!\w)")
    if longer := [name for name in every if len(name) > 1]:
        ways.append(rf"(?P<word>{_either(longer)})(?!\w)")
    if single:
        ways.append(rf"(?P<letter>{single})(?!\w)")
    # Words of Chinese and Japanese are not set apart, and French articles are joined to theirs.
    joined = [
        rf"(?:(?<=\bl['’])histoire[ \t])(?P<joined>{_either(low)})(?!\w)",
        *([rf"(?<=[是选择])[ \t]?(?P<letter_cjk>{single})(?![a-z0-9_])"] if single else []),
        rf"(?:{_CJK_NOUNS})[ \t]?(?P<joined_cjk>{_either(low)})(?![a-z0-9_])",
        *([r"第(?P<nth_cjk>[一二])(?:个|個|篇)(?:故事|文章|作品)?"] if positions else []),
    ]
    return re.compile(rf"(?:(?<!\w)(?<!\w['’-])(?:{'|'.join(ways)})|{'|'.join(joined)})(?!-\w)(?!\.\w)")


def _either(names: list[str]) -> str:
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(set(names), key=len, reverse=True))


_WORDS = late(r"[^\W\d_]+|\d+")
_CAMEL = late(r"(?<=[a-z])(?=[A-Z])")
_VERDICT = word_set(
    "winner preference preferred better best choice verdict answer decision judgment judgement selected "
    "selection pick vote"
    " result stronger winning chosen label prediction output overall final favorite favourite prefer "
    "conclusion superior choose"
    " response antwort gewinner respuesta ganador réponse risposta"
)
_BESIDE = word_set(
    "story stories option text the is of which my id name letter to a one your narrative value candidate s"
)
_EXPLAINS = word_set(
    "explanation explain reason reasons reasoning rationale justification comment comments feedback why "
    "analysis thought thoughts"
)
_HOLDERS = word_set(
    "result evaluation verdict output response answer comparison judgment judgement final overall assessment decision"
)
_FINAL = word_set("overall final")
_RANKING = word_set("ranking rank order ranked rankings")
_HEAD = late(r"((?:\w{2,12}\s)?\w{1,12})\s?(?::|\s[-–—])\s")
_EDGE = " \t\n*_\"'`.!()[]"
# Objects within objects that are followed: {"result": {"verdict": ...}} is usual, deeper ones are hostile or broken.
_DEEPEST = 3

_NO_ONE = word_set("tie draw tied neither equal both_equal none_better same even no_preference")


@dataclass(frozen=True, slots=True)
class JsonVerdict:
    """Verdict of an answer's JSON. `sides` are the symbols of the most specific keys: none without a verdict, several
    where they contradict each other. `outside` is the text without the objects; `span` is the value's place."""

    sides: frozenset[str]
    explanation: str | None
    outside: str
    span: tuple[int, int] | None


def json_verdict(
    text: str, sides: Sides, prose: Callable[[str], str | None], *, strict: bool = False
) -> JsonVerdict | None:
    """Verdict of an answer's JSON objects. `prose` reads a value that is a sentence. None without an object and, with
    `strict`, for everything that is not exactly one object."""
    if "{" not in text or '"' not in text:
        return None
    objects = [placed for placed in placed_objects(text) if not is_template(text, placed[1])]
    if not objects or (
        strict and (len(objects) != 1 or text[: objects[0][1]].strip() or text[objects[0][2] :].strip())
    ):
        return None
    entries = [(*entry, start) for value, start, _ in objects for entry in _entries(value)]
    outside = without_placed(text, objects)
    read = [
        (rank, side, key, item, start)
        for rank, key, item, start in entries
        if (side := value_side(item, key, sides, prose)) is not None
    ]
    best = max((rank for rank, *_ in entries), default=0)
    read = [candidate for candidate in read if candidate[0] == best]
    why = next(
        (explanation for value, _, _ in objects if (explanation := explanation_in(value, _EXPLAINS)) is not None), None
    )
    span = _span(text, read[0]) if read else None
    return JsonVerdict(frozenset(candidate[1] for candidate in read), why, outside, span)


def _entries(value: dict[str, Any], depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    # Rank 1: a verdict. Rank 2: a final verdict.
    for key, item in value.items():
        parts = [word.lower() for word in _WORDS.findall(_CAMEL.sub(" ", key))]
        if isinstance(item, dict):
            if depth < _DEEPEST and parts and (_HOLDERS | _BESIDE).issuperset(parts):
                yield from _entries(item, depth + 1)
            continue
        if parts and not _RANKING.isdisjoint(parts) and (_RANKING | _BESIDE | _FINAL).issuperset(parts):
            if isinstance(item, list) and len(item) == 2 and all(isinstance(text, str) for text in item):
                yield 1, key, item[0]
            continue
        if isinstance(item, list) and len(item) == 1:
            item = item[0]  # noqa: PLW2901
        if isinstance(item, bool) or not isinstance(item, str | int) or _VERDICT.isdisjoint(parts):
            if isinstance(item, bool) and item and parts in (["tie"], ["draw"], ["is", "tie"]):
                yield 1, key, "tie"
            continue
        if (_VERDICT | _BESIDE).issuperset(parts):
            yield (1 if _FINAL.isdisjoint(parts) else 2), key, item


def value_side(item: Any, key: str, sides: Sides, prose: Callable[[str], str | None]) -> str | None:
    """Symbol of what a JSON value states: a story or a tie; None where it states neither."""
    text = str(item).strip(_EDGE)
    side = sides.side_of(" ".join(text.split()))
    if side is not None:
        return side
    named = _HEAD.match(text)
    if named is not None and prose(named.group(1)) in (FIRST, SECOND):
        return prose(named.group(1))
    if "_".join(text.lower().replace("-", " ").split()) in _NO_ONE:
        return TIE
    counted = not isinstance(item, int) or not {"story", "stories", "option"}.isdisjoint(
        key.lower().replace("_", " ").split()
    )
    if (
        sides.positions
        and counted
        and text.lower() in ("first", "second", "1", "2")
        and (isinstance(item, int) or not text.isdigit() or "story" in key.lower())
    ):
        return ordinal(text)
    if isinstance(item, int) or not text:
        return None
    symbol = prose(text)
    return symbol if symbol in (FIRST, SECOND, TIE) else None


def _span(text: str, entry: tuple[int, str, str, Any, int]) -> tuple[int, int] | None:
    _, _, key, item, start = entry
    position = text.find(f'"{key}"', start)
    if position < 0:
        return None
    value = str(item)
    start_of_value = text.find(value, position + len(key) + 2)
    return None if start_of_value < 0 else (start_of_value, start_of_value + len(value))
