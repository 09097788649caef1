"""Checks the words around a short label ("A", "2", "First"): does it name a story, or is it an article or a number?"""

from __future__ import annotations

import re

from judge.answers.parsing.words import label_words
from judge.answers.parsing.words.vocabulary import word_set

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
_WORD_BEFORE = re.compile(r"([^\W_][\w']*)[ \t*_]{1,4}(?:[\"'“(\[][*_]{0,2})?\Z")
_WORD_BEHIND = re.compile(r"[ \t*_)\]\"'”]{1,5}([^\W_][\w'’]*)")
_LIST_MARK = re.compile(r"[.)][ \t]")
_RANKED_BEFORE = re.compile(r"(?<!\w)1[.):][ \t]{1,2}\Z")
_RANKED_BEHIND = re.compile(r"[,;]?[ \t]{1,2}2[.):][ \t]{1,2}\S")
_A_NAMES_DEED = re.compile(
    r"\.[ ](?!He\b|She\b|It\b|They\b|I\b|We\b)[A-Z][a-z]+[ ](?:wrote|writes|says|said|walked|walks|went|asked|thinks"
    r"|thought|loves|loved|knew|knows|told|took|looked|looks|ran|smiled|argues|argued|believes|believed|claims|claimed|prefers"
    r"|preferred|chose|chooses)\b"
)
_QUANTITY = re.compile(r"[ \t]{0,2}(?:/[ \t]{0,2}\d|%|out of\b|points?\b|stars?\b)|[.,]\d|\+|[-–]\d|['’](?!s\b)")
_REACH = 24
"""Characters in which the word before a label must end: one word and markup."""


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
    """Whether the label is in parentheses, or before a parenthesis at the start of a line: "(B) The second ...", "B)
    The second ...".
    """
    if not text.startswith((")", "]"), stop):
        return False
    return text.endswith(("(", "["), 0, start) or not text[text.rfind("\n", 0, start) + 1 : start].strip()


def _may_stand_before(text: str, before: str, match: re.Match[str] | None, start: int, stop: int) -> bool:
    """Whether the word `before` may precede a short label ("A", "2", "first") that names a story. A number or an
    ordinal needs a known word. A letter needs a word with which it forms no fixed name ("Plan B").
    """
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
    initial = label_words.INITIAL.match(text, stop, len(text) if end < 0 else end)
    return initial is not None or _A_NAMES_DEED.match(text, stop) is not None


def _listed(text: str, start: int) -> bool:
    """Whether a line above begins with "1." or "1)", so that "2" may number a list item."""
    return re.search(r"^[ \t]{0,3}1[.)]", text[max(0, start - 4000) : start], re.MULTILINE) is not None
