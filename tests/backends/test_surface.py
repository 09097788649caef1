"""The control judge as a back-end: what it answers, how it explains itself, when repeats differ."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from judge.backends import Settings, open_backend
from judge.backends.surface import SurfaceBackend, explain, model_card
from judge.backends.surface.model import POINTS, distribution, expected, prompt_mark, read_card, shipped_model
from judge.base.errors import BackendError, DataError, SpecError
from judge.base.printing.tables import FORMATS, render
from judge.base.records import Criterion, Generation, Message, Query, Response, Scale, Story

TEXT = (
    "The lamp went out at nine. Mara waited on the stairs and counted to forty. Nobody came, so she lit it herself. "
    "In the morning there were two cups on the table, and one of them was warm. She asked her brother about it, but he "
    "only laughed and told her that the sea does not keep promises. That evening she left the door open on purpose."
)


@pytest.fixture
def backend() -> SurfaceBackend:
    return SurfaceBackend(read_card(shipped_model()))


def query(
    text: str = TEXT,
    criterion: str = "Coherence",
    *,
    scale: Scale | None = None,
    temperature: float | None = None,
    explained: bool = False,
) -> Query:
    return Query(
        key="b2:00",
        story=Story(id="s1", story_prompt="A lamp goes out.", system="Human", text=text),
        criterion=Criterion(criterion, criterion[:2].upper(), "how well it goes", scale or Scale()),
        eval_prompt="ep2" if explained else "ep1",
        messages=(Message("user", "Rate it."),),
        generation=Generation(temperature=temperature, seed=7),
        asks_explanation=explained,
    )


def ask(backend: SurfaceBackend, asked: Query, repeats: Sequence[int] = (0,)) -> list[Response]:
    return asyncio.run(backend.complete(asked, repeats))


def number(response: Response) -> float:
    found = re.fullmatch(r"Rating: (\d+(?:\.\d+)?)", response.text.split("\n")[0])
    assert found, response.text
    return float(found[1])


def test_is_the_judge_called_surface() -> None:
    opened = open_backend("surface", Settings())
    assert isinstance(opened, SurfaceBackend)
    facts = asyncio.run(opened.probe())
    assert facts["label"] == "control, not a language model"
    assert facts["data"][0]["file"] == "hanna_metric_scores_llm.csv"


def test_rating_is_the_expected_value_to_one_decimal(backend: SurfaceBackend) -> None:
    asked = query()
    verdict = backend.rate(asked.story, "Coherence")
    (response,) = ask(backend, asked)
    assert sum(verdict.probabilities) == pytest.approx(1)
    assert number(response) == round(expected(verdict.probabilities), 1)
    assert response.finish_reason == "stop"
    assert response.model is not None
    assert "not a language model" in response.model


def test_ignores_the_wording_but_not_the_story(backend: SurfaceBackend) -> None:
    asked = query()
    reworded = replace(asked, key="b2:01", messages=(Message("user", "Give it a 5, please."),), eval_prompt="ep3")
    assert ask(backend, reworded)[0].text == ask(backend, asked)[0].text
    looped = query(" ".join([TEXT[: TEXT.index(".") + 1]] * 30), criterion="Complexity")
    assert number(ask(backend, looped)[0]) < number(ask(backend, query(criterion="Complexity"))[0])


def test_repeats_are_equal_unless_draws_are_asked_for(backend: SurfaceBackend) -> None:
    for temperature in (None, 0.0, 0.7):
        answers = ask(backend, query(temperature=temperature), range(6))
        assert len(answers) == 6
        assert len({answer.text for answer in answers}) == 1


def test_draws_follow_the_distribution_and_can_be_repeated(backend: SurfaceBackend) -> None:
    asked = query(temperature=1.0)
    drawn = [number(answer) for answer in ask(backend, asked, range(2000))]
    probabilities = backend.rate(asked.story, "Coherence").probabilities
    for point, probability in zip(POINTS, probabilities, strict=True):
        assert drawn.count(point) / len(drawn) == pytest.approx(probability, abs=0.04)
    assert number(ask(backend, asked, [17])[0]) == drawn[17]
    other = replace(asked, generation=Generation(temperature=1.0, seed=8))
    assert [number(answer) for answer in ask(backend, other, range(50))] != drawn[:50]


def test_explains_itself_only_where_asked_and_names_what_moved_it(backend: SurfaceBackend) -> None:
    assert "\n" not in ask(backend, query())[0].text
    text = ask(backend, query(explained=True, criterion="Complexity"))[0].text
    rating, explanation = text.split("\n\nExplanation: ")
    assert re.fullmatch(r"Rating: \d(\.\d)?", rating)
    assert explanation.startswith("Control, not a language model")
    assert re.search(r"shorter than usual \(\d+ tokens, -\d\.\d\d\)", explanation)


def test_every_feature_of_every_model_has_words(backend: SurfaceBackend) -> None:
    for model in read_card(shipped_model()).models:
        for term in model.terms:
            features = {term.feature: term.mean}
            said = explain(model, model.criterion, features, {term.feature: 0.5}, {term.feature: True})
            assert "+0.50)" in said


def test_other_criteria_use_the_overall_model_and_say_so(backend: SurfaceBackend) -> None:
    humor = ask(backend, query(criterion="Humor", explained=True))[0].text
    overall = ask(backend, query(criterion="overall", explained=True))[0].text
    assert humor == f"{overall} No model was fitted for Humor, so the one for overall quality was used."


def test_overall_model_is_chosen_by_length(backend: SurfaceBackend) -> None:
    card = read_card(shipped_model())
    assert card.choose("Overall", 40).data == "mans_roc"
    assert card.choose("Overall", 240).data == "mans_wp"
    assert card.choose(" EMPATHY", 40).name == card.choose("empathy", 4000).name == "empathy"


@pytest.mark.parametrize(
    ("scale", "factor"), [(Scale(0, 100, 10), 25), (Scale(1, 10), 2.25), (Scale(0, 1, 0.25), 0.25)]
)
def test_other_scales_are_mapped_linearly(backend: SurfaceBackend, scale: Scale, factor: float) -> None:
    value = backend.rate(query().story, "Coherence").rating
    mapped = ask(backend, query(scale=scale, explained=True))[0]
    assert number(mapped) == pytest.approx(scale.min + (value - 1) * factor, abs=0.051)
    assert f"mapped linearly onto {scale.min:g}-{scale.max:g}" in mapped.text


def test_structured_answers(backend: SurfaceBackend) -> None:
    rating = number(ask(backend, query())[0])
    asked = query(explained=True)
    assert ask(backend, replace(asked, structured="choice"))[0].text == f"{round(rating)}"
    content = json.loads(ask(backend, replace(asked, structured="json"))[0].text)
    assert content["rating"] == rating
    assert content["explanation"].startswith("Control, not a language model")


def test_says_what_it_cannot_do(backend: SurfaceBackend, tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no words") as wordless:
        ask(backend, query(" \n "))
    assert not wordless.value.retryable
    with pytest.raises(BackendError, match="log-probabilities"):
        ask(backend, replace(query(), scoring="logprobs"))
    with pytest.raises(SpecError, match="no model 'large'"):
        open_backend("surface/large", Settings())
    with pytest.raises(DataError, match="no such model file"):
        open_backend(f"surface/{tmp_path / 'none.json'}", Settings())
    (tmp_path / "other.json").write_text('{"a": 1}')
    with pytest.raises(DataError, match="not a model file"):
        open_backend(f"surface/{tmp_path / 'other.json'}", Settings())


def test_distribution_is_centred_and_stays_on_the_scale() -> None:
    assert expected(distribution(3.0, 0.6)) == pytest.approx(3.0)
    assert 1 <= expected(distribution(-5.0, 0.6)) < 1.01
    ratings = [expected(distribution(centre / 10, 0.6)) for centre in range(10, 51)]
    assert ratings == sorted(ratings)


def test_prompt_marks_see_through_spacing_and_case() -> None:
    assert prompt_mark("A lamp goes out .") == prompt_mark("a LAMP goes\nout.") != prompt_mark("A lamp goes on.")


@pytest.mark.parametrize("form", FORMATS)
def test_model_card_prints_in_every_format(form: str) -> None:
    agreement, weights = (render(table, form) for table in model_card())
    # A CSV file holds rows alone, without the note that says so.
    assert form == "csv" or "control, not a language model" in agreement
    assert "relevance" in agreement
    assert "repetition-3" in weights


def test_rates_without_numpy() -> None:
    code = (
        "import sys; from judge.backends import Settings, open_backend; open_backend('surface', Settings());"
        "print({'numpy', 'pandas', 'scipy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
