"""The 24 scores of ROUGE-1.5.5, the same scores as HANNA released them, and OpenMEVA's ROUGE-L."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools
from judge.lab.measures.strings import rouge

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


def _places(sentence: Sequence[str]) -> tuple[dict[str, int], int]:
    """(Bit mask of each word's positions, bit mask of all positions)."""
    masks: dict[str, int] = {}
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
    scores = dict(zip(distinct, rouge.scores(distinct), strict=True))
    return [
        Scored(scores[pair] | {f"hanna {key}": value for key, value in scores[cut.get(pair, pair)].items()})
        for pair in whole
    ]


def _measures(ending: str, before: str, recipe: str, *, as_published: bool) -> tuple[Measure, ...]:
    return tuple(
        Measure(f"rouge-{_NAMES.get(kind, kind)}-{side}{ending}", f"{before}{kind} {side}", 1, recipe, as_published)
        for kind in rouge.KINDS
        for side in rouge.SIDES
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
