"""String measures beside the programs that they repeat, and beside HANNA's released columns."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from judge.inputs.datasets.locate import wordnet_folder
from judge.lab.measures import Family, Item, Scored, Tools, meteor, overlap, rouge, statistics
from judge.lab.measures import systems as diversity
from tests.measures.golden import Golden, Pair

ROUGE_NAMES = {kind: f"ROUGE-{kind.upper()}" for kind in rouge.KINDS}


def found(family: Family, items: Sequence[Item], golden: Golden) -> list[Scored]:
    return family.score(items, Tools(references=golden.human, wordnet=wordnet_folder()))


@pytest.mark.parametrize(
    ("family", "key", "column"),
    [
        (overlap.BLEU, "bleu", "bleu"),
        (overlap.CHRF_FAMILIES[0], "chrf", "chrf2"),
        (overlap.CHRF_FAMILIES[0], "hanna", "chrf3nl"),
        (overlap.BLEU_OPENMEVA, "bleu", "bleu_nltk_m1"),
        (rouge.ROUGE_OPENMEVA, "f", "rouge-l_f"),
    ],
)
def test_values_are_those_of_the_programs(golden: Golden, family: Family, key: str, column: str) -> None:
    scored = found(family, [pair.item for pair in golden.pairs], golden)
    assert [one.values[key] for one in scored] == pytest.approx(
        [float(pair.values[column]) for pair in golden.pairs], abs=1e-9
    )


@pytest.mark.skipif(wordnet_folder() is None, reason="WordNet 3.0 is not on this machine")
@pytest.mark.parametrize(("key", "column"), [("meteor", "meteor_nltk"), ("twice", "meteor_nltk35")])
def test_meteor_is_nltks(golden: Golden, key: str, column: str) -> None:
    scored = found(meteor.METEOR_FAMILIES[0], [pair.item for pair in golden.pairs], golden)
    wanted = [float(pair.values[column]) for pair in golden.pairs]
    assert [one.values[key] for one in scored] == pytest.approx(wanted, abs=1e-12)


def test_rouge_is_the_programs_at_five_decimals(golden: Golden) -> None:
    # The program was given files, one line a text: of a text of several lines it read the first.
    items = [pair.item._replace(text=pair.item.text.partition("\n")[0]) for pair in golden.pairs]
    scored = found(rouge.ROUGE, items, golden)
    wrong = [
        (pair.id, kind, side)
        for pair, one in zip(golden.pairs, scored, strict=True)
        for kind, name in ROUGE_NAMES.items()
        for side, letter in zip(rouge.SIDES, "RPF", strict=True)
        if one.values[f"hanna {kind} {side}"] != float(pair.values[f"{name}_{letter}"])
    ]
    assert not wrong
    assert len(scored) == 48


def _released(golden: Golden) -> list[Pair]:
    return [pair for pair in golden.pairs if pair.id in golden.released]


def test_hannas_released_columns_are_repeated(golden: Golden) -> None:
    pairs = _released(golden)
    items = [pair.item for pair in pairs]
    assert len(items) == 23
    for family, key, column in ((overlap.BLEU, "bleu", "BLEU Ξ§"), (overlap.CHRF_FAMILIES[0], "hanna", "chrF Ξ§")):
        wanted = [golden.released[pair.id][column] for pair in pairs]
        assert [one.values[key] for one in found(family, items, golden)] == pytest.approx(wanted, abs=1e-9)
    scored = found(meteor.CIDER_FAMILIES[0], items, golden)
    assert [one.values["cider"] for one in scored] == pytest.approx([golden.cider[p.id] for p in pairs], abs=1e-9)
    titles = {"recall": "Recall", "precision": "Precision", "f": "F-Score"}
    for pair, one in zip(pairs, found(rouge.ROUGE, items, golden), strict=True):
        for kind, name in ROUGE_NAMES.items():
            for side, title in titles.items():
                assert one.values[f"hanna {kind} {side}"] == golden.released[pair.id][f"{name} {title} Ξ§"]


def test_diversity_is_lexicalrichness_on_its_words(golden: Golden) -> None:
    for pair in golden.pairs:
        words = _words(pair.item.text)
        values = {"mattr50": diversity.mattr(words, 50), "mtld": diversity.mtld(words), "hdd42": diversity.hd_d(words)}
        values |= {"yulek": diversity.yule_k(words), "ttr": diversity.distinct(words, 1)}
        for column, value in values.items():
            if pair.values[column]:
                assert value == pytest.approx(float(pair.values[column]), rel=1e-9)


def _words(text: str) -> list[str]:
    """As that package reads them: no digits, hyphens gone, other marks a blank."""
    import re
    import string

    bare = re.sub(r"[0-9–—-]", "", text.lower())
    return bare.translate(str.maketrans(dict.fromkeys(string.punctuation.replace("-", ""), " "))).split()


def test_hannas_statistics_over_spacys_tokens(golden: Golden) -> None:
    pytest.importorskip("spacy")
    from judge.inputs.text_features import SCORE_FILE_FEATURES

    pairs = _released(golden)
    scored = found(statistics.FAMILIES[1], [pair.item for pair in pairs], golden)
    for name, column in SCORE_FILE_FEATURES.items():
        wanted = [golden.released[pair.id][column] for pair in pairs]
        assert [one.values[name] for one in scored] == pytest.approx(wanted, abs=1e-12)
