"""The ROUGE family of measures: the 24 scores of ROUGE-1.5.5, the same scores as HANNA released them, and OpenMEVA's
ROUGE-L.
"""

from __future__ import annotations

from collections.abc import Sequence

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools
from judge.lab.measures.strings import rouge
from judge.lab.measures.strings.sentence_rouge import f_score

_NAMES = {"s*": "s", "su*": "su"}
_RECIPE = (
    "as ROUGE-1.5.5.pl -c 95 -2 -1 -U -n 4 -w 1.2 -a -m gives it: one text is one line, Porter's stems, no exceptions "
    "of WordNet, five decimals, 0-1"
)


def _rouge(items: Sequence[Item], _: Tools) -> list[Scored]:
    """The 24 scores of ROUGE-1.5.5 for each item (text and reference of one story), and the scores with each text cut
    at its first ``<``, where the file reader of ROUGE-1.5.5 ends a text.
    """
    whole = [(item.text, item.reference) for item in items]
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
