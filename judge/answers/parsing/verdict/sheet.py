"""An answer prepared for the search for verdicts: stories' names become symbols, markup goes, positions are kept."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from judge.answers.parsing import vocabulary
from judge.answers.parsing.ours.labels import quotation
from judge.answers.parsing.verdict.json_verdicts import FIRST, OTHER, SECOND, TIE, Sides, ordinal
from judge.answers.parsing.vocabulary import first_and_last, lowered, word_set
from judge.base.late_pattern import late

# Checks the words around a short label ("A", "2", "First"): does it name a story, or is it an article or a number?

_BEFORE = word_set(
    "prefer prefers preferred preferring choose chose choosing pick picked picking select selected selecting favor"
    " favour favored favoured vote voted for go going went with than over is was be are to and or but while whereas"
    " although though that think believe say argue between overall so hence thus therefore then because since as in of"
    " by from on at if when find found like liked rank ranked rate rated give gave award answer verdict winner choice"
    " preference decision judgment judgement result conclusion stories versus vs against toward towards compared"
    " conclude judge consider deem call make makes it's not nor either neither whether only even just still here"
    " however yet now indeed personally beats beat outperforms out surpasses outshines exceeds tops trumps best better"
    " be below above behind put place settle settled opt my favourite favorite leave leaves i'd antwort ist "
    "est es le la"
    " réponse respuesta risposta resposta gewinner behind declare lean leaning considered again stronger superior"
)
_BEHIND = word_set(
    "is was isn't wasn't has had have does did doesn't didn't wins won win beats beat edges edged takes took comes came"
    " gets got over and or but because since as than whereas though although in on by with at to overall feels felt"
    " reads seems seemed appears remains stands outperforms surpasses outshines exceeds tops trumps prevails deserves"
    " would could might may should must will can cannot can't vs versus if when where which who instead rather due"
    " despite out ranks loses lost falls lags pales being ahead above goes offers while wird est"
    " for here outdoes emerges triumphs both"
)
_OBJECT = word_set(
    "find found like liked consider considered deem rank ranked rate rated make makes give gave prefer"
    " put place declare judge call"
)
_WITH_OBJECT = word_set(
    "better best more much the higher first above slightly stronger superior far somewhat marginally clearly a the as"
    " to second considerably significantly"
)
_LETTERED = word_set(
    "plan vitamin vitamins grade class type part section act hepatitis group team point side level list chapter scene"
    " character player mr mrs criterion hypothesis category block exhibit room street drawer appendix "
    "aspect planet agent"
    " person figure table mark letter line item step case an a the note key string column row minor major flat sharp"
)
_WORD_BEFORE = late(r"([^\W_][\w']*)[ \t*_]{1,4}(?:[\"'“(\[][*_]{0,2})?\Z")
_WORD_BEHIND = late(r"[ \t*_)\]\"'”]{1,5}([^\W_][\w'’]*)")
_LIST_MARK = late(r"[.)][ \t]")
_RANKED_BEFORE = late(r"(?<!\w)1[.):][ \t]{1,2}\Z")
_RANKED_BEHIND = late(r"[,;]?[ \t]{1,2}2[.):][ \t]{1,2}\S")
_A_NAMES_DEED = late(
    r"\.[ ](?!He\b|She\b|It\b|They\b|I\b|We\b)[A-Z][a-z]+[ ](?:wrote|writes|says|said|walked|walks|went|asked|thinks"
    r"|thought|loves|loved|knew|knows|told|took|looked|looks|ran|smiled|argues|argued|believes|believed|claims|claimed|prefers"
    r"|preferred|chose|chooses)\b"
)
_QUANTITY = late(r"[ \t]{0,2}(?:/[ \t]{0,2}\d|%|out of\b|points?\b|stars?\b)|[.,]\d|\+|[-–]\d|['’](?!s\b)")
# Characters in which the word before a label must end: one word and markup.
_REACH = 24


def names_a_story(text: str, start: int, stop: int) -> bool:
    """Whether the words around a short label at [start, stop) allow it to name a story."""
    if _QUANTITY.match(text, stop) or (text[start].isalpha() and stop - start == 1 and _begins_a_name(text, stop)):
        return False
    line = text.rfind("\n", 0, start) + 1
    if text[start].isdigit() and _LIST_MARK.match(text, stop) and not any(c.isalnum() for c in text[line:start]):
        return text[start] != "1" and _LIST_MARK.match(text, stop) is not None and not _listed(text, start)
    return _fits(text, max(line, start - _REACH), start, stop)


def _fits(text: str, begin: int, start: int, stop: int) -> bool:
    match = _WORD_BEFORE.search(text, begin, start)
    before = match.group(1).lower().replace("’", "'") if match else ""
    if before and not _may_stand_before(text, before, match, start, stop):
        return False
    if _RANKED_BEFORE.search(text, begin, start) and _RANKED_BEHIND.match(text, stop):
        return True
    behind = _WORD_BEHIND.match(text, stop)
    if behind is None:
        ordered = stop - start > 1 or text[start].isdigit()
        return not (ordered and not before and text[stop : stop + 1] == ",")
    word = behind.group(1).lower().replace("’", "'")
    if word in _BEHIND or (before in _OBJECT and word in _WITH_OBJECT):
        return True
    # "**B** The second story": set apart by markup.
    closed = text.startswith(("**", "__"), stop) and text.endswith(("**", "__"), 0, start)
    return closed or _in_parentheses(text, start, stop)


def _in_parentheses(text: str, start: int, stop: int) -> bool:
    # Such as "(B) The second ...", "B) The second ..."
    if not text.startswith((")", "]"), stop):
        return False
    return text.endswith(("(", "["), 0, start) or not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _may_stand_before(text: str, before: str, match: re.Match[str] | None, start: int, stop: int) -> bool:
    # A number or an ordinal needs a known word, a letter one with which it forms no fixed name ("Plan B").
    if before in _BEFORE or before.endswith("ly"):
        return True
    letter = stop - start == 1 and text[start].isalpha()
    return (
        letter
        and match is not None
        and before not in _LETTERED
        and not match.group(1)[0].isupper()
        and before[-1].isalpha()
    )


def _begins_a_name(text: str, stop: int) -> bool:
    end = text.find("\n", stop)
    initial = vocabulary.INITIAL.match(text, stop, len(text) if end < 0 else end)
    return initial is not None or _A_NAMES_DEED.match(text, stop) is not None


def _listed(text: str, start: int) -> bool:
    # "2" may number a list item below "1." or "1)".
    return re.search(r"^[ \t]{0,3}1[.)]", text[max(0, start - 4000) : start], re.MULTILINE) is not None


# Resolves "the former" and "the latter" to a story where the words before them are unambiguous.

LATTER = late(
    r"(?<!\w)the[ \t](?P<word>former|latter)(?:[ \t](?:story|one|option|text|response))?"
    r"(?=[ \t*_\"'”)]{0,3}(?:[.,;:!—–\n]|\Z)"
    r"|[ \t](?:is|was|wins|over|because|since|as|for|due|feels|seems|remains|has[ \t]the[ \t]edge)\b)"
)
_NOTHING_NAMED = late(
    r"\W*(?:(?:overall|personally|ultimately|honestly|therefore|so|thus|in the end|on balance)\W+)?"
    r"(?:(?:i|we)(?:['’][a-z]{1,2})?(?:[ ][a-z]{2,12}){1,4}[ ])"
)
_PAIR = 2


def meant(word: str, before: str, named: list[str]) -> str | None:
    """Symbol of the story that "former" or "latter" means; None where this is unclear.

    With stories `named` before, the words are clear only where the answer names first one and then only the other. With
    none, "former" means the story shown first and "latter" the second, but only where the answer begins with the
    choice: in "wit and heart; I prefer the latter" no story is meant."""
    if not named:
        order = [FIRST, SECOND] if _NOTHING_NAMED.fullmatch(before) else []
    else:
        order = [symbol for i, symbol in enumerate(named) if i == 0 or named[i - 1] != symbol]
    if len(order) != _PAIR or order[1] != OTHER.get(order[0]):
        return None
    return order[0] if word == "former" else order[1]


_MARKUP = late(r"[*_`~\\]+|[ \t\r\f\v\xa0]{2,}|^[ \t]{0,3}#{1,6}[ \t]?", re.MULTILINE)
# A bound on the work for answers that repeat themselves without end; see `_latter`.
_FEW = 20
_LOOSE_QUOTES = late(r"(?<!\w)\"(?=\S)[^\"]{1,3000}(?<=\S)\"(?!\w)|“[^”]{1,3000}”|«[^»]{1,3000}»")
_QUOTED_LINE = late(r"^[ \t]{0,3}>[^\n]*$", re.MULTILINE)
_STRUCK = late(r"~~[^~\n]{1,400}~~")
_SENTENCE_END = late(r"[.!?;\n。！？](?:(?<=[\n。！？])|(?=[\"')\]]{0,2}(?:\s|\Z)))")
_ABBREVIATION = late(r"(?:\be\.g|\bi\.e|\bvs|\betc|\bmr|\bdr|\bcf|\bmrs|\bst)\Z")
_NUMBER = late(r"(?:\A|[\s(,:])(?:\d{1,2}|no)\Z")
_GOES_ON = late(r"[ \t]{1,2}(?:is|was|has|wins|and|or|but|over|because|since|of|as|for|edges|beats|remains|than)\b")
_COUNTS = ("count", "nth", "nth_cjk")
# Ways to name a story, of the pattern of `sides`, that are a place or a label with its noun.
_NAMED = (*_COUNTS, "led", "joined", "joined_cjk", "letter_cjk")
_SOMEBODYS = late(
    r"['’]s[ \t](?:story|response|answer|text|narrative|version|submission|entry|tale|piece|output)"
    r"(?=[ \t]{1,2}(?:is|was|wins|because|over|as|for)\b|[ \t*]{0,3}(?:[.,;:!\n]|\Z))"
)
_BRACKETED = late(r"[\[(]\w[\])](?=[ \t]{1,2}(?:is|was|wins|beats|over)\b)")
# A name of a story in quoted words.
UNKNOWN = "◌"


@dataclass(frozen=True, slots=True)
class Reference:
    """A span that names a story. `label` is the span of the label alone; `bare`: without a noun such as "story"."""

    start: int
    stop: int
    symbol: str
    label: tuple[int, int]
    bare: bool


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a `Sheet`'s `line`, and its final punctuation mark ("" where it has none)."""

    begin: int
    end: int
    mark: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A prepared answer. In `line`, lower case, one symbol stands for each name of a story; `references` maps its
    position to the name. Position `starts[i]` of `line` is position `origins[i]` of the answer."""

    text: str
    line: str
    references: dict[int, Reference]
    starts: list[int]
    origins: list[int]

    def origin(self, position: int) -> int:
        """Position in the answer that corresponds to a position in `line`."""
        at = bisect_right(self.starts, position) - 1
        return min(len(self.text), self.origins[at] + position - self.starts[at]) if at >= 0 else 0

    def end(self, position: int) -> int:
        """Position in the answer where the text before a position in `line` ends."""
        last = self.references.get(position - 1)
        return self.origin(position) if last is None else last.stop

    def sentences(self) -> list[Sentence]:
        """The non-empty sentences, in order. A full stop after an abbreviation ends none."""
        parts = []
        begin = 0
        for match in _SENTENCE_END.finditer(self.line):
            if match.group() == "." and self._abbreviates(match.start()):
                continue
            parts.append(Sentence(begin, match.start(), match.group()))
            begin = match.end()
        parts.append(Sentence(begin, len(self.line), ""))
        return [sentence for sentence in parts if sentence.end > sentence.begin]

    def _abbreviates(self, position: int) -> bool:
        if _ABBREVIATION.search(self.line, max(0, position - 4), position):
            return True
        number = _NUMBER.search(self.line, max(0, position - 4), position)
        if number is None:
            return False
        behind = self.line[position + 1 : position + 3].strip()[:1]
        if number.group().endswith("no"):
            return behind.isdigit()
        before = self.line[max(0, number.start() - 8) : number.start()].rsplit("\n", 1)[-1]
        return behind in (FIRST, SECOND) or number.group()[0] in ":(" or not before.strip()


def sheet(text: str, sides: Sides) -> Sheet:
    """A cleaned text in lower case, with stories' names as symbols and without markup."""
    low = lowered(text)
    for mark, plain in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("：", ":"), ("，", ",")):
        low = low.replace(mark, plain) if mark in low else low
    matches = first_and_last(list(sides.pattern.finditer(low)))
    spans = _quoted(text)
    references = [reference for match in matches if (reference := _reference(text, match, sides)) is not None]
    references += _latter(low, references)
    references = [_unless_quoted(text, reference, spans) for reference in references]
    items: list[tuple[int, int, str, Reference | None]] = [(r.start, r.stop, r.symbol, r) for r in references]
    items += [(m.start(), m.end(), " " if m.group()[0] in " \t\xa0\r" else "", None) for m in _MARKUP.finditer(low)]
    return _joined(text, low, sorted(items, key=lambda item: (item[0], item[3] is None)))


