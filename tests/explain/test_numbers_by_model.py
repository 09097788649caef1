"""The numbers on real embeddings: people's comments and audited answers, beside their permutation baselines."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.explanations.corpus.reading import read_texts
from judge.explanations.options import NumbersOptions
from judge.explanations.quality.guideline_point import guideline_texts, split
from judge.explanations.quality.guideline_point import measure as guideline_table
from judge.explanations.quality.measures import measure as agreement
from judge.explanations.quality.specificity import measure as specificity
from judge.inputs.embedding import embed

OPTIONS = NumbersOptions(permutations=99, refits=19, resamples=200)


def test_comments_tell_their_aspect_and_their_rating(minilm: str, studies: Path) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    vectors = embed(frame["text"].tolist(), minilm).vectors
    (row,) = specificity(frame, vectors, OPTIONS, "signature")[0].rows
    assert (row.result.silhouette_p, row.result.purity_p, row.result.accuracy_p) == (0.01, 0.01, 0.05)
    assert row.result.accuracy.value > 2.5 * row.result.accuracy_chance
    assert row.result.purity.value > row.result.purity_chance + 0.1
    rows = {row.asked.criterion: row for row in agreement(frame, vectors, OPTIONS, "signature", "listed")[0].rows}
    told = {name for name, row in rows.items() if row.result.rho.defined and row.result.gain.low > 0}
    # Of six aspects with 20 comments or more these two are told by far, however the stories are dealt into folds.
    assert {"Opening", "Middle"} <= told
    assert all(rows[name].result.rho.value > 0.4 for name in ("Opening", "Middle"))


def test_audited_answers_lie_nearest_to_the_guideline_of_their_rating(minilm: str, studies: Path) -> None:
    audited = read_texts(studies / "hanna" / "user_study.csv")
    frame = audited.with_text
    vectors = embed([*frame["text"], *guideline_texts(audited.criteria)], minilm).vectors
    points = split(audited.criteria, vectors[len(frame) :])
    rows = guideline_table(frame, vectors[: len(frame)], points, "signature").rows
    near = {row.asked.criterion: row for row in rows}
    assert near["Relevance"].result.match.low > near["Relevance"].result.chance
    matched = sum(row.result.match.value * row.result.texts for row in rows) / sum(row.result.texts for row in rows)
    chance = sum(row.result.chance * row.result.texts for row in rows) / sum(row.result.texts for row in rows)
    assert matched > chance + 0.2


@pytest.mark.parametrize("sample", [150])
def test_a_sample_leads_to_the_same_finding(minilm: str, studies: Path, sample: int) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    vectors = embed(frame["text"].tolist(), minilm).vectors
    options = NumbersOptions(permutations=99, refits=19, sample=sample)
    first = specificity(frame, vectors, options, "signature")[0]
    assert first.rows[0].result.texts <= sample
    assert first.rows[0].result.purity_p <= 0.05
    assert any(note.startswith(f"{first.rows[0].result.texts} of 303 texts") for note in first.notes)
