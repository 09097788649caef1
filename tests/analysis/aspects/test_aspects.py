"""Recall of chosen aspects and correlations with their ratings: by hand, on StoryER's comments, and as one value."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from judge.analysis import aspects as printed
from judge.analysis.aspects import OTHER_STORIES, PLACES, TABLE_2, AspectRow, Aspects, aspects
from judge.analysis.options.table_options import AspectsOptions
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.tables import flat_row
from judge.cli.main import main
from judge.inputs.criteria import load_criteria
from judge.ratings.ratings_table import read

PEOPLE = {"s1": {"Plot": 5, "Wit": 2}, "s2": {"Plot": 1}, "s3": {"Cast": 4, "Plot": 3}}
"""Aspects that readers chose of Plot, Cast, Wit, Pace, and how they rated them."""

SALIENCE = {
    "s1": {"Plot": 5, "Cast": 4, "Wit": 3, "Pace": 1},  # first: Plot; first three: both
    "s2": {"Plot": 2, "Cast": 2, "Wit": 5, "Pace": 1},  # Plot shares places 2 and 3
    "s3": {"Plot": 4, "Cast": 4, "Wit": 4, "Pace": 5},  # three share places 2 to 4
    "s4": {"Pace": 5},  # of no use: the others' places are not known
}
NO_INTERVALS = AspectsOptions(ci="none")


def _import(tmp_path: Path, judged: dict[str, dict[str, dict[str, float]]]) -> Path:
    """A result folder of imported ratings: suffix of the criterion -> story -> aspect -> rating."""
    stories = [
        {
            "id": name,
            "story_prompt": f"prompt of {name}",
            "system": "Human",
            "text": f"the text of {name}",
            "ratings": [{"rater": None, "criterion": aspect, "value": value} for aspect, value in chosen.items()],
        }
        for name, chosen in PEOPLE.items()
    ]
    data, scores = tmp_path / "stories.jsonl", tmp_path / "scores.jsonl"
    # A reader of another story chose Pace, so that it is one of people's criteria.
    last = {"id": "s4", "story_prompt": "p", "system": "Human", "text": "one more", "ratings": []}
    last["ratings"] = [{"rater": None, "criterion": "Pace", "value": 2}]  # type: ignore[assignment]
    data.write_text("\n".join(json.dumps(story) for story in [*stories, last]), encoding="utf-8")
    rows = [
        {"story": name, "criterion": f"{aspect}{suffix}", "judge": "j", "eval_prompt": "ep1", "rating": value}
        for suffix, of in judged.items()
        for name, values in of.items()
        for aspect, value in values.items()
    ]
    scores.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    folder = tmp_path / "imported"
    with pytest.raises(SystemExit) as stop:
        main(["import", str(scores), "--dataset", str(data), "-o", str(folder)])
    assert not stop.value.code
    return folder


def _of(found: Aspects, judge: str, aspect: str | None = None) -> AspectRow:
    (row,) = [row for row in found.rows if row.judge == judge and row.aspect == aspect]
    return row


def test_recall_by_hand(tmp_path: Path) -> None:
    """Of five chosen aspects of three stories; s4 is lost with its one."""
    found = aspects(read([_import(tmp_path, {" (salience)": SALIENCE})]), NO_INTERVALS)
    row = _of(found, "j")
    assert (row.chosen, row.incomplete) == (6, 1)
    assert row.recall[1].value == pytest.approx((1 + 0 + 0 + 0 + 0) / 5)
    # s1: both; s2: Plot surely; s3: Cast and Plot two thirds each.
    assert row.recall[3].value == pytest.approx((2 + 1 + 4 / 3) / 5)
    assert row.recall[5].reason == "there are 4 aspects"
    assert row.rho.reason is not None
    assert "did not rate these aspects" in row.rho.reason
    plot = _of(found, "j", "Plot")
    assert (plot.chosen, plot.recall[1].value) == (3, pytest.approx(1 / 3))


def test_ratings_of_aspects_are_correlated_where_people_chose(tmp_path: Path) -> None:
    same = {name: {**dict.fromkeys(("Plot", "Cast", "Wit", "Pace"), 1), **chosen} for name, chosen in PEOPLE.items()}
    row = _of(aspects(read([_import(tmp_path, {"": same})]), NO_INTERVALS), "j")
    assert (row.rho.value, row.tau.value, row.rho.n) == (pytest.approx(1), pytest.approx(1), 5)
    assert row.recall[1].reason is not None
    assert "(salience)" in row.recall[1].reason


def test_a_judge_that_finds_the_chosen_aspects_salient_has_them_all(tmp_path: Path) -> None:
    perfect = {
        name: {aspect: 5.0 if aspect in chosen else 1.0 for aspect in ("Plot", "Cast", "Wit", "Pace")}
        for name, chosen in PEOPLE.items()
    }
    row = _of(aspects(read([_import(tmp_path, {" (salience)": perfect})]), NO_INTERVALS), "j")
    assert row.recall[3].value == pytest.approx(1)
    assert row.recall[1].value == pytest.approx((1 + 1 + 1) / 5)


@pytest.fixture(scope="module")
def surface(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path]:
    """The control judge on StoryER's comments, asked for ratings and for salience."""
    folder = tmp_path_factory.mktemp("aspects")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUDGE_DATA", str(studies))
        for name in ("storyer", "storyer_salience"):
            (folder / name).mkdir()
            text = f"name: {name}\ndataset: storyer_reasons\njudge: surface\ncriteria: {name}\neval_prompts: ep1\n"
            (folder / name / "run.yaml").write_text(text, encoding="utf-8")
            with pytest.raises(SystemExit) as stop:
                main(["run", "--quiet", str(folder / name)])
            assert not stop.value.code
    return [folder / name for name in ("storyer", "storyer_salience")]