def _joined(text: str, low: str, items: list[tuple[int, int, str, Reference | None]]) -> Sheet:
    pieces: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    references: dict[int, Reference] = {}
    length = cursor = 0

    def add(piece: str, origin: int) -> None:
        nonlocal length
        if piece:
            pieces.append(piece)
            starts.append(length)
            origins.append(origin)
            length += len(piece)

    for start, stop, put, reference in items:
        if start < cursor:
            continue
        add(low[cursor:start], cursor)
        if reference is not None:
            references[length] = reference
        add(put, start)
        cursor = stop
    add(low[cursor:], cursor)
    return Sheet(text, "".join(pieces), references, starts, origins)


def _latter(low: str, references: list[Reference]) -> list[Reference]:
    if "the former" not in low and "the latter" not in low:
        return []
    added = []
    for match in list(LATTER.finditer(low))[-_FEW:]:
        start, stop = match.span()
        named = [reference.symbol for reference in references if reference.stop <= start and reference.symbol != TIE]
        symbol = meant(match.group("word"), low[:start], named)
        if symbol is not None:
            added.append(Reference(start, stop, symbol, (start, stop), bare=False))
    return added


def _quoted(text: str) -> list[tuple[int, int]]:
    # Over several lines, marked as quoted (">"), or struck out.
    spans: list[tuple[int, int]] = []
    if '"' in text or "“" in text or "«" in text:
        spans += [m.span() for m in _LOOSE_QUOTES.finditer(text) if "\n" in m.group()]
    if ">" in text and not all(line.lstrip().startswith(">") for line in text.splitlines() if line.strip()):
        spans += [m.span() for m in _QUOTED_LINE.finditer(text)]
    if "~~" in text:
        spans += [m.span() for m in _STRUCK.finditer(text)]
    return spans


