"""UMAP, KeyBERT and YAKE on real comments and real answers."""

from __future__ import annotations

import dataclasses
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.cli.main import main
from judge.explanations.corpus.reading import read_texts
from judge.explanations.mapping import keybert_ranking, keywords
from judge.explanations.mapping.explanation_map import map_explanations
from judge.explanations.mapping.keybert_ranking import Document, keybert_words
from judge.explanations.options import ExplainOptions, published
from judge.explanations.topics.reasons import reasons
from judge.inputs.embedding import Embedded, embed
from tests.explanations.topics.planted_reasons import SAID, texts


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, dict[str, Any]]:
    """Tables of the command by title."""
    with pytest.raises(SystemExit) as ended:
        main(["explain", "--layout", "clusters", *arguments, "--format", "json", "--quiet"])
    out = capsys.readouterr()
    assert ended.value.code == 0, out.err
    return {table["title"]: table for table in json.loads(out.out)}


def test_comments_fall_into_clusters_that_are_about_aspects(
    capsys: pytest.CaptureFixture[str], minilm: str, studies: Path
) -> None:
    """Ten aspects; the largest share of one among all comments is 58/303 = 19 %."""
    tables = as_json(capsys, "storyer_reasons", "--model", minilm)
    clusters = [row for row in tables["Clusters of explanations"]["rows"] if row["cluster"] != "none"]
    assert len(clusters) >= 3
    known = sum(row["texts"] for row in clusters)
    about = sum(row["texts"] * row["criterion_share"] for row in clusters)
    assert about / known > 2 * 58 / 303
    assert sum(row["texts"] for row in tables["Clusters of explanations"]["rows"]) == 303
    words = {row["group"]: row for row in tables["Keywords of explanations"]["rows"] if row["by"] == "criterion"}
    assert "ending" in words["Ending"]["keybert"].split(", ")[0]
    assert "horror" in words["Horror"]["keybert"]
    signature = tables["Keywords of explanations"]["signature"]
    assert "map:umap/15/cosine/seed1" in signature
    assert f"kw:ctfidf+keybert{version('keybert')}/300/mmr0.3" in signature


def test_a_seed_draws_the_same_umap_and_another_seed_another(minilm: str, studies: Path) -> None:
    texts = read_texts("storyer_reasons")
    one, same, other = (map_explanations(texts, ExplainOptions(model=minilm, seed=seed)) for seed in (1, 1, 2))
    assert (one.rows[["x", "y"]] == same.rows[["x", "y"]]).all(axis=None)
    assert (one.rows["cluster"] == same.rows["cluster"]).all()
    assert not np.allclose(one.rows["x"], other.rows["x"])


def groups_of(embedded: Embedded, texts: list[str]) -> list[Document]:
    """The halves of the texts, with their 80 best words by class-TF-IDF."""
    counts = keywords.count(texts)
    assert counts is not None
    codes = np.arange(len(texts), dtype=np.int64) % 2
    weights = keywords.class_tfidf(keywords.by_group(counts, codes, 2))
    return [
        Document(
            [word for word, _ in keywords.best(weights[code], counts.terms, 80)],
            [text for text, own in zip(texts, codes, strict=True) if own == code],
            embedded.vectors[codes == code].mean(axis=0),
        )
        for code in (0, 1)
    ]


def test_keywords_are_those_of_the_package_called_by_hand(minilm: str, studies: Path) -> None:
    from keybert import KeyBERT
    from sentence_transformers import SentenceTransformer
    from sklearn.feature_extraction.text import CountVectorizer

    texts = list(read_texts("storyer_reasons").with_text["text"][:60])
    embedded = embed(texts, minilm)
    model = SentenceTransformer(minilm)
    documents = groups_of(embedded, texts)
    for one, ours in zip(documents, keybert_words(documents, embedded, 12), strict=True):
        theirs = KeyBERT(model=model).extract_keywords(
            docs=[" ".join(one.texts)],
            vectorizer=CountVectorizer(vocabulary=one.candidates, analyzer=lambda _, own=one: own.candidates),
            top_n=12,
            use_mmr=True,
            diversity=0.3,
            doc_embeddings=model.encode(list(one.texts), normalize_embeddings=True).mean(axis=0, keepdims=True),
        )
        assert [word for word, _ in ours] == [word for word, _ in theirs]
        assert np.allclose([score for _, score in ours], [score for _, score in theirs], atol=2e-4)
        assert len(ours) == 12


