"""All numbers together: from the command line, signed, and none an option can move in silence."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.asking.run_folder import resolve
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import Table, render
from judge.cli.main import main
from judge.explanations.corpus.corpus import ExplanationTexts, stories_of
from judge.explanations.corpus.reading import read_texts
from judge.explanations.mapping import stored_map as stored
from judge.explanations.options import EXEMPT, FRAGMENTS, NumbersOptions, fragments
from judge.explanations.quality import quoted_evidence as readings
from judge.explanations.quality.error_flags import RULES
from judge.explanations.quality.guideline_point import guideline_texts
from judge.explanations.quality.measures import Numbers, numbers, tables
from judge.inputs.criteria import load_criteria
from judge.inputs.embedding import embed
from tests.explanations import planted

pytest.importorskip("sklearn")
TITLES = (
    "Presence: is there an explanation?",
    "Specificity: can the criterion be recognised from the text?",
    "Criteria that the classifier confuses",
    "Stability: are the reasons the same in each repeat?",
    "Agreement of text and rating: the rating predicted from the explanation alone",
    "Texts whose rating differs most from the predicted rating",
    "Nearest guideline, compared with the rating given",
    "Substance: does the text refer to this story?",
    "Texts flagged by rules, for reading",
)
OTHER = {
    "seed": 5,
    "sample": 100,
    "neighbours": 3,
    "folds": 3,
    "permutations": 29,
    "refits": 20,
    "components": 3,
    "resamples": 50,
    "words": 2,
    "stories_share": 0.4,
    "top": 1,
}
QUICK = NumbersOptions(permutations=19, refits=19, resamples=60, folds=2)


@pytest.fixture(scope="module")
def texts() -> ExplanationTexts:
    criteria = load_criteria("hanna").pick("Relevance,Coherence")
    rng = np.random.default_rng(1)
    words = [f"word{n}" for n in range(25)]

    def said(at: planted.At) -> str:
        about = at.criterion if at.story % 3 else "It"
        return f"{about} has {' '.join(rng.choice(words, 6))}, I liked part {at.story % 5} of it"

    frame = planted.frame(said, stories=24, criteria=("Relevance", "Coherence"))
    stories = stories_of([("toy", f"s{n}", "", None, "word1 word2", None) for n in range(24)])
    return ExplanationTexts(frame, stories, criteria, (), ())


def measured(texts: ExplanationTexts, options: NumbersOptions) -> Numbers:
    rows = texts.with_text.reset_index(drop=True)
    vectors = embed([*rows["text"], *guideline_texts(texts.criteria)], None).vectors
    return numbers(
        texts, rows, vectors[: len(rows)], vectors[len(rows) :], options, lambda *parts: "|".join(("base", *parts))
    )


def of(texts: ExplanationTexts, options: NumbersOptions) -> dict[str, Table]:
    return {table.title: table for table in tables(measured(texts, options))}


@pytest.fixture(scope="module")
def quick(texts: ExplanationTexts) -> Numbers:
    return measured(texts, QUICK)


@pytest.fixture(scope="module")
def made(quick: Numbers) -> dict[str, Table]:
    return {table.title: table for table in tables(quick)}


def test_what_an_option_moves_shows_in_that_tables_signature(texts: ExplanationTexts, made: dict[str, Table]) -> None:
    """The other way round too: a table whose numbers move with an option has it in its signature."""
    before = made
    assert tuple(before) == TITLES
    moved = set()
    for name, other in OTHER.items():
        after = of(texts, dataclasses.replace(QUICK, **{name: other}))
        for title, table in before.items():
            same = [render(one, "json").split('"rows"')[1].split('"notes"')[0] for one in (table, after[title])]
            if same[0] != same[1] and name != "top":
                moved.add(name)
                assert table.signature != after[title].signature, (name, title)
    assert moved == set(OTHER) - {"top"}


def test_each_table_names_its_intervals_and_the_tail_of_its_p_values(made: dict[str, Table]) -> None:
    for title, table in made.items():
        rows = json.loads(render(table, "json"))["rows"]
        interval = any(row.get(key) is not None for row in rows for key in row if key.endswith("_low"))
        assert ("ci:" in table.signature) == interval, title
        if any(column.p for column in table.columns):
            assert {row["tail"] for row in rows} == {"greater"}
            assert "one-sided, greater" in render(table, "table")
    assert any(column.p for column in made[TITLES[1]].columns)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(NumbersOptions)])
def test_every_option_has_a_fragment_or_is_exempt(name: str) -> None:
    assert (name in FRAGMENTS) != (name in EXEMPT)
    changed = dataclasses.replace(NumbersOptions(), **{name: OTHER[name]})
    assert (fragments(changed) == fragments(NumbersOptions())) == (name in EXEMPT)


@pytest.mark.parametrize(
    "wrong", [{"sample": 3}, {"folds": 1}, {"permutations": 0}, {"refits": 5}, {"stories_share": 1.0}, {"words": 1}]
)
def test_options_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=next(iter(wrong))):
        NumbersOptions(**wrong)


def test_every_measure_is_a_typed_value_of_which_frame_and_table_are_made(quick: Numbers) -> None:
    found = quick
    every = [getattr(found, field.name) for field in dataclasses.fields(found) if field.name != "options"]
    shown = {title: table.rows for title, table in zip(TITLES, tables(found), strict=True)}
    assert len(every) == len(TITLES)
    for one, (title, rows) in zip(every, shown.items(), strict=True):
        frame = one.frame
        assert frame.attrs["signature"] == one.signature
        assert all(dataclasses.is_dataclass(row.result) for row in one.rows)
        for row, flat in zip(rows, frame.to_dict("records"), strict=False):
            for key, cell in row.items():
                if isinstance(cell, Estimate):
                    assert flat[key] == cell.value or (cell.value is None and pd.isna(flat[key])), (title, key)
    assert {"rho", "rho_low", "rho_high", "rho_reason", "texts"} <= set(found.agreement.frame.columns)
    assert set(RULES) <= set(found.flags.frame.columns)


def test_each_text_is_read_once_and_the_same_seed_gives_the_same_tables(
    texts: ExplanationTexts, made: dict[str, Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    quoted = readings.quoting
    monkeypatch.setattr(readings, "quoting", lambda text: read.append(text) or quoted(text))
    again = of(texts, QUICK)
    assert sorted(read) == sorted(set(texts.with_text["text"]))
    assert [render(table, "json") for table in again.values()] == [render(table, "json") for table in made.values()]


def test_tables_without_a_row_are_left_out_and_named(studies: Path) -> None:
    comments = read_texts(studies / "storyer" / "train_rate_reason_data_small.json")
    found = of(comments, QUICK)
    assert "Nearest guideline, compared with the rating given" not in found
    (note,) = (note for note in found[TITLES[0]].notes if note.startswith("no values for: "))
    assert "Nearest guideline" in note


def test_a_run_prints_and_stores_them_without_its_texts(
    capsys: pytest.CaptureFixture[str], demo_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path))
    words = (
        "--layout",
        "clusters",
        "--model",
        "tfidf",
        "--map",
        "none",
        "--quiet",
        "--format",
        "json",
        "--set",
        "refits=19",
    )
    with pytest.raises(SystemExit) as ended:
        main(["explain", str(demo_run), *words])
    assert not ended.value.code
    found = {table["title"]: table for table in json.loads(capsys.readouterr().out)}
    assert set(TITLES) <= set(found)
    assert "refit:19" in found[TITLES[1]]["signature"]
    presence = {(row["eval_prompt"], row["criterion"]): row for row in found[TITLES[0]]["rows"]}
    assert presence["ep1", "Empathy"]["ours"] == 1.0
    assert presence["ep2", "Empathy"]["ours"] == 0.0
    (stability,) = (row for row in found[TITLES[3]]["rows"] if row["criterion"] == "Empathy")
    assert stability["within"] > 0.99  # the control judge says the same thing three times
    assert all("text" in row for row in found[TITLES[5]]["rows"])
    (folder,) = resolve([demo_run])
    kept = stored.read(folder)
    assert kept is not None
    (listed,) = (table for table in kept.tables if table["title"] == TITLES[5])
    assert listed["rows"]
    assert not any("text" in row for row in listed["rows"])
