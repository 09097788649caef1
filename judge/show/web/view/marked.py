"""Texts as escaped HTML: an answer with its rating marked, and two texts with their differences marked."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from markupsafe import Markup, escape

from judge.base.late_pattern import late
from judge.base.records import Judgment, Verdict
from judge.inputs.perturbations.perturbation import Edit, in_order

_WORD = late(r"\s+|\w+|[^\w\s]")
_READ = Markup('<mark title="the {} was read here">{{}}</mark>')
_EXPLAINED = Markup('<span class="explained">{}</span>')
_GONE, _CAME = Markup("<del>{}</del>"), Markup("<ins>{}</ins>")
_EXCERPT = 260
# Pairs of words beyond which lines are compared: the time grows with their product.
_MOST = 2_000_000


def answer(text: str, judgment: Judgment | Verdict) -> Markup:
    """A whole answer with the rating or preference in `mark`, and the explanation underlined. The explanation is marked
    only if the answer contains it unchanged."""
    cuts: list[tuple[int, int, Markup]] = []
    if judgment.span is not None:
        cuts.append((*judgment.span, _READ.format("preference" if isinstance(judgment, Verdict) else "rating")))
    if judgment.explanation:
        start = text.find(judgment.explanation)
        end = start + len(judgment.explanation)
        if start >= 0 and not any(a < end and start < b for a, b, _ in cuts):
            cuts.append((start, end, _EXPLAINED))
    marked, done = Markup(""), 0
    for start, end, form in sorted(cuts):
        marked += escape(text[done:start]) + form.format(text[start:end])
        done = end
    return marked + escape(text[done:])


def excerpt(text: str, judgment: Judgment | Verdict) -> Markup:
    """The beginning of an answer, with the rating or preference if it is there."""
    shown = text if len(text) <= _EXCERPT else text[:_EXCERPT]
    span = judgment.span if judgment.span is not None and judgment.span[1] <= len(shown) else None
    marked = answer(shown, replace(judgment, explanation=None, span=span))
    return marked if shown == text else marked + "…"


def edited(text: str, edits: Sequence[Edit]) -> tuple[Markup, Markup]:
    """The text before and after edits: removed words in `del`, added words in `ins`."""
    old, new, last = Markup(""), Markup(""), 0
    for edit in in_order(edits):
        same = escape(text[last : edit.start])
        gone = text[edit.start : edit.end]
        old += same + (_GONE.format(gone) if gone else "")
        new += same + (_CAME.format(edit.replacement) if edit.replacement else "")
        last = edit.end
    return old + escape(text[last:]), new + escape(text[last:])


def difference(left: str, right: str, shared_texts: Sequence[str] = ()) -> tuple[Markup, Markup]:
    """Two texts with words only on the left in `del`, only on the right in `ins`. `shared_texts`, such as the story,
    are compared as a whole: word by word would take seconds."""
    a, b = _pieces(left, shared_texts), _pieces(right, shared_texts)
    if len(a) * len(b) > _MOST:
        a, b = left.splitlines(keepends=True), right.splitlines(keepends=True)
    old, new = Markup(""), Markup("")
    for kind, i, j, k, n in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if kind == "equal":
            same = _equal(a[i:j], shared_texts)
            old += same
            new += same
            continue
        before, after = _joined(a[i:j]), _joined(b[k:n])
        if before:
            old += _GONE.format(before)
        if after:
            new += _CAME.format(after)
    return old, new


def _pieces(text: str, shared_texts: Sequence[str]) -> list[str]:
    # Shorter texts, such as a title, may occur by chance; the longest first, so that none is cut by one that it holds.
    whole = sorted({shared for shared in shared_texts if len(shared) > 40}, key=len, reverse=True)
    if not whole:
        return _WORD.findall(text)
    pattern = re.compile("|".join(map(re.escape, whole)))
    pieces: list[str] = []
    done = 0
    for match in pattern.finditer(text):
        pieces += [*_WORD.findall(text[done : match.start()]), match.group()]
        done = match.end()
    return [*pieces, *_WORD.findall(text[done:])]


def _equal(pieces: Sequence[str], shared_texts: Sequence[str]) -> Markup:
    # A shared text gets a scrollable box of limited height, so that differences are easier to see.
    whole = Markup('<span class="whole" tabindex="0">{}</span>')
    return Markup("").join(whole.format(piece) if piece in shared_texts else escape(piece) for piece in pieces)


def _joined(pieces: Iterable[str]) -> Markup:
    return escape("".join(pieces))