def test_floors_on_storyers_comments(surface: Sequence[Path]) -> None:
    """Measured once: naming the aspects that other stories' readers chose most gives 19.14, 52.81 and 79.87."""
    found = aspects(read(list(surface)), NO_INTERVALS)
    others, table_2 = _of(found, OTHER_STORIES), _of(found, TABLE_2)
    assert [100 * (others.recall[k].value or 0) for k in PLACES] == pytest.approx([19.14, 52.81, 79.87], abs=0.005)
    assert (table_2.rho.value, table_2.tau.value) == (pytest.approx(0.182, abs=5e-4), pytest.approx(0.145, abs=5e-4))
    assert (others.chosen, others.incomplete) == (303, 0)
    assert others.rho.reason == "the mean of the other stories falls as a story's own rating rises"


def test_a_judge_that_says_the_same_of_every_aspect_has_what_chance_gives(surface: Sequence[Path]) -> None:
    found = aspects(read([surface[1]]), NO_INTERVALS)
    row = _of(found, "surface")
    assert [row.recall[k].value for k in PLACES] == pytest.approx([0.1, 0.3, 0.5])
    assert (row.recall[1].low, row.recall[1].high) == (row.recall[1].value, row.recall[1].value)


def test_ratings_and_salience_are_told_apart(surface: Sequence[Path]) -> None:
    rated = _of(aspects(read([surface[0]]), NO_INTERVALS), "surface")
    assert rated.recall[1].value is None
    assert rated.rho.n == 303
    assert rated.rho.defined


def test_rows_are_typed_and_frame_and_table_are_of_one_value(surface: Sequence[Path]) -> None:
    found = aspects(read(list(surface)), AspectsOptions(resamples=20))
    assert all(isinstance(one, Estimate) for row in found.rows for one in row.numbers().values())
    frame = found.frame
    assert frame.attrs["signature"] == found.signature
    assert len(frame) == len(found.rows)
    overall, single = printed.tables(found)
    shown = [flat_row(row, overall.columns) for row in overall.rows]
    kept = frame[frame["aspect"].isna()].to_dict("records")
    values = [None if row["recall_3"] != row["recall_3"] else row["recall_3"] for row in kept]
    assert [row["recall_3"] for row in shown] == values
    assert len(single.rows) == 2 * 10
    assert "ci:boot-inputs/20/seed1" in found.signature


def test_nobody_chose_anything(make_table: Callable[..., Any]) -> None:
    table = make_table(systems=2, prompts=3)
    judged = table.frame[table.frame["source"] == "judge"]
    with pytest.raises(SpecError, match="nobody chose an aspect"):
        aspects(type(table)(judged, table.stories, table.facts))


def test_people_who_rated_everything_chose_nothing(make_table: Callable[..., Any]) -> None:
    found = aspects(make_table(systems=2, prompts=3), NO_INTERVALS)
    assert {row.recall[1].reason for row in found.rows} == {
        "people rated every aspect of every story: nothing was chosen"
    }


def test_the_salience_set_asks_of_the_ten_aspects() -> None:
    names = [criterion.name for criterion in load_criteria("storyer_salience").criteria]
    assert names == [f"{criterion.name} (salience)" for criterion in load_criteria("storyer").criteria]