def _unless_quoted(text: str, reference: Reference, spans: list[tuple[int, int]]) -> Reference:
    quoted = not _is_name_in_quotes(text, reference) and quotation(text, reference.start, reference.stop) is not None
    if quoted or any(begin <= reference.start < end for begin, end in spans):
        return Reference(reference.start, reference.stop, UNKNOWN, reference.label, reference.bare)
    return reference


def _is_name_in_quotes(text: str, reference: Reference) -> bool:
    # Such as '"Story B" is better'
    return (
        text[reference.start] in '"“'
        and reference.stop - reference.start > 3
        and _GOES_ON.match(text, reference.stop) is not None
    )


def _reference(text: str, match: re.Match[str], sides: Sides) -> Reference | None:
    start, stop = match.span()
    kind = match.lastgroup or ""
    if kind == "letter" and sides.enclosed and text[start - 1 : start] + text[stop : stop + 1] in ("()", "[]"):
        symbol = sides.side_of(text[start:stop])
        return None if symbol is None else Reference(start - 1, stop + 1, symbol, (start, stop), bare=False)
    if kind in ("letter", "letter_cjk") and text[start] not in sides.letters and not _alone(text, start, stop):
        return None
    if vocabulary.UNCHECKED.search(text, max(0, start - 8), start):
        return None
    if kind == "of":
        return _ordered(text, match, sides)
    label = match.span(kind)
    if kind == "tie":
        return Reference(start, stop, TIE, label, bare=False)
    name = " ".join(match.group(kind).split())
    symbol = ordinal(name) if kind in _COUNTS else sides.side_of(name)
    if symbol is None:
        return None
    if kind == "noun":
        return _behind_noun(text, start, stop, symbol, label)
    if kind == "letter" and _BRACKETED.match(text, start - 1) and text[start - 2 : start - 1] not in ("[", "("):
        start, stop = start - 1, stop + 1
    bare = kind not in _NAMED and sides.is_short(name) and not _in_brackets(text, start, stop)
    if bare and not names_a_story(text, start, stop):
        return None
    return Reference(start, stop, symbol, label, bare)


