"""`judge measures`: from a dataset to a folder that tables read, what is undefined, and what is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.analysis import correlation as compute
from judge.analysis.options.table_options import CorrelationOptions
from judge.base.errors import SpecError
from judge.base.records import Rating, Story
from judge.cli.main import main
from judge.lab import measures
from judge.lab.measures import Family, Item, Measure, Scored, Tools, Undefined
from judge.lab.measures.session import EMPTY, NO_REFERENCE, OWN_REFERENCE, Cache, measured
from judge.ratings.ratings_table import read

TEXT = "The cat sat on the mat and looked at the moon while the dog slept below the tall old tree in the rain"
WORDS = TEXT.split()


def story(name: str, text: str, reference: str | None, rating: float = 3) -> Story:
    ratings = tuple(Rating("Overall", rating + add, person) for person, add in (("a", 0), ("b", 0.5)))
    return Story(name, "A cat and the moon.", name.partition("-")[2] or "x", text, reference, ratings)


def stories() -> list[Story]:
    made = [
        story(f"{i}-s{i % 3}", " ".join(WORDS[i % 7 :] + WORDS[: i + 2]), " ".join(WORDS), i % 5) for i in range(20)
    ]
    return [
        *made,
        story("own-Human", " ".join(WORDS), " ".join(WORDS)),
        story("empty-x", " ", "A cat."),
        story("none-x", "A cat.", None),
    ]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A dataset of 22 stories: one is its own reference, one has no reference."""
    from judge.inputs.datasets.files.native import write_stories

    path = tmp_path / "cats.jsonl"
    write_stories(path, [one for one in stories() if one.text.strip()])
    return path


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


