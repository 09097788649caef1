"""p values over a family: against R, scipy and the published HANNA table, and what makes a family."""

from __future__ import annotations

import csv
from itertools import groupby
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.inputs.datasets.studies.hanna import ScoreFile, read_score_file
from judge.stats.correlation import heterogeneity as dc
from judge.stats.correlation import kendall
from judge.stats.estimation import paired_differences as multiplicity

GOLDEN = Path(__file__).parents[2] / "golden"
REAL = ("bh", "by", "holm", "bonferroni")


def rows(name: str) -> list[dict[str, str]]:
    with (GOLDEN / name).open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(line for line in stream if not line.startswith("#")))


# R 4.2.2, stats::p.adjust: golden/p_adjust.R (empty = NA).
@pytest.mark.parametrize("method", REAL)
@pytest.mark.parametrize(
    "family",
    [list(group) for _, group in groupby(rows("p_adjust.csv"), lambda row: row["family"])],
    ids=lambda family: family[0]["family"],
)
def test_equals_r(method: str, family: list[dict[str, str]]) -> None:
    p, theirs = (np.array([float(row[key] or "nan") for row in family]) for key in ("p", method))
    found = multiplicity.adjust(p, method, family="test")
    assert found.p == pytest.approx(theirs, rel=1e-12, nan_ok=True)
    assert (found.m, found.tests) == (int((~np.isnan(p)).sum()),) * 2


def test_what_is_not_a_test_is_not_counted() -> None:
    p = np.array([[0.01, np.nan], [0.04, 0.03]])
    for method in REAL:
        found = multiplicity.adjust(p, method, family="four cells")
        assert found.p.shape == p.shape
        assert np.isnan(found.p[0, 1])
        alone = multiplicity.adjust(p[~np.isnan(p)], method, family="x").p
        np.testing.assert_allclose(found.p[~np.isnan(p)], alone, rtol=0, atol=1e-12)
        assert (found.m, found.method, found.family) == (3, method, "four cells")
    nothing = multiplicity.adjust(np.full(4, np.nan), "holm", family="x")
    assert nothing.m == 0
    assert np.isnan(nothing.p).all()
    assert multiplicity.adjust(np.array([]), "by", family="x").m == 0
    assert multiplicity.adjust(p, "none", family="x").p[1].tolist() == [0.04, 0.03]


def test_what_cannot_be_adjusted() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        multiplicity.adjust(np.array([0.2, 1.1]), "bh", family="x")
    with pytest.raises(ValueError, match="unknown method 'fdr': one of bh, by, holm"):
        multiplicity.adjust(np.array([0.2]), "fdr", family="x")
    with pytest.raises(ValueError, match="takes a table of criteria x measures, not 1 dimensions"):
        multiplicity.adjust(np.array([0.2]), "hanna-published", family="x")


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), max_size=30), st.sampled_from(REAL))
def test_adjusted_p_keep_their_order_and_never_fall(values: list[float], method: str) -> None:
    p = np.array(values)
    found = multiplicity.adjust(p, method, family="x").p
    real = ~np.isnan(p)
    assert (found[real] >= p[real]).all()
    assert (found[real] <= 1).all()
    assert (np.diff(found[real][np.argsort(p[real], kind="stable")]) >= 0).all()
    shuffled = np.random.default_rng(0).permutation(p.size)
    assert multiplicity.adjust(p[shuffled], method, family="x").p.tolist() == pytest.approx(
        found[shuffled].tolist(), nan_ok=True
    )
    # Each controls more than the one before it.
    bh, by, holm, bonferroni = (multiplicity.adjust(p, name, family="x").p[real] for name in REAL)
    assert (bh <= by + 1e-15).all()
    assert (bh <= holm + 1e-15).all()
    assert (holm <= bonferroni + 1e-15).all()


def test_published_procedure_lets_a_placeholder_lower_its_neighbours() -> None:
    p = np.array([[0.02, 0.02], [np.nan, 0.5], [0.04, 0.04]])
    found = multiplicity.adjust(p, "hanna-published", family="as published")
    # First column: 0, .02, .04 of 3 give .03 and .04; second: .02, .04, .5.
    np.testing.assert_allclose(found.p, [[0.03, 0.06], [np.nan, 0.5], [0.04, 0.06]])
    assert (found.m, found.tests) == (3, 5)


MEASURES = {
    "Llama-13B": "Llama-13B {} 1",
    "Mistral-7B": "Mistral-7B {} 1",
    "ChatGPT": "ChatGPT {} 1",
    "BARTScore": "BARTScore-SH ΞΔ",
    "BERTScore": "BERTScore F1 Ξε",
    "BLEU": "BLEU Ξ§",
    "ROUGE-1": "ROUGE-1 Recall Ξ§",
    "chrF": "chrF Ξ§",
    "BaryScore": "BaryScore-W Ξε",
    "SUPERT": "SUPERT-PS ¤ε",
    "BLANC": "BLANC-Tune-PS ¤Δ",
}
CRITERIA = {
    "RE": "Relevance",
    "CH": "Coherence",
    "EM": "Empathy",
    "SU": "Surprise",
    "EG": "Engagement",
    "CX": "Complexity",
}


def _codes(scores: ScoreFile, column: str) -> np.ndarray:
    values = scores.column(column)
    # The study compared floats as they are; rounding to 1e-9 moves no cell of this table.
    return kendall.codes(np.concatenate([values[s] for s in scores.systems if s != "Human"]))


# Chhun, Suchanek & Clavel 2024 (TACL), Williams tests of overall correlations: golden/hanna_williams.csv.
def test_the_published_table_is_regenerated(studies: Path) -> None:
    scores = read_score_file(studies / "hanna" / "hanna_metric_scores_llm.csv")
    taus = np.empty((3, len(CRITERIA), len(MEASURES)))
    for i, (short, name) in enumerate(CRITERIA.items()):
        people, judge = _codes(scores, name), _codes(scores, f"Beluga-13B {short} 1")
        for j, measure in enumerate(MEASURES.values()):
            other = _codes(scores, measure.format(short))
            taus[:, i, j] = [kendall.tau_b(*pair) for pair in ((people, judge), (people, other), (judge, other))]
    r12, r13, r23 = dc.by_strength(*taus)
    tests = dc.compare_arrays(r12, r13, r23, 960, tail="greater")
    p = np.where(r12 > r13, tests.p, np.nan)
    found = multiplicity.adjust(p, "hanna-published", family="criteria of one measure")
    printed = rows("hanna_williams.csv")
    theirs = np.array([[float(row[measure] or "nan") for measure in MEASURES] for row in printed])
    assert [row["criterion"] for row in printed] == list(CRITERIA)
    np.testing.assert_array_equal(np.round(100 * found.p), theirs)
    assert (found.m, found.tests) == (6, 63)
    # One declared family of all 66 comparisons, tested before looking who wins: 42 of them at 5 %.
    assert (multiplicity.adjust(tests.p, "bh", family="all comparisons").p < 0.05).sum() == 42
