"""Chooses among the ratings that an answer states, or gives the status that says why none can be chosen."""

from __future__ import annotations

from dataclasses import dataclass

from judge.answers.parsing.ours.clauses import Page, revises
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.statements import Statement
from judge.answers.parsing.vocabulary import DOUBTFUL, LIKELY, PLAIN, POSSIBLE
from judge.base.late_pattern import late
from judge.base.records import Status

_SCALE = late(
    r"scale\s(?:of|from)\s{0,2}\d{1,3}(?:\s\([^()\n]{0,30}\))?\s{0,2}(?:to|-|–)\s{0,2}(\d{1,3})\b"
    r"|(?<!\d)(\d{1,3})[ -]point\sscale"
    r"|\bscale:\s{0,2}\d{1,3}\s{0,2}(?:to|-|–)\s{0,2}(\d{1,3})\b"
    r"|(?<!\d)\d{1,3}\s{0,2}(?:to|-|–)\s{0,2}(\d{1,3})[ -]scale\b"
)
_HIGHEST = r"(\d{1,3}|ten|hundred|twenty|seven|%)(?![\w.])"
# Behind a label with its scale: "Rating (out of 10): ", "Score (1-10): ", "Out of 10, I give it a ".
_IN_LABEL = late(
    r"[(\[{][^()\[\]{}\n\d]{0,30}(?:\bout\sof\s|\bof\s|/\s?|\d\s{0,2}(?:to|-|–)\s{0,2}|\bmax(?:imum)?:?\s|(?=%))"
    rf"{_HIGHEST}"
    r"[^()\[\]{}\n\d]{0,20}[)\]}][\s:=]{0,6}\Z"
    rf"|\bout\sof\s{_HIGHEST}\s?[,:][^.!?\n\d]{{0,40}}\Z"
)
_WORDS = {"ten": 10.0, "hundred": 100.0, "twenty": 20.0, "seven": 7.0, "%": 100.0}


@dataclass(frozen=True, slots=True)
class Decision:
    """The choice among an answer's ratings: with status `ok` or `out_of_scale` also the statement chosen; `flags` say
    how."""

    status: Status
    statement: Statement | None = None
    flags: tuple[str, ...] = ()


def decide(page: Page, statements: list[Statement]) -> Decision:
    """The rating chosen from all statements of a rating in an answer, or the status where none can be chosen.

    Ratings of other criteria are ignored, and only the plainest statements (lowest tier) count. A rating that names the
    criterion has priority over an overall one, an explicit revision over what it revises. The answer is ambiguous if
    the rest differ, if all are doubtful, if the rating is a range, or if another number contradicts one in running
    text."""
    own = [s for s in statements if not s.other]
    flags: tuple[str, ...] = ("others_rated",) if len(own) < len(statements) else ()
    ours = [s for s in own if s.tier < DOUBTFUL]
    if not ours:
        return nothing_plain([s for s in own if s.tier == DOUBTFUL], flags)
    plainest = min(s.tier for s in ours)
    ours = [s for s in ours if s.tier == plainest]
    if any(s.named for s in ours):
        ours = [s for s in ours if not s.overall or s.named]
    if len({_claim(s) for s in ours}) > 1:
        ours, revised = _settled(page, ours)
        if revised:
            flags += ("revised",)
    if len({_claim(s) for s in ours}) > 1 or ours[-1].mention.high is not None:
        return Decision("ambiguous", None, flags)
    if _contradicted(page, ours[-1], own):
        return Decision("ambiguous", None, flags)
    # The form that a prompt asked for ("[RESULT] 4") is the statement; a sentence before it belongs to the explanation.
    chosen = next((s for s in ours if s.form == "boxed"), ours[0])
    mention = chosen.mention
    if mention.percent and page.scale.max != 100:
        return Decision("out_of_scale", chosen, flags)
    if mention.out_of is not None and mention.out_of != page.scale.max:
        return Decision("out_of_scale", chosen, flags)
    if mention.value not in page.scale or (mention.out_of is None and _another_scale(page, mention)):
        return Decision("out_of_scale", chosen, flags)
    return Decision("ok", chosen, flags)


def nothing_plain(doubtful: list[Statement], flags: tuple[str, ...]) -> Decision:
    """The decision where no statement is plain: ambiguous with the doubtful ones' kinds as flags, if there are any."""
    if not doubtful:
        return Decision("no_rating", None, flags)
    for form in ("list", "quoted"):
        if any(s.form == form for s in doubtful):
            flags += (form,)
    return Decision("ambiguous", None, flags)


_IN_RUNNING_TEXT = ("sentence", "fraction", "leading")


def _contradicted(page: Page, chosen: Statement, others: list[Statement]) -> bool:
    # A sentence can be misread, so it does not overrule a number that opens or closes a line.
    if chosen.form not in _IN_RUNNING_TEXT or chosen.mention.kind == "stars":
        return False
    leading = chosen.form == "leading"
    listed = leading and page.low.startswith((".", ")", ":"), chosen.mention.stop)
    rivals = [s for s in others if s.tier == POSSIBLE and (s.form == "end" or listed or not leading)]
    rivals += [s for s in others if s.form == "line" and (s.tier in (PLAIN, LIKELY, DOUBTFUL) or listed)]
    return any(_claim(s) != _claim(chosen) for s in rivals)


def _another_scale(page: Page, mention: Mention) -> bool:
    label = _IN_LABEL.search(page.low, max(0, mention.start - 100), mention.start)
    if label is not None:
        word = label.group(1) or label.group(2)
        return (_WORDS[word] if word in _WORDS else float(word)) != page.scale.max
    if "scale" not in page.low:
        return False
    named = [float(next(filter(None, m.groups()))) for m in _SCALE.finditer(page.low)]
    return bool(named) and page.scale.max not in named


def _claim(statement: Statement) -> tuple[object, ...]:
    # Two statements agree if these are equal; the denominator is ignored.
    mention = statement.mention
    return mention.value, mention.high, mention.percent


def _settled(page: Page, ours: list[Statement]) -> tuple[list[Statement], bool]:
    # The last explicit revision counts alone, unless a later statement differs from it.
    last = [s for s in ours if revises(page, s.mention)]
    if last:
        earlier = [s for s in ours if s.mention.start < last[-1].mention.start]
        later = [s for s in ours if s.mention.start > last[-1].mention.start]
        if any(_claim(s) != _claim(last[-1]) for s in later):
            return ours, False
        revised = any(s.mention.high is None and _claim(s) != _claim(last[-1]) for s in earlier)
        return [last[-1]], revised
    return ours, False
