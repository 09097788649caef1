"""Explanations out of runs, tables and studies' files, with nothing lost on the way."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from judge.answers.journal import JournalReader
from judge.base.errors import DataError, SpecError
from judge.base.fingerprint import text_key
from judge.base.records import Criterion
from judge.explanations.corpus.corpus import COLUMNS, narrowed
from judge.explanations.corpus.from_studies import quoted_criterion
from judge.explanations.corpus.reading import read_texts
from judge.ratings.ratings_table import read


def test_runs_give_every_repeat_with_its_answer_and_what_parsing_left(demo_run: Path) -> None:
    texts = read_texts([demo_run])
    table = read([demo_run])
    judged = table.frame[table.frame["source"] == "judge"]
    assert list(texts.frame.columns) == list(COLUMNS)
    assert len(texts.frame) == len(judged)
    assert texts.frame["rating"].to_list() == judged["rating"].to_list()
    answers = {}
    with JournalReader(table.facts[0].path / "journal.sqlite") as journal:
        for answer in journal.answers():
            assert answer.response is not None
            answers[answer.story, answer.criterion, answer.eval_prompt, answer.repeat] = answer.response.text
    for row in texts.frame.to_dict("records"):
        assert row["answer"] == answers[row["story"], row["criterion"], row["eval_prompt"], row["repeat"]]
        if row["text"] is not None:
            assert row["text"] == row["explanation"]
            assert row["key"] == text_key(row["text"])
            assert row["text"] in row["answer"]
    assert set(texts.with_text["eval_prompt"]) == {"ep2"}  # Eval-Prompt 1 asks for a rating alone
    assert {c.name for c in texts.criteria} == set(texts.frame["criterion"])
    assert texts.stories["text"].to_dict() == table.stories["text"].to_dict()


def test_narrowed_keeps_names_letter_case_aside_and_refuses_others(demo_run: Path) -> None:
    texts = read_texts([demo_run])
    part = narrowed(texts, criteria=["coherence"], eval_prompts=["EP2"])
    assert set(part.frame["criterion"]) == {"Coherence"}
    assert [c.name for c in part.criteria] == ["Coherence"]
    assert list(part.frame.index) == list(range(len(part.frame)))
    with pytest.raises(SpecError, match='criterion="Coherenze"'):
        narrowed(texts, criteria=["Coherenze"])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_tables_of_all_three_forms_are_read_through_a_column_map(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"comments.{ending}"
    rows = [
        {"Comment": "It drags, <b>badly</b>.", "Aspect": "Pace", "Stars": "2", "id": "s1", "Story": "Once."},
        {"Comment": "", "Aspect": "Pace", "Stars": "", "id": "s2", "Story": "Twice."},
    ]
    if ending == "csv":
        pd.DataFrame(rows).to_csv(file, index=False)
    elif ending == "jsonl":
        file.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    else:
        pytest.importorskip("pyarrow")
        pd.DataFrame(rows).to_parquet(file)
    columns = {"text": "Comment", "criterion": "Aspect", "rating": "Stars", "story": "id", "story_text": "Story"}
    texts = read_texts(file, columns={**columns, "judge": "=people"})
    first, second = texts.frame.to_dict("records")
    assert (first["text"], first["criterion"], first["rating"], first["judge"]) == (
        "It drags, <b>badly</b>.",
        "Pace",
        2.0,
        "people",
    )
    assert second["text"] is None
    assert second["key"] is None
    assert pd.isna(second["rating"])
    assert texts.stories.loc[("comments", "s2"), "text"] == "Twice."
    assert "1 of 2 rows hold no explanation" in texts.notes


def test_whole_answers_in_a_table_are_parsed(tmp_path: Path) -> None:
    file = tmp_path / "answers.csv"
    pd.DataFrame([{"answer": "4\n\nIt holds together well.", "criterion": "Coherence"}]).to_csv(file, index=False)
    (row,) = read_texts(file).frame.to_dict("records")
    assert (row["rating"], row["text"], row["status"]) == (4.0, "It holds together well.", "ok")


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({}, "the column that holds the texts is not named"),
        ({"text": "Coment"}, "did you mean 'Comment'"),
        ({"txt": "Comment"}, "column map field 'txt'"),
        ({"text": "Comment", "rating": "Comment"}, "row 2, column 'Comment': not a rating"),
    ],
)
def test_a_table_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, columns: dict[str, str], words: str) -> None:
    file = tmp_path / "comments.csv"
    file.write_text("Comment\nfine\n", encoding="utf-8")
    with pytest.raises((DataError, SpecError), match=words):
        read_texts(file, columns=columns)


def test_a_file_stands_alone_and_runs_need_no_columns(tmp_path: Path, demo_run: Path) -> None:
    file = tmp_path / "comments.csv"
    file.write_text("text\nfine\n", encoding="utf-8")
    with pytest.raises(SpecError, match="one file alone"):
        read_texts([file, demo_run])
    with pytest.raises(SpecError, match="runs need none"):
        read_texts([demo_run], columns={"text": "x"})


@pytest.mark.parametrize("suffix", [".tsv", ".xlsx", ".json"])
def test_comments_in_any_table_are_read(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"comments{suffix}"
    frame = pd.DataFrame({"Comment": ["fine", "a bore"], "Stars": [4, 2]})
    if suffix == ".tsv":
        frame.to_csv(file, sep="\t", index=False)
    elif suffix == ".xlsx":
        frame.to_excel(file, index=False)
    else:
        frame.to_json(file, orient="records")
    texts = read_texts([file], columns={"text": "Comment", "rating": "Stars"})
    assert texts.frame["text"].tolist() == ["fine", "a bore"]
    assert texts.frame["rating"].tolist() == [4, 2]


def test_storyer_comments_are_303_over_ten_aspects(studies: Path) -> None:
    """Counts of the released file: 303 usable comments; aspects 1 to 10 as listed, two comments of no aspect."""
    texts = read_texts("storyer_reasons")
    counts = texts.frame["criterion"].value_counts()
    assert [int(counts[c.name]) for c in texts.criteria] == [47, 44, 55, 58, 38, 3, 8, 10, 15, 25]
    assert texts.frame["text"].notna().all()
    assert texts.frame["rating"].between(1, 5).all()
    assert len(texts.stories) == 100
    assert not texts.stories["text"].str.contains("<br>").any()
    assert any("2 comments without an aspect" in note for note in texts.notes)
    by_path = read_texts(studies / "storyer" / "train_rate_reason_data_small.json")
    assert by_path.frame["key"].to_list() == texts.frame["key"].to_list()


def test_storyer_line_breaks_are_decoded_in_comments_too(tmp_path: Path) -> None:
    """The released comments hold no mark of a line break; the study's preparation writes both marks in any text."""
    entry = {"story": "a<br>b", "prompt": "c <\\newline> d", "comments": [[1, 4, "good.<br>very  <\\newline>  good"]]}
    file = tmp_path / "reasons.json"
    file.write_text(json.dumps([entry]), encoding="utf-8")
    texts = read_texts(file)
    assert texts.frame["text"].tolist() == ["good.\nvery\ngood"]
    assert texts.frame["story_prompt"].tolist() == ["c\nd"]
    assert texts.stories["text"].tolist() == ["a\nb"]


