"""The names of two compared stories, derived once from the labels of a comparison."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from judge.answers.parsing.words.vocabulary import word_set
from judge.base.records import Preferred

FIRST, SECOND, TIE = "①", "②", "⓪"
"""Symbols of the stories, and of a tie, in a sheet."""

MEANS: dict[str, Preferred] = {FIRST: "first", SECOND: "second", TIE: "tie"}
OTHER = {FIRST: SECOND, SECOND: FIRST}

NOUNS = (
    "story|option|text|narrative|response|candidate|version|tale|piece|passage|entry|submission|sample|assistant|model"
    "|excerpt|document|essay|geschichte|erzählung|histoire|récit|texte|historia|relato|cuento|texto|história|conto"
    "|storia|racconto|verhaal|рассказ|история"
)
_CJK_NOUNS = "故事|选项|選項|文章|作品|文本|物語|ストーリー|이야기|스토리"
_NTH = {"première": FIRST, "erste": FIRST, "primera": FIRST, "prima": FIRST, "primeira": FIRST, "一": FIRST}
_NTH |= {"deuxième": SECOND, "seconde": SECOND, "zweite": SECOND, "segunda": SECOND, "seconda": SECOND, "二": SECOND}
_ORDINALS = ({"first", "1st", "one", "1", "i"}, {"second", "2nd", "two", "2", "ii"})
_PLACES = word_set("first second 1st 2nd one two left right former latter former one")
_TIE_WORDS = ("tie", "draw", "dead heat", "toss-up", "toss up")
_PAIR = 2


@dataclass(frozen=True, slots=True)
class Sides:
    """The labels of two stories (`names`) and of a tie (`tie`; None = no such label), without the words with which both
    stories' labels begin ("Story").

    `positions` says whether "the first story" means the story shown first. This holds unless the labels are ordinals in
    another order. `pattern` matches text that may name a story or a tie. `letters` holds the labels of one character.
    """

    names: tuple[str, str]
    tie: str | None
    positions: bool
    pattern: re.Pattern[str]
    letters: str
    """The labels of one character, in their own case."""

    def side_of(self, word: str) -> str | None:
        """The symbol (one character) of the story or tie with this label, in any letter case; None for other words."""
        low = word.lower()
        for symbol, name in zip((FIRST, SECOND), self.names, strict=True):
            if low == name.lower():
                return symbol
        if self.tie is not None and low == self.tie.lower():
            return TIE
        return None

    def is_short(self, word: str) -> bool:
        """Whether a label is one character or an ordinal. These name a story only in certain positions."""
        return len(word) == 1 or word.lower() in _PLACES


def ordinal(word: str) -> str | None:
    """The symbol of the story that an ordinal ("first") names, in several languages; None for other words."""
    low = word.lower()
    if low in _NTH:
        return _NTH[low]
    return FIRST if low in _ORDINALS[0] else SECOND if low in _ORDINALS[1] else None


@lru_cache(maxsize=64)
def sides(choices: tuple[str, ...]) -> Sides:
    """The names of the first story, the second story and, if there is a third label, a tie, in a comparison with these
    labels.
    """
    words = [" ".join(choice.split()) for choice in choices]
    tie = words[_PAIR] if len(words) > _PAIR else None
    first, second = _without_common_words(words[0], words[1])
    names = (first, second)
    ranks = [ordinal(name) for name in names]
    positions = ranks in ([None, None], [FIRST, SECOND])
    letters = "".join(name for name in (first, second, tie or "") if len(name) == 1)
    return Sides(names, tie, positions, _pattern(names, tie, positions=positions), letters)


def _without_common_words(first: str, second: str) -> tuple[str, str]:
    """The two labels without the words with which both begin: "Story A" and "Story B" become "A" and "B"."""
    left, right = first.split(" "), second.split(" ")
    while len(left) > 1 and len(right) > 1 and left[0].lower() == right[0].lower():
        left, right = left[1:], right[1:]
    return " ".join(left), " ".join(right)


def _pattern(names: tuple[str, str], tie: str | None, *, positions: bool) -> re.Pattern[str]:
    """Pattern for text in lower case that may name a story or a tie. `sheet` checks each match."""
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
    """Regular expression for any of the names, the longest first."""
    return "|".join(re.escape(name).replace(r"\ ", r"\s") for name in sorted(set(names), key=len, reverse=True))
