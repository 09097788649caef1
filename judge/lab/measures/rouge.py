"""ROUGE-1 to 4, L, W-1.2, S* and SU*, with the values of the program ROUGE-1.5.5 for texts on one line, with stemming.
ROUGE-1.5.5 differs from Lin (2004) in these points, which are reproduced here. A hyphen splits tokens, and every
character outside ``[A-Za-z0-9]`` is a space. Tokens of more than three letters are stemmed by the algorithm of Porter
(1980). Scores are rounded to five decimals before F is computed. The recall of ROUGE-W divides by the weight function
applied twice to the reference's length, so a text of n tokens compared with itself has n^-0.2 instead of 1. SU* counts
every token except the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from judge.base.late_pattern import late
from judge.lab.measures import Family, Item, Measure, Scored, Tools, ngrams
from judge.lab.measures.meteor import porter

Ints = NDArray[np.int64]
Token = TypeVar("Token", int, str, int | str)

KINDS = ("1", "2", "3", "4", "l", "w-1.2", "s*", "su*")
SIDES = ("recall", "precision", "f")
# The Perl program prints five digits, and what was published is computed from its output.
DIGITS = 5
_WEIGHT = 1.2
_TOKEN = late(r"[a-z0-9]+")
# The Perl program leaves words of up to three letters as they are.
_STEMMED = 3
# Cells of one step over the diagonals of several pairs at once.
_CELLS = 1 << 15

# Weight of a run of `length` tokens.
_RUNS = np.arange(1 << 16) ** _WEIGHT


def tokens(text: str) -> list[str]:
    """Tokens as in ROUGE-1.5.5: lower case, split at all but ASCII letters and digits, stemmed if over three
    characters."""
    return [porter(word) if len(word) > _STEMMED else word for word in _TOKEN.findall(text.translate(_LOWER))]


# ROUGE-1.5.5 reads bytes: the Kelvin sign "K", for example, does not become "k".
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def rouge_scores(pairs: Sequence[tuple[str, str]]) -> list[dict[str, float]]:
    """The 24 scores of each (text, reference) by name, from ``1 recall`` to ``su* f``."""
    read = cache(tokens)
    sides = [(read(text), read(reference)) for text, reference in pairs]
    ids = _numbered(sides)
    weighted = _weighted_lcs(ids)
    profile = cache(lambda text, order: ngrams(read(text), order))
    scored = []
    for (text, reference), (x, y), w in zip(pairs, ids, weighted, strict=True):
        hits = {"l": float(lcs_length(x.tolist(), y.tolist())), "w-1.2": w}
        for order in (1, 2, 3, 4):
            own, other = profile(text, order), profile(reference, order)
            hits[str(order)] = float(sum(min(own[gram], other[gram]) for gram in own.keys() & other.keys()))
        hits["s*"], unigrams = _skipped(x, y)
        hits["su*"] = hits["s*"] + unigrams
        scored.append({f"{kind} {side}": value for kind in KINDS for side, value in _three(kind, hits[kind], x, y)})
    return scored


def _three(kind: str, hits: float, text: Ints, reference: Ints) -> list[tuple[str, float]]:
    """Recall, precision and F, rounded as ROUGE-1.5.5 rounds them."""
    recall, precision = (
        _share(kind, hits, side.size, name) for side, name in ((reference, "recall"), (text, "precision"))
    )
    f = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return list(zip(SIDES, (recall, precision, _rounded(f)), strict=True))


def _share(kind: str, hits: float, size: int, side: str) -> float:
    total = _total(kind, size)
    if total <= 0:
        return 0.0
    if kind != "w-1.2":
        return _rounded(hits / total)
    # The program weighs the reference's length twice over, the text's once.
    return _rounded((hits / (total**_WEIGHT if side == "recall" else total)) ** (1 / _WEIGHT))


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}f}")


def _total(kind: str, size: int) -> float:
    """Largest possible number of hits in a text of `size` tokens."""
    if kind == "l":
        return size
    if kind == "w-1.2":
        return float(size**_WEIGHT)
    if kind == "s*":
        return size * (size - 1) / 2
    if kind == "su*":
        return size * (size - 1) / 2 + max(size - 1, 0)
    return size - int(kind) + 1


def _numbered(sides: Sequence[tuple[list[str], list[str]]]) -> list[tuple[Ints, Ints]]:
    numbers: dict[str, int] = {}
    number = numbers.setdefault
    return [
        (
            np.array([number(token, len(numbers)) for token in text], dtype=np.int64),
            np.array([number(token, len(numbers)) for token in reference], dtype=np.int64),
        )
        for text, reference in sides
    ]


def lcs_length(x: Sequence[int | str], y: Sequence[int | str]) -> int:
    """Length of the longest common subsequence, by the bit-parallel algorithm of Hyyrö (2004)."""
    masks, full = _places(x)
    row = full
    for token in y:
        here = row & masks.get(token, 0)
        if here:
            row = (row + here | row - here) & full
    return len(x) - row.bit_count()


def _skipped(x: Ints, y: Ints) -> tuple[float, float]:
    """(Shared ordered token pairs at any distance, shared tokens without the last of each text)."""
    common = np.intersect1d(x, y)
    if not common.size:
        return 0.0, 0.0
    pairs = np.minimum(_ordered_pairs(x, common), _ordered_pairs(y, common)).sum()
    heads = [np.bincount(np.searchsorted(common, _kept(side[:-1], common)), minlength=common.size) for side in (x, y)]
    return float(pairs), float(np.minimum(*heads).sum())


def _kept(side: Ints, common: Ints) -> Ints:
    return side[np.isin(side, common)]


def _ordered_pairs(side: Ints, common: Ints) -> NDArray[np.float32]:
    """Number of ordered pairs (a before b) for all a and b in `common`, exact up to 2^24."""
    here = np.searchsorted(common, _kept(side, common))
    one_hot = np.zeros((here.size, common.size), np.float32)
    one_hot[np.arange(here.size), here] = 1
    before = np.cumsum(one_hot, axis=0) - one_hot
    return np.asarray(before.T @ one_hot, np.float32)


def _weighted_lcs(pairs: Sequence[tuple[Ints, Ints]]) -> list[float]:
    """Weighted length of the longest common subsequence (ROUGE-W); pairs of similar size are computed together."""
    order = sorted(range(len(pairs)), key=lambda i: (pairs[i][1].size, pairs[i][0].size))
    values = [0.0] * len(pairs)
    start = 0
    while start < len(order):
        stop = start + 1
        while stop < len(order) and (stop + 1 - start) * pairs[order[stop]][1].size <= _CELLS:
            stop += 1
        some = order[start:stop]
        for i, value in zip(some, _together([(pairs[i][1], pairs[i][0]) for i in some]), strict=True):
            values[i] = value
        start = stop
    return values


def _together(pairs: Sequence[tuple[Ints, Ints]]) -> list[float]:
    """Weighted lengths of some (reference, text), whose tables are filled together, diagonal by diagonal.

    A cell whose two tokens are equal has the value of its upper left neighbour plus the increase in weight for a run
    that is one token longer; any other has the larger value of its upper and left neighbours. As in ROUGE-1.5.5, the
    result is not the value of the last cell: the path to it is followed back, and the weights of its runs of equal
    tokens are added. A run must be contiguous in the reference."""
    n, m, count = max(len(x) for x, _ in pairs), max(len(y) for _, y in pairs), len(pairs)
    x, y = np.full((n, count), -1, np.int32), np.full((m, count), -2, np.int32)
    for at, (first, other) in enumerate(pairs):
        x[: first.size, at], y[: other.size, at] = first, other
    backwards = y[::-1]
    # Row i of these holds cell (i, d - i); where i or d - i is 0 it holds 0.
    last, before = np.zeros((n + 1, count)), np.zeros((n + 1, count))
    run, run_before = np.zeros((n + 1, count), np.int32), np.zeros((n + 1, count), np.int32)
    moves: list[tuple[int, NDArray[np.bool_], NDArray[np.bool_]]] = []
    for d in range(2, n + m + 1):
        low, high = max(1, d - m), min(n, d - 1)
        rows, above = slice(low, high + 1), slice(low - 1, high)
        equal = x[low - 1 : high] == backwards[m - d + low : m - d + high + 1]
        up = last[above] >= last[rows]
        moves.append((low, equal, up))
        fresh = np.maximum(last[above], last[rows])
        places = np.nonzero(equal)
        runs = run_before[above][places]
        # Added and subtracted one after the other: ties depend on the last bit.
        fresh[places] = before[above][places] + _RUNS[runs + 1] - _RUNS[runs]
        before, last, run_before, run = last, before, run, run_before
        last[rows] = fresh
        # The next two diagonals read one row beyond these on either side.
        edge = slice(low - 1, high + 2)
        run[edge] = 0
        run[rows][places] = runs + 1
        last[low - 1] = 0
        last[high + 1 : high + 2] = 0
    return [_on_path(moves, at, first.size, other.size) for at, (first, other) in enumerate(pairs)]


def _on_path(moves: Sequence[tuple[int, NDArray[np.bool_], NDArray[np.bool_]]], at: int, i: int, j: int) -> float:
    """`moves` has for each diagonal (first row, mask of equal tokens, mask of cells where the path goes up, not
    left)."""
    total, length, after = 0.0, 0, -1
    while i and j:
        low, equal, up = moves[i + j - 2]
        if equal[i - low, at]:
            if i != after - 1 and length:
                total, length = total + _RUNS[length], 0
            length, after = length + 1, i
            i, j = i - 1, j - 1
        elif up[i - low, at]:
            i -= 1
        else:
            j -= 1
    return float(total + _RUNS[length])


# The 24 scores of ROUGE-1.5.5, the same scores as HANNA released them, and OpenMEVA's ROUGE-L.

# ROUGE-L equal to that of the package rouge 1.0.1: sentences end at ".", and a word that matches several times counts
# as one hit.

# What the package adds to the denominator of F.
_SMALL = 1e-8


@lru_cache(maxsize=4096)
def sentences(text: str) -> tuple[tuple[str, ...], ...]:
    """Words of each sentence. One of whitespace has one empty word, as in the package."""
    return tuple(tuple(" ".join(part.split()).split(" ")) for part in text.split(".") if part)


def f_score(text: str, reference: str) -> float:
    """F score of ROUGE-L; 0 where the text or the reference holds only full stops."""
    own, other = sentences(text), sentences(reference)
    if not own or not other:
        return 0.0
    union: set[str] = set()
    candidates = [(sentence, *_places(sentence)) for sentence in dict.fromkeys(own)]
    for sentence in dict.fromkeys(other):
        tokens = set(sentence)
        for candidate, masks, full in candidates:
            shared = tokens & masks.keys()
            # What is in the union already adds nothing, wherever the way back leads.
            if not shared <= union:
                union |= shared if len(shared) == 1 else _subsequence(sentence, candidate, masks, full)
    recall = len(union) / len({word for sentence in other for word in sentence})
    precision = len(union) / len({word for sentence in own for word in sentence})
    return 2 * precision * recall / (precision + recall + _SMALL)


def _places(sentence: Sequence[Token]) -> tuple[dict[Token, int], int]:
    """(Bit mask of each token's positions, bit mask of all positions)."""
    masks: dict[Token, int] = {}
    for position, word in enumerate(sentence):
        masks[word] = masks.get(word, 0) | 1 << position
    return masks, (1 << len(sentence)) - 1


def _subsequence(x: Sequence[str], y: Sequence[str], masks: Mapping[str, int], full: int) -> set[str]:
    """Words of the longest common subsequence; of several, the one that the package rouge finds."""
    # Zeros among the first j bits of a row: the length for so many words of both.
    row = full
    rows = [row]
    for word in x:
        here = row & masks.get(word, 0)
        if here:
            row = (row + here | row - here) & full
        rows.append(row)
    shared: set[str] = set()
    i, j = len(x), len(y)
    while i and j:
        if x[i - 1] == y[j - 1]:
            shared.add(x[i - 1])
            i, j = i - 1, j - 1
        elif _length(rows[i - 1], j) > _length(rows[i], j - 1):
            i -= 1
        else:
            j -= 1
    return shared


def _length(row: int, words: int) -> int:
    return words - (row & ((1 << words) - 1)).bit_count()


_NAMES = {"s*": "s", "su*": "su"}
_RECIPE = (
    "as ROUGE-1.5.5.pl -c 95 -2 -1 -U -n 4 -w 1.2 -a -m gives it: one text is one line, Porter's stems, no exceptions "
    "of WordNet, five decimals, 0-1"
)


def _rouge(items: Sequence[Item], _: Tools) -> list[Scored]:
    whole = [(item.text, item.reference) for item in items]
    # The file reader of ROUGE-1.5.5 ends a text at its first ``<``.
    cut = {pair: (pair[0].split("<")[0], pair[1].split("<")[0]) for pair in whole if "<" in "".join(pair)}
    distinct = list(dict.fromkeys([*whole, *cut.values()]))
    scores = dict(zip(distinct, rouge_scores(distinct), strict=True))
    return [
        Scored(scores[pair] | {f"hanna {key}": value for key, value in scores[cut.get(pair, pair)].items()})
        for pair in whole
    ]


def _measures(ending: str, before: str, recipe: str, *, as_published: bool) -> tuple[Measure, ...]:
    return tuple(
        Measure(f"rouge-{_NAMES.get(kind, kind)}-{side}{ending}", f"{before}{kind} {side}", 1, recipe, as_published)
        for kind in KINDS
        for side in SIDES
    )


def _openmeva(items: Sequence[Item], _: Tools) -> list[Scored]:
    return [Scored({"f": f_score(item.text, item.reference)}) for item in items]


ROUGE = Family(
    name="rouge",
    source="Lin 2004; own, equal to ROUGE-1.5.5",
    needs=("reference",),
    distributions=("nltk",),
    score=_rouge,
    measures=(
        *_measures("", "", _RECIPE, as_published=False),
        *_measures("-hanna", "hanna ", _RECIPE + "; texts end at their first <", as_published=True),
    ),
)
ROUGE_OPENMEVA = Family(
    name="rouge-l-openmeva",
    source="Lin 2004; own, equal to the package rouge 1.0.1 as OpenMEVA ran it",
    needs=("reference",),
    score=_openmeva,
    measures=(
        Measure(
            "rouge-l-openmeva",
            "f",
            1,
            "ROUGE-L over sentences split at full stops, of distinct words (the package's sets), case kept, F, 0-1",
            as_published=True,
        ),
    ),
)
FAMILIES = (ROUGE, ROUGE_OPENMEVA)