def test_user_study_gives_100_answers_with_the_criterion_they_quote(studies: Path) -> None:
    """24 of the 100 are a bare guideline after the rating, by the study's own count."""
    texts = read_texts("hanna_user_study")
    assert len(texts.frame) == 100
    assert int(texts.frame["flags"].str.contains("guideline_only").sum()) == 24
    told = texts.frame[texts.frame["criterion"] != ""]
    assert len(told) >= 90
    names = {c.name: c for c in texts.criteria}
    for row in told.to_dict("records"):
        point = names[row["criterion"]].guidelines
        others = [g for name, c in names.items() if name != row["criterion"] for g in c.guidelines]
        if any(other in row["answer"] for other in others):
            assert any(own in row["answer"] for own in point)
    assert texts.frame["rating"].between(1, 5).all()
    assert texts.stories.loc[("user_study", "8"), "system"] == "Human"
    assert texts.frame["story_prompt"].iloc[0].startswith("Everyone has a reaper")


def test_the_criterion_is_told_by_quotation_then_by_name_and_else_not_at_all() -> None:
    one = Criterion("Relevance", "RE", "", guidelines=("The story roughly matches the prompt.",))
    two = Criterion("Surprise", "SU", "", guidelines=("The ending surprised you very much indeed.",))
    assert quoted_criterion("3 - The story roughly matches the prompt, a surprise.", (one, two)) is one
    assert quoted_criterion("The ending surprised me very much indeed", (one, two)) is two
    assert quoted_criterion("I give it a 2 on Surprise.", (one, two)) is two
    assert quoted_criterion("Relevance and surprise are both fine.", (one, two)) is None
    assert quoted_criterion("A good read.", (one, two)) is None


def test_a_file_with_a_header_alone_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bare.csv").write_text("text,criterion\n")
    with pytest.raises(DataError, match="the table has no rows"):
        read_texts(tmp_path / "bare.csv")


def test_a_journal_is_read_once_at_one_moment(demo_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratings, whole answers, stories and what templates ask for come of one reading."""
    opened: list[Path] = []
    open_ = JournalReader.__init__

    def counted(self: JournalReader, path: Path) -> None:
        opened.append(path)
        open_(self, path)

    monkeypatch.setattr(JournalReader, "__init__", counted)
    texts = read_texts([str(demo_run)])
    assert len(opened) == len(set(opened)) == len(texts.facts)
    assert texts.frame.loc[texts.frame["text"].notna(), "answer"].notna().all()
