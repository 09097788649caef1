"""The numbers on real embeddings: people's comments and audited answers, beside their permutation baselines."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.explanations.corpus.reading import read_texts
from judge.explanations.mapping.embedding import embed
from judge.explanations.quality.guideline_point import guideline_texts, split
from judge.explanations.quality.guideline_point import table as guideline_table
from judge.explanations.quality.options import NumbersOptions
from judge.explanations.quality.rating_agreement import tables as agreement
from judge.explanations.quality.specificity import tables as specificity

OPTIONS = NumbersOptions(permutations=99, refits=19, resamples=200)


def test_comments_tell_their_aspect_and_their_rating(minilm: str, studies: Path) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    vectors = embed(frame["text"].tolist(), minilm).vectors
    (row,) = specificity(frame, vectors, OPTIONS, "signature")[0].rows
    assert (row["silhouette_p"], row["purity_p"], row["accuracy_p"]) == (0.01, 0.01, 0.05)
    assert row["accuracy"].value > 2.5 * row["accuracy_chance"]
    assert row["purity"].value > row["purity_chance"] + 0.1
    rows = {row["criterion"]: row for row in agreement(frame, vectors, OPTIONS, "signature", "listed")[0].rows}
    told = {name for name, row in rows.items() if row["rho"].defined and row["gain"].low > 0}
    # Of six aspects with 20 comments or more these two are told by far, however the stories are dealt into folds.
    assert {"Opening", "Middle"} <= told
    assert all(rows[name]["rho"].value > 0.4 for name in ("Opening", "Middle"))


def test_audited_answers_lie_nearest_to_the_guideline_of_their_rating(minilm: str, studies: Path) -> None:
    audited = read_texts(studies / "hanna" / "user_study.csv")
    frame = audited.with_text
    vectors = embed([*frame["text"], *guideline_texts(audited.criteria)], minilm).vectors
    points = split(audited.criteria, vectors[len(frame) :])
    rows = guideline_table(frame, vectors[: len(frame)], points, "signature").rows
    near = {row["criterion"]: row for row in rows}
    assert near["Relevance"]["match"].low > near["Relevance"]["chance"]
    matched = sum(row["match"].value * row["texts"] for row in rows) / sum(row["texts"] for row in rows)
    chance = sum(row["chance"] * row["texts"] for row in rows) / sum(row["texts"] for row in rows)
    assert matched > chance + 0.2


@pytest.mark.parametrize("sample", [150])
def test_a_sample_leads_to_the_same_finding(minilm: str, studies: Path, sample: int) -> None:
    frame = read_texts(studies / "storyer" / "train_rate_reason_data_small.json").with_text
    vectors = embed(frame["text"].tolist(), minilm).vectors
    options = NumbersOptions(permutations=99, refits=19, sample=sample)
    first = specificity(frame, vectors, options, "signature")[0]
    assert first.rows[0]["texts"] <= sample
    assert first.rows[0]["purity_p"] <= 0.05
    assert any(note.startswith(f"{first.rows[0]['texts']} of 303 texts") for note in first.notes)