def _behind_noun(text: str, start: int, stop: int, symbol: str, label: tuple[int, int]) -> Reference | None:
    # Such as "Story A", "Option (2)"; a small letter after the noun may be an article.
    closing = {"'": "'", '"': '"', "(": ")", "[": "]"}.get(text[label[0] - 1])
    enclosed = closing in (")", "]") and text[stop : stop + 1] == closing
    small = label[1] - label[0] == 1 and text[label[0]].islower() and not enclosed
    if small and not names_a_story(text, label[0], stop) and not _stops(text, stop):
        return None
    if text[start - 1 : start] in ('"', "“") and text[stop : stop + 1] in ('"', "”") and _GOES_ON.match(text, stop + 1):
        return Reference(start - 1, stop + 1, symbol, label, bare=False)
    if text[start:stop].lower().startswith(("assistant", "model", "candidate")):
        owned = _SOMEBODYS.match(text, stop)
        stop = owned.end() if owned is not None else stop
    if closing is not None and text[stop : stop + 1] == closing:
        stop += 1
    return Reference(start, stop, symbol, label, bare=False)


def _ordered(text: str, match: re.Match[str], sides: Sides) -> Reference | None:
    # Such as "the second story", "the first" without a noun after it, or "Second" where it is a label.
    start, stop = match.span()
    symbol = ordinal(match.group("order"))
    if symbol is None:
        return None
    label = match.span("order")
    has_noun, has_the = bool(match.group("of")), match.group("the") is not None
    if has_noun and (has_the or names_a_story(text, start, stop)):
        return Reference(start, stop, symbol, (start, stop), bare=False)
    if has_the and not has_noun and (_stops(text, stop) or _GOES_ON.match(text, stop)):
        return Reference(start, stop, symbol, (start, stop), bare=False)
    is_label = sides.side_of(match.group("order")) is not None
    if is_label and not has_noun and names_a_story(text, start, stop):
        return Reference(start, stop, symbol, label, bare=True)
    return None


def _alone(text: str, start: int, stop: int) -> bool:
    # A letter in the other case still names a story if it is the whole answer or in double brackets.
    return _in_brackets(text, start, stop) or not any(c.isalnum() for c in text[:start] + text[stop:])


def _in_brackets(text: str, start: int, stop: int) -> bool:
    return text.startswith("]]", stop) and text.endswith("[[", 0, start)


def _stops(text: str, stop: int) -> bool:
    rest = text[stop : stop + 6].lstrip(" \t*_\"'”")
    return not rest or not (rest[0].isalnum() or rest[0] in "-")


__all__ = ["FIRST", "SECOND", "TIE", "UNKNOWN", "Reference", "Sentence", "Sheet", "sheet"]
