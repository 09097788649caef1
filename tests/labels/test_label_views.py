"""Where a single rating is shown to people it is the label's word, never its code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest

from judge.analysis import disagreement_tables
from judge.analysis import distributions as distribution_tables
from judge.analysis.disagreements import disagreements
from judge.analysis.distributions import distributions
from judge.base.files import shipped
from judge.base.records import Criterion, Rating, Scale, Story
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.explanations.audit.answer_matrix import _level
from judge.explanations.audit.items import Facts, Subject
from judge.explanations.audit.label_studio import _data
from judge.explanations.audit.store import AuditStore
from judge.questions.charts import distributions as chart
from judge.questions.figures.distributions import draw
from judge.ratings.ratings_table import RatingsTable, read
from judge.show.pages import charts
from judge.show.web.access import Access
from judge.show.web.audit_annotators import annotation_task
from judge.show.web.view.app import view_app
from judge.show.web.view.story import people_of
from tests.web.conftest import serving
from tests.web.view_runs import define, finish, start, stories

PLOT = Criterion("Plot", "P", "Does it have a plot?", Scale.of_labels(["No", "Yes"]), ("It has none.", "It has one."))
GRADE = Criterion("Grade", "G", "How good is it?", Scale.of_labels(["bad", "fair", "good"]))
KIND = Criterion("Kind", "K", "Which kind is it?", Scale.of_labels(["tale", "poem", "joke"], ordered=False))


@pytest.fixture
def table(tmp_path: Path) -> RatingsTable:
    """Twelve stories rated by two people and a judge on two ordered criteria and one without an order."""
    rows: list[dict[str, Any]] = []
    for i in range(12):
        for criterion, step in ((PLOT, 1), (GRADE, 2), (KIND, 1)):
            labels = criterion.scale.labels
            for who, k in (({"rater": "ann"}, 0), ({"rater": "bob"}, 1), ({"judge": "j"}, step)):
                said = labels[(i + k * (i % 3)) % len(labels)]
                rows.append({"story": f"s{i}", "system": "m", "criterion": criterion.name, **who, "rating": said})
    file = tmp_path / "r.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    write_folder(tmp_path / "run", read_ratings(file, criteria=[PLOT, GRADE, KIND]))
    return read([tmp_path / "run"])


def test_disagreements_print_words_and_means_of_several_as_numbers(table: RatingsTable) -> None:
    found = disagreements(table)
    listed, *cards = disagreement_tables.tables(found)
    words = {*PLOT.scale.labels, *GRADE.scale.labels}
    assert {row["ratings"] for row in listed.rows} <= words
    assert all(re.fullmatch(r"[\d.]+ \((\w+) (\w+)\)|\w+ \(\w+ \w+\)", str(row["people"])) for row in listed.rows)
    assert any(f"{word} (ann)" in str(row["text"]) for card in cards for row in card.rows for word in words)


def test_shares_of_labels_are_named_by_words_and_have_no_mean_without_an_order(table: RatingsTable) -> None:
    (found,) = distributions(table)
    rows = {(one.judge, one.criterion): one for row in found.rows for one in row}
    assert rows["j", "Grade"].names == ("bad", "fair", "good")
    assert rows["j", "Grade"].mean is not None
    assert rows["j", "Kind"].mean is None
    assert sum(rows["people", "Kind"].counts) == 24
    printed = distribution_tables.table(found)
    assert {"No %", "Yes %", "bad %", "tale %"} <= {column.title for column in printed.columns}


def test_pictures_of_shares_name_labels(table: RatingsTable) -> None:
    (found,) = distributions(table)
    picture = chart.distributions(found)
    assert "0 No; 1 Yes" in picture.caption
    assert "Grade: fair in" in picture.tip(1, picture.criteria.index("Grade"), 1)
    svg = str(charts.distributions(picture, "shares"))
    assert ">No</text>" in svg
    figure = draw(picture, 7.0)
    ticks = {label.get_text() for axes in figure.axes for label in axes.get_xticklabels()}
    assert {"No", "Yes"} <= ticks


def test_more_labels_than_points_of_a_scale_are_never_counted_together(tmp_path: Path) -> None:
    many = Criterion(
        "Many", "M", "", Scale.of_labels([f"kind {letter}" for letter in "abcdefghijklmnop"], ordered=False)
    )
    rows = [
        {"story": f"s{i}", "criterion": "Many", "rater": "ann", "rating": label}
        for i, label in enumerate(many.scale.labels)
    ]
    file = tmp_path / "r.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    write_folder(tmp_path / "run", read_ratings(file, criteria=[many]))
    (found,) = distributions(read([tmp_path / "run"]))
    assert found.rows[0][0].names == many.scale.labels
    assert set(found.rows[0][0].counts) == {1}


def _subject(criterion: Criterion) -> Subject:
    facts = Facts(judge="j", eval_prompt="ep1", rating=1.0)
    return Subject("It has one.", "s", "d", "m", "A prompt", "A text.", None, criterion, facts)


def test_audits_show_and_group_ratings_by_their_labels(tmp_path: Path) -> None:
    numbers = Criterion("Style", "S", "")
    store = AuditStore.create(tmp_path / "audit.sqlite", [_subject(PLOT), _subject(numbers)])
    with store:
        task = annotation_task(store, "ann")
        items = store.items()
    by_criterion = {task["criteria"][one["criterion"]]["name"]: one for one in task["items"]}
    assert by_criterion["Plot"]["rating"] == "Yes"
    assert ("Rating", "Yes") in by_criterion["Plot"]["facts"]
    assert task["criteria"][by_criterion["Plot"]["criterion"]]["points"] == [
        ("No", "It has none."),
        ("Yes", "It has one."),
    ]
    assert by_criterion["Style"]["rating"] == 1.0
    assert ("Rating", "1") in by_criterion["Style"]["facts"]
    plot = next(one for one in items if one.subject.criterion == PLOT)
    assert _level(plot, "rating") == "Yes"
    assert _data(plot, ())["guidelines"] == "No: It has none.\nYes: It has one."
    assert "rating: Yes" in _data(plot, ())["facts"]


def test_people_on_another_scale_than_the_judge_are_shown_by_numbers() -> None:
    story = Story("s", "", "m", "text", None, (Rating("Plot", 1, "ann"), Rating("Plot", 4, "bob")))
    rated = people_of(story, ["Plot"], {"Plot": PLOT.scale})["Plot"]
    assert rated.scale.label_of(1) is None
    assert rated.mean == 2.5
    story = Story("s", "", "m", "text", None, (Rating("Kind", 2, "ann"), Rating("Kind", 1, "bob")))
    rated = people_of(story, ["Kind"], {"Kind": KIND.scale})["Kind"]
    assert [rated.scale.label_of(value) for _, value in rated.ratings] == ["joke", "poem"]
    assert rated.mean is None


def test_pages_of_a_run_show_labels(tmp_path: Path) -> None:
    prompt = str(shipped("prompts") / "eval_prompts" / "labels" / "ep1.jinja")
    run = define(tmp_path, "labelled", criteria={"set": "./set.yaml"}, eval_prompts=[prompt], repeats=1)
    (run / "set.yaml").write_text(
        "name: set\ncriteria:\n- {name: Plot, abbreviation: P, definition: A plot?, scale: {labels: [No, Yes]}}\n"
        "- {name: Kind, abbreviation: K, definition: Which?, scale: {labels: [tale, poem, joke], ordered: false}}\n",
        encoding="utf-8",
    )
    lines = []
    for number, story in enumerate(stories()):
        ratings = [
            {"rater": rater, "criterion": name, "value": word}
            for name, words in (("Plot", ("Yes", "no")), ("Kind", ("poem", "JOKE")))
            for rater, word in zip(("ann", "bob"), words, strict=True)
        ]
        lines.append(orjson.dumps(story | {"id": f"s{number}", "ratings": ratings}))
    (run / "stories.jsonl").write_bytes(b"\n".join(lines))
    (run / "script.jsonl").write_bytes(b'{"text": "Yes"}\n')
    finish(start(run, "--judge", "scripted/script.jsonl"))
    with serving(lambda access: view_app(tmp_path, access), Access()) as server:
        status, _, text = server.ask("/run/labelled/story?story=s0")
    assert status == 200
    shown = re.findall(r'<td class="people">.*?</td>', text, flags=re.S)
    assert [re.findall(r">([\w.]+)</span>", cell) for cell in shown[:2]] == [["Yes", "No", "0.5"], ["poem", "joke"]]
    frame = read([run]).frame
    people = frame[frame["source"] == "rater"]
    assert people.groupby("criterion")["label"].agg(set).to_dict() == {"Plot": {"Yes", "No"}, "Kind": {"poem", "joke"}}
