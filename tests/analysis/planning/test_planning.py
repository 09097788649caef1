"""Plans from a pilot and from shipped figures: typed rows, sentences of the same numbers, reasons for gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from judge.analysis import planning
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.planning.figures import EVERY, FILE, study
from judge.analysis.planning.price_of_validity import Answer, Lever, Planned
from judge.analysis.planning.printed import sentences
from judge.base.errors import OptionError
from judge.base.files import package_file
from judge.base.records import Criterion, Scale
from judge.ratings.ratings_table import RatingsTable
from tests.analysis.conftest import assemble, facts, story_facts
from tests.packaged_data import study_variances
from tests.stats.estimation.clustered_studies import simulate


def pilot(story_prompts: int = 40, *, people: int = 3, seed: int = 3) -> RatingsTable:
    """Two Eval-Prompts of one judge, two repeats each, and known people."""
    study = simulate(np.random.default_rng(seed), story_prompts, people=people, noise=(1.0, 1.4), repeats=2)
    stories, rows = [], []
    for i in range(study.system.size):
        name, prompt, system = f"s{i}", f"p{study.story_prompt[i]}", f"sys{study.system[i]}"
        stories.append((name, prompt, system, 3, "a b c"))
        base = {"run": "r", "judge": "openai/m", "dataset": "toy", "story": name, "story_prompt": prompt}
        base |= {"system": system, "criterion": "Relevance", "status": "ok", "flags": ""}
        for e, own in enumerate(study.judges):
            for r, value in enumerate(own[i]):
                rows.append({**base, "eval_prompt": f"ep{e + 1}", "source": "judge", "repeat": r, "rating": value})
        for p, value in enumerate(study.people[i]):
            rows.append({**base, "run": "r", "judge": None, "source": "rater", "rater": f"person{p}", "rating": value})
    relevance = Criterion("Relevance", "RE", "how well", Scale(1, 5))
    return assemble(rows, story_facts("toy", stories), [facts(criteria=(relevance,), eval_prompts=("ep1", "ep2"))])


@pytest.fixture(scope="module")
def planned() -> Planned:
    return planning.plan(pilot())


def _answer(found: Planned, question: str) -> Answer:
    return next(one for one in found.answers if one.question == question)


def test_every_question_has_a_typed_answer(planned: Planned) -> None:
    assert all(isinstance(one, Answer) for one in planned.answers)
    assert all(isinstance(one, Lever) for one in planned.levers)
    assert all(one.number.value for one in planned.answers)
    half = _answer(planned, "half-width")
    assert half.has == 40
    assert half.number.low is not None
    assert half.number.value is not None
    assert half.number.low < half.number.value < (half.number.high or np.inf)


def test_sentences_tables_and_frame_hold_the_same_numbers(planned: Planned) -> None:
    numbers = {one.question: f"{one.number.value:,} {one.unit}" for one in planned.answers}
    text = " ".join(sentence for _, sentence in sentences(planned))
    assert all(number in text for number in numbers.values())
    first, compact, worth = planning.tables(planned)
    long = planning.tables(planned, long=True)[1]
    assert [row["number"] for row in long.rows] == planned.frame["number"].tolist()
    assert str(compact.rows[0]["half-width"]).startswith(f"{_answer(planned, 'half-width').number.value:,} (")
    assert [row["gain"] for row in worth.rows] == [lever.gain for lever in planned.levers if lever.gain is not None]
    assert first.signature == planned.signature == planned.frame.attrs["signature"]


def test_more_is_asked_for_less_doubt(planned: Planned) -> None:
    wide, narrow = planned, planning.plan(pilot(), PlanOptions(half_width=0.025, difference=0.025))
    for question in ("half-width", "difference"):
        pair = [_answer(one, question).number.value for one in (wide, narrow)]
        assert None not in pair
        assert pair[1] == pytest.approx(4 * (pair[0] or 0), rel=0.15)


def test_a_number_of_what_the_pilot_does_not_vary_is_refused() -> None:
    table = pilot()
    one = table.frame[(table.frame["eval_prompt"] != "ep2")]
    with pytest.raises(OptionError, match="one Eval-Prompt"):
        planning.plan(RatingsTable(one, table.stories, table.facts), PlanOptions(prompts=3))


def test_prices_are_those_of_the_ratings_they_buy() -> None:
    found = planning.plan(pilot(), PlanOptions(rater_price=0.5))
    person = next(one for one in found.levers if one.lever == "person")
    assert person.ratings == 200
    assert person.dollars == pytest.approx(100)
    assert person.gain is not None
    assert person.per_hundredth(person.dollars) == pytest.approx(1 / person.gain)
    judge = next(one for one in found.levers if one.lever == "judge")
    assert (judge.gain, judge.reason) == (None, "there is one judge")


def test_one_person_a_story_tells_nothing_of_people() -> None:
    found = planning.plan(pilot(people=1))
    for question in ("people", "replacement"):
        assert _answer(found, question).number.value is None
        assert _answer(found, question).reason


def test_without_a_pilot_numbers_are_those_of_a_study() -> None:
    found = planning.plan_like()
    every = [one for one in found.answers if one.criterion == EVERY]
    assert len(every) == 6
    assert all(one.number.low <= one.number.value for one in every if one.number.low and one.number.value)  # type: ignore[operator]
    half = next(one for one in every if one.question == "half-width")
    # The released scores have 96 story-prompts, and intervals of about .05: `statistics` of the study.
    assert half.now == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize("name", ["hanna", "mans_roc", "mans_wp"])
def test_every_study_has_its_source_and_ranges(name: str) -> None:
    data = orjson.loads(package_file(*FILE).read_bytes())[name]
    assert data["source"].startswith("own computation from")
    for key, (low, middle, high) in data["ranges"].items():
        known = [one[key] for one in data["figures"] if one[key] is not None]
        assert low <= middle <= high
        assert middle == pytest.approx(float(np.median(known)), abs=1e-3)
    assert study(name).figures  # type: ignore[arg-type]


def test_the_shipped_figures_are_computed_from_the_released_files(studies: Path, tmp_path: Path) -> None:
    made = orjson.loads(study_variances.text(study_variances.studies(studies, tmp_path / "hanna")))
    _assert_close(made, orjson.loads(package_file(*FILE).read_bytes()))


def _assert_close(made: Any, shipped: Any) -> None:
    """Equal but for the last of the four digits that are kept."""
    if isinstance(shipped, dict):
        assert made.keys() == shipped.keys()
        made, shipped = list(made.values()), list(shipped.values())
    if isinstance(shipped, list):
        assert len(made) == len(shipped)
        for one, other in zip(made, shipped, strict=True):
            _assert_close(one, other)
    elif isinstance(shipped, float):
        assert made == pytest.approx(shipped, rel=2e-3, abs=2e-5)
    else:
        assert made == shipped
