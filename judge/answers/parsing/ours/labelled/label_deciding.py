"""Chooses among the labels of a scale (such as Yes and No) that an answer states, or gives the status that says why
none can be chosen.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge.answers.parsing.ours.clauses import behind_revision
from judge.answers.parsing.ours.deciding import Decision
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.page import Page
from judge.answers.parsing.ours.statements import Statement
from judge.answers.parsing.words import label_words
from judge.answers.parsing.words.tiers import DOUBTFUL, PLAIN, STANDING

_WORD = re.compile(r"[\w']+")
_NEAR = 40
"""Characters between two labels of one breath ("Yes, but also no")."""


def decide_label(page: Page, stated: list[Statement], mentions: Sequence[Mention]) -> Decision:
    """The label (such as Yes) chosen from all statements of a label in an answer, or the status where none can be
    chosen. Of several statements of the same label, the plainest is chosen.

    Two different stated labels make the answer ambiguous even if one is stated more plainly, unless the later one is an
    explicit revision or only one is stated for the requested criterion. Ratings given as numbers have another rule:
    there, the plainer statement overrules the other, because a number in running text may be misread. Labels are rarely
    misread.
    """
    own = [s for s in stated if not s.other]
    flags: tuple[str, ...] = ("others_rated",) if len(own) < len(stated) else ()
    ours = [s for s in own if s.tier < DOUBTFUL]
    if not ours:
        return _nothing_plain(own, flags)
    last = [s for s in ours if _revises(page, s, mentions)]
    if last:
        revision = last[-1]
        earlier = [s for s in ours if s.mention.start < revision.mention.start]
        ours = [s for s in ours if s.mention.start >= revision.mention.start]
        if any(s.mention.value != revision.mention.value for s in earlier):
            flags += ("revised",)
    if any(s.named for s in ours):
        ours = [s for s in ours if not s.overall or s.named]
    if any(s.tier == PLAIN for s in ours):
        ours = [s for s in ours if not _asked_itself(s)]
    if len({s.mention.value for s in ours}) > 1:
        return Decision("ambiguous", None, flags)
    if _asked_itself(ours[0]) and any(s.mention.value != ours[0].mention.value for s in own):
        return Decision("ambiguous", None, flags)
    plainest = min(s.tier for s in ours)
    ours = [s for s in ours if s.tier == plainest]
    chosen = next((s for s in ours if s.form == "boxed"), ours[0])
    apart = [s for s in stated if s.other and s.mention.value != chosen.mention.value and not chosen.named]
    if any(_beside(page, chosen.mention, mention) for mention in mentions) or _in_one_sentence(page, chosen, apart):
        return Decision("ambiguous", None, flags)
    return Decision("ok", chosen, flags)


def _asked_itself(statement: Statement) -> bool:
    """Whether a label such as Yes answers a question with which the judge itself opened the answer ("Is it coherent?
    Yes."). The question may be only one of several.
    """
    return statement.form == "leading" and statement.tier == STANDING


def _nothing_plain(doubtful: list[Statement], flags: tuple[str, ...]) -> Decision:
    if not doubtful:
        return Decision("no_rating", None, flags)
    for form in ("list", "quoted"):
        if any(s.form == form for s in doubtful):
            flags += (form,)
    return Decision("ambiguous", None, flags)


def _revises(page: Page, statement: Statement, mentions: Sequence[Mention]) -> bool:
    """Whether the words before a label such as Yes mark it as the final answer, with no other label in between."""
    behind = behind_revision(page, statement.mention.start)
    if behind is None:
        return False
    start = statement.mention.start - len(behind)
    return not any(start <= m.start < statement.mention.start for m in mentions)


def _in_one_sentence(page: Page, chosen: Statement, apart: list[Statement]) -> bool:
    """Whether the sentence of the chosen label also gives labels of the scale to other aspects: "A B for effort and an
    A for style". The chosen label is then about an aspect too.
    """
    begin, end, _ = page.sentence(chosen.mention.start, chosen.mention.stop)
    return any(begin <= s.mention.start < end for s in apart)


def _beside(page: Page, chosen: Mention, other: Mention) -> bool:
    """Whether another label follows the chosen one directly, with only filler words between: "Yes, but also no"."""
    if other.value == chosen.value or not 0 <= other.start - chosen.stop <= _NEAR:
        return False
    between = page.low[chosen.stop : other.start]
    if any(c in ".!?\n(" for c in between):
        return False
    between_words = _WORD.findall(between)
    rest = page.low[other.stop :].lstrip(" \"'”»)")[:1]
    return bool(between_words) and label_words.BESIDE.issuperset(between_words) and not rest.isalnum()