def test_from_a_dataset_to_a_table_beside_judges(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    asked = ("--measure", "bleu", "--measure", "bleu-hanna", "--measure", "chrf", "--measure", "mattr-25")
    assert run("measures", dataset, *asked, "-o", folder, "--quiet") == 0
    said = capsys.readouterr().out
    assert "4 measures of 22 stories (64 computed, 0 known)" in said
    assert f"1 as {OWN_REFERENCE}" in said
    assert run("measures", dataset, *asked, "-o", folder, "--quiet") == 0
    assert "(0 computed, 64 known)" in capsys.readouterr().out
    table = read([str(folder)])
    rows = table.frame[table.frame["source"] == "judge"].set_index(["judge", "story"])
    assert set(rows.index.get_level_values(0)) == {f"measure/{name}" for name in asked[1::2]}
    assert rows.loc[("measure/bleu", "own-Human"), "status"] == "no_rating"
    assert rows.loc[("measure/bleu", "own-Human"), "explanation"] == f"undefined: {OWN_REFERENCE}"
    assert rows.loc[("measure/bleu-hanna", "own-Human"), "rating"] == pytest.approx(100)
    assert rows.loc[("measure/chrf", "none-x"), "explanation"] == f"undefined: {NO_REFERENCE}"
    assert "a measure, no judge" in " ".join(table.facts[0].notes)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["directions"] == dict.fromkeys((f"measure/{name}" for name in asked[1::2]), 1)
    assert table.facts[0].directions == manifest["directions"]
    assert manifest["asked"]["recipes"]["chrf"].startswith("chrF2")
    assert "sacrebleu" in manifest["asked"]["packages"]


def test_length_is_held_fixed_beside_measures_unless_told_otherwise(dataset: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run("measures", dataset, "--measure", "chrf", "-o", folder, "--quiet") == 0
    table = read([str(folder)])

    def found(**options: Any) -> Any:
        chosen = CorrelationOptions(ci="none", control=False, **options)
        return compute.correlations(table, chosen)

    beside = next(row for row in found().rows if row.subject.judge == "measure/chrf")
    assert beside.given is not None
    assert beside.given.defined
    assert "given:length" in found().signature
    assert found(given="none").given is None
    assert found(level="by-system").given is None


def test_what_a_set_cannot_run_is_said(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("measures", dataset, "--measure", "all", "--limit", "3", "-o", tmp_path / "out", "--quiet") == 0
    assert "mean-log-p, perplexity, least-log-p" in capsys.readouterr().out
    assert run("measures", dataset, "--measure", "perplexity", "--quiet") == 1
    assert "--model lm=PATH (a causal language model)" in capsys.readouterr().err
    assert run("measures", dataset, "--measure", "blue") == 1
    assert "did you mean 'bleu'?" in capsys.readouterr().err
    assert run("measures", dataset, "--model", "bert=x") == 1
    assert "is not NEED=MODEL" in capsys.readouterr().err


def test_each_distinct_item_is_computed_once_and_what_is_kept_is_the_same(tmp_path: Path) -> None:
    wanted = measures.of_set("quick")
    fresh = measured(stories(), wanted)
    kept = measured(stories(), wanted, cache=tmp_path)
    again = measured([*reversed(stories()), *stories()], wanted, cache=tmp_path)
    assert kept.by_measure == fresh.by_measure
    assert again.computed == 0
    assert fresh.by_measure["bleu"][-2] == Undefined(EMPTY)
    for name, values in fresh.by_measure.items():
        assert again.by_measure[name] == [*reversed(values), *values]


def test_measures_have_their_own_names_and_a_recipe_each() -> None:
    found = measures.measures_by_name()
    assert len(found) > 100
    assert all(one.measure.recipe and one.family.source for one in found.values())
    assert {one.measure.name for one in measures.of_set("openmeva")} == {
        "bleu-openmeva",
        "rouge-l-openmeva",
        "meteor-openmeva",
    }
    assert len(measures.of_set("hanna")) == 37
    assert measures.named(["openmeva", "bleu-openmeva"]) == measures.of_set("openmeva")
    with pytest.raises(SpecError, match="measure"):
        measures.named(["best"])


def test_a_third_partys_family_is_asked_like_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def vowels(items: Any, _: Tools) -> list[Scored]:
        return [Scored({"vowels": float(sum(letter in "aeiou" for letter in item.text))}) for item in items]

    family = Family("vowels", "a test", (Measure("vowels", "vowels", 0, "vowels of the text"),), vowels)

    class Entry:
        name, value = "vowels", "elsewhere:FAMILY"

        def load(self) -> object:
            return family

    monkeypatch.setattr(measures, "entry_points", lambda group: [Entry()] if group == "judge.measures" else [])
    measures.families.cache_clear()
    try:
        found = measured(stories()[:2], measures.named(["vowels"]))
        assert found.by_measure["vowels"] == [sum(letter in "aeiou" for letter in one.text) for one in stories()[:2]]
    finally:
        measures.families.cache_clear()


def test_a_number_that_is_none_is_undefined(tmp_path: Path) -> None:
    def endless(items: Any, _: Tools) -> list[Scored]:
        return [Scored({"x": float("inf")}, cut=True) for _item in items]

    family = Family("endless", "a test", (Measure("x", "x", 0, "never ends"),), endless)
    found = measured(stories()[:2], [measures.Known(family, family.measures[0])])
    assert all(isinstance(value, Undefined) for value in found.by_measure["x"])
    assert found.cut == {"x": 2}


def test_the_cache_gives_back_what_it_was_given(tmp_path: Path) -> None:
    one = Scored({"a": 0.1 + 0.2, "b": Undefined("why")}, cut=True)
    with Cache(tmp_path / "kept.sqlite") as cache:
        cache.put("recipe", [("item", one)])
    with Cache(tmp_path / "kept.sqlite") as cache:
        assert cache.get("recipe") == {"item": one}
        assert cache.get("another") == {}


def test_the_list_says_what_each_needs(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("measures", "--format", "json") == 0
    tables = json.loads(capsys.readouterr().out)
    rows = {row["measure"]: row for row in tables[0]["rows"]}
    assert rows["bleu"]["needs"] == "reference"
    assert rows["ter"]["direction"] == "lower is better"
    assert "encoder=PATH" in rows["bertscore-f"]["here"]
    assert any(row["measure"] == "BLEURT, UniEval, StoryER's ranker, GRUEN" for row in tables[1]["rows"])


def test_an_item_knows_no_author_and_no_rating() -> None:
    assert Item.of(stories()[0])._fields == ("text", "reference", "story_prompt")