def test_a_second_look_at_keywords_needs_neither_package_nor_model(
    minilm: str, studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = list(read_texts("storyer_reasons").with_text["text"][:60])
    cache = tmp_path / "embeddings.sqlite"
    embedded = embed(texts, minilm, cache)
    documents = groups_of(embedded, texts)
    first = keybert_words(documents, embedded, 5, cache)
    monkeypatch.setattr(keybert_ranking, "_extractor", lambda *_: pytest.fail("the package was asked"))
    assert keybert_words(documents, embedded, 5, cache) == first
    assert keybert_words(documents[::-1], embedded, 5, cache) == first[::-1]
    with pytest.raises(pytest.fail.Exception):
        keybert_words(documents, embedded, 6, cache)
    other = dataclasses.replace(documents[0], texts=documents[0].texts[1:])
    with pytest.raises(pytest.fail.Exception):
        keybert_words([other], embedded, 5, cache)


def test_tfidf_is_a_backend_too(capsys: pytest.CaptureFixture[str], minilm: str, studies: Path) -> None:
    tables = as_json(capsys, "storyer_reasons", "--model", "tfidf", "--map", "none")
    table = tables["Keywords of explanations"]
    words = {row["group"]: row for row in table["rows"] if row["by"] == "criterion"}
    assert "ending" in words["Ending"]["keybert"].split(", ")[0]
    assert f"keybert{version('keybert')}/300/mmr0.3" in table["signature"]


def test_words_without_a_candidate_are_none_and_hurt_no_other_group(minilm: str) -> None:
    embedded = embed(["a surprising ending", "it is the"], minilm)
    found = keybert_words(
        [Document(["surprising ending"], ["k1"], embedded.vectors[0]), Document([], ["k2"], embedded.vectors[1])],
        embedded,
        3,
    )
    assert [[word for word, _ in one] for one in found] == [["surprising ending"], []]
    assert keybert_words([Document([], ["k2"], embedded.vectors[1])], embedded, 3) == [[]]


def test_yake_is_the_studys_call_with_its_threshold_in_force(minilm: str) -> None:
    """In YAKE 0.6 and later `dedupLim` is taken without a word and does nothing: the threshold must be heard."""
    from yake import KeywordExtractor

    text = "The story roughly matches the prompt. The story only roughly matches. The story matches the prompt exactly."
    found = keywords.yake(text * 3)
    assert found == KeywordExtractor(n=3, dedup_lim=0.3, top=30).extract_keywords(text * 3)
    assert found != KeywordExtractor(n=3, dedup_lim=0.9, top=30).extract_keywords(text * 3)


def test_as_published_gives_the_studys_words_of_relevance_and_declares_the_rest(
    capsys: pytest.CaptureFixture[str], minilm: str, studies: Path
) -> None:
    """The study's 30 words of Relevance, over all its answers, begin: story, prompt, Relevance, story roughly matches,
    target, match, weak relationship, human, connection, weak, Mark Zuckerberg. Sixteen of its answers are at hand."""
    tables = as_json(capsys, "hanna_user_study", "--model", minilm, "--set", "as_published=true")
    (row,) = [row for row in tables["Keywords by YAKE, as published"]["rows"] if row["criterion"] == "Relevance"]
    words = row["words"].split(", ")
    assert len(words) == 30
    assert {"story", "prompt", "story roughly matches", "weak relationship", "Mark Zuckerberg"} <= set(words)
    notes = tables["Explanations"]["notes"]
    assert any("99 neighbours (not 300" in note for note in notes)
    assert any("the study set no seed" in note for note in notes)
    assert any("the study's was all-mpnet-base-v2" in note for note in notes)
    assert "map:umap/99/euclidean/seed1|texts:as-published" in tables["Explanations"]["signature"]


def test_as_published_looks_at_whole_answers_of_first_repeats_on_stories_by_people(minilm: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    kept = [f"{i % 5 + 1} - The story number {i} makes sense in its way." for i in range(20)]
    rows = [(answer, "Human", 0) for answer in kept]
    rows += [("3 - Fine.", "Human", 0), ("4 - Good and long. ### Human: next", "Human", 0)]
    rows += [("4 - A machine wrote this one.", "GPT-2", 0), ("4 - The second answer of it.", "Human", 1)]
    body = "\n".join(f'"{answer}",{system},{repeat},Coherence' for answer, system, repeat in rows)
    file.write_text(f"answer,system,repeat,criterion\n{body}\n", encoding="utf-8")
    seen = map_explanations(read_texts(file), published(ExplainOptions(model=minilm)))
    assert seen.rows["text"].to_list() == kept
    assert seen.left_out == {
        "not of the first repeat": 1,
        "on stories not by people": 1,
        "of 10 characters or fewer": 1,
        "with ###": 1,
    }
    assert seen.clustering is None


def test_keybert_names_topics_by_their_own_words(minilm: str) -> None:
    said = texts(prompts=15)
    found = reasons(said, count=4, name_by="keybert", model=minilm)
    assert found.named_by == "keybert"
    assert any("names by KeyBERT" in note and "384 dimensions" in note for note in found.name_notes)
    for reason, _ in SAID:
        topic = int(found.topics.topic[[reason in text for text in found.rows["text"]]][0])
        named = found.names[topic].replace(",", "").split()
        assert len(set(named) & set(reason.split())) >= 2, (found.names[topic], reason)
