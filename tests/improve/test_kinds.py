"""Winners that are not one Eval-Prompt in the original's place: more repeats, sub-scores, another scale; and which
Eval-Prompts are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml

import judge
from judge.base.errors import SpecError
from judge.base.records import Scale
from judge.lab.improve.answers import Answers, Asked
from judge.lab.improve.material import AGAIN, MORE, ORIGINAL, Proposal
from judge.lab.improve.result import Improvement
from judge.lab.improve.sentences import sentences
from judge.stats.regression.ridge import shrunk_weights
from tests.improve.simulated import SimulatedJudge, lines, run_of, stories
from tests.server.meter import serving


def improved(
    folder: Path, monkeypatch: pytest.MonkeyPatch, skill: Callable[[str], float], noise: float, **choices: object
) -> tuple[Improvement, judge.OpenedRun | None]:
    """A run of 20 story-prompts x 4 systems, improved by a judge of this skill and noise, which is paid for, and a run
    of what was delivered."""
    monkeypatch.setenv("JUDGE_HOME", str(folder / "home"))
    (folder / "home").mkdir()
    (folder / "home" / "prices.yaml").write_text("openai/mock: {input: 1, output: 1}\n", encoding="utf-8")
    made, qualities = stories(20, 4)
    with serving(SimulatedJudge(qualities, skill, noise=noise)) as server:
        definition = run_of(folder / "r", server.url, made, repeats=1)
        judge.run(definition)
        found = judge.open_run(definition).improve(test_repeats=2, budget=100.0, **choices).value
        return found, judge.run(found.definition) if found.definition else None


def _judged(folder: Path) -> dict[str, int]:
    table = judge.open_run(folder).ratings()
    return dict(table[table["source"] == "judge"].groupby("eval_prompt").size())


def _times_as_dear(found: Improvement) -> float:
    assert found.price is not None
    assert found.price.original is not None
    assert found.price.winner is not None
    return found.price.winner / found.price.original


def test_more_repeats_win_where_noise_alone_stands_between(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def skill(prompt: str) -> float:
        return 0.95 if prompt.startswith("Story prompt") and "Rating:" in prompt[-8:] and "reasons" not in prompt else 0

    found, ran = improved(tmp_path, monkeypatch, skill, 1.6, writer="none", candidates=3)
    assert found.winners == (MORE, MORE)
    assert found.verdict is not None
    assert found.verdict.gain.estimate == found.verdict.doubled.estimate
    said = dict(sentences(found))
    assert "4 repeats of ep1 in place of 2 improve on it" in said["verdict"].lower()
    assert said["wording"].startswith("MORE THAN REWORDING: NOT ASKED.")
    # Every asking has the same repeats, and no other prompt is asked on test.
    for label in ("a-", "b-"):
        first, again = (_judged(found.folder / f"{label}test{end}") for end in ("", "-again"))
        assert set(first) == set(again) == {ORIGINAL}
        assert first == again
    assert found.definition is not None
    assert yaml.safe_load(found.definition.read_text(encoding="utf-8"))["repeats"] == 4
    assert ran is not None
    assert set(ran.ratings().query("source == 'judge'")["eval_prompt"]) == {"ep1-more-repeats"}
    assert _times_as_dear(found) == pytest.approx(2)


def test_sub_scores_win_and_are_delivered_with_their_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def skill(prompt: str) -> float:
        return 0.97 if "Is it whole?" in prompt and "one question alone" in prompt else 0.05

    found, ran = improved(tmp_path, monkeypatch, skill, 0.3, candidates=10)
    assert found.word == "improved"
    assert set(found.winners) <= {"checklist-weighted", "checklist-mean"}
    assert found.delivered == "checklist-weighted"
    assert found.weights is not None
    ((first, *rest),) = found.weights["checklist-weighted"]
    assert first > max(rest)
    assert sum([first, *rest]) == pytest.approx(1, abs=0.002)
    assert ran is not None
    assert found.definition is not None
    assert ran.ratings().query("source == 'judge'")["eval_prompt"].nunique() == 3
    assert yaml.safe_load((found.definition.parent / "weights.yaml").read_text(encoding="utf-8")) == {
        "Coherence": [first, *rest]
    }
    assert "weights.yaml" in dict(sentences(found))["files"]
    assert 3 < _times_as_dear(found) < 6
    # Three questions with two repeats each are six answers to one rating.
    assert found.verdict is not None
    for repeats, dear in ((5.0, True), (7.0, False)):
        said = dict(sentences(replace(found, verdict=replace(found.verdict, repeats=repeats))))["repeats"]
        assert f"About {repeats:.0f} in place of 2" in said
        assert ("it takes 6 answers: nothing is gained at equal cost" in said) is dear
    train = {story for group in found.split.train for story in group}
    asked = {story["id"] for story in lines(found.folder / "train" / "stories.jsonl")}
    assert asked == train


def test_another_scale_is_mapped_and_delivered_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def skill(prompt: str) -> float:
        return 0.97 if "from 1 to 10" in prompt and "Think it through" not in prompt else 0.05

    found, ran = improved(tmp_path, monkeypatch, skill, 0.3, writer="none", candidates=5)
    assert found.word == "improved"
    assert found.winners == ("scale-10", "scale-10")
    assert found.verdict is not None
    mean = next(each for each in found.verdict.moved if each.trait.startswith("mean rating"))
    assert mean.original is not None
    assert mean.winner is not None
    assert abs(mean.winner - mean.original) < 0.4  # as given, a mean on 1 to 10 would lie 2.5 points higher
    assert ran is not None
    given = ran.ratings()
    assert set(given["source"]) == {"judge"}
    assert given["rating"].max() > 5
    assert "people's are not in its stories" in dict(sentences(found))["files"]


def test_a_prompt_that_shows_a_reference_is_improved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_HOME", str(tmp_path / "home"))
    made, qualities = stories(20, 3)
    made = [replace(story, reference="A person wrote this.") for story in made]
    with serving(SimulatedJudge(qualities, lambda _: 0.5)) as server:
        definition = run_of(tmp_path / "r", server.url, made, repeats=1, prompts=("ep4",))
        judge.run(definition)
        found = judge.open_run(definition).improve(writer="none", candidates=2, test_repeats=1).value
        asked = [prompt for prompt in server.prompts if "Story to judge" in prompt]
    assert found.races
    assert len(asked) == len(server.prompts)
    assert all("A person wrote this." in prompt for prompt in asked)


@pytest.mark.parametrize(
    ("changes", "why", "mends"),
    [
        ({"eval_prompts": ["joint1"]}, "rates several criteria in one answer", "rates one criterion an answer"),
        ({"criteria": "labels.yaml", "eval_prompts": ["ep1"]}, "rated by labels", "numeric scale"),
        (
            {"criteria": {"set": "numbers.yaml", "wording": "study.json"}, "eval_prompts": ["ep1"]},
            "a study's wording as published",
            "without criteria.wording",
        ),
    ],
)
def test_what_cannot_be_improved_is_refused_with_what_to_do(
    changes: dict[str, object], why: str, mends: str, tmp_path: Path
) -> None:
    made, qualities = stories(20, 2)
    made = [replace(s, ratings=tuple(replace(r, value=float(r.value > 2)) for r in s.ratings)) for s in made]
    entry = "criteria:\n- {name: Coherence, abbreviation: CO, definition: whole}\n"
    study: dict[str, object] = {
        "definitions": {"Coherence": "whole"},
        "tasks_EP1": {"Coherence": ["Rate from 0 to 1."]},
    }
    study["template_EP1"] = "{prompt} {story} {task}"
    (tmp_path / "labels.yaml").write_text(f"name: l\nscale: {{labels: [a, b]}}\n{entry}", encoding="utf-8")
    (tmp_path / "numbers.yaml").write_text(f"name: n\nscale: {{min: 0, max: 1}}\n{entry}", encoding="utf-8")
    (tmp_path / "study.json").write_text(json.dumps(study), encoding="utf-8")
    with serving(SimulatedJudge(qualities, lambda _: 0.5)) as server:
        definition = run_of(tmp_path, server.url, made, repeats=1)
        data = yaml.safe_load(definition.read_text(encoding="utf-8")) | changes
        definition.write_text(yaml.safe_dump(data), encoding="utf-8")
        ran = judge.run(definition)
        with pytest.raises(SpecError, match=why) as refused:
            ran.improve()
    assert mends in str(refused.value.hint)


# Combining and mapping, by hand.


def answers(**rows: list[float]) -> Answers:
    by = {name: Asked(np.array([values]), np.full((1, 3), 2), np.full((1, 3), 2)) for name, values in rows.items()}
    places = np.arange(3)
    return Answers(("Coherence",), ("a", "b", "c"), np.array([[1.0, 2, 3]]), by, places, places, ("x",), places * 1.0)


def test_combined_ratings_are_means_and_count_every_repeat() -> None:
    told = answers(**{ORIGINAL: [1, 2, np.nan], AGAIN: [2, 4, 5]})
    mean = told.combined(Proposal(MORE, "repeats", "", ""))
    assert mean.ratings(MORE).tolist()[0][:2] == [1.5, 3.0]
    assert np.isnan(mean.ratings(MORE)[0, 2])
    assert mean.by[MORE].asked.tolist() == [[4, 4, 4]]
    parts = Proposal("p", "sub-scores", "", "", {ORIGINAL: "", AGAIN: ""}, weighted=True)
    assert told.combined(parts, np.array([[0.25, 0.75]])).ratings("p").tolist()[0][:2] == [1.75, 3.5]


def test_ends_of_another_scale_are_the_ends_of_ones_own() -> None:
    told = answers(ten=[1, 10, 5.5], hundred=[0, 100, 25])
    own = [Scale(1, 5)]
    assert told.mapped("ten", Scale(1, 10), own).ratings("ten").tolist() == [[1, 5, 3]]
    assert told.mapped("hundred", Scale(0, 100), own).ratings("hundred").tolist() == [[1, 5, 2]]


def test_weights_are_equal_without_evidence_and_follow_it() -> None:
    rng = np.random.default_rng(4)
    quality = rng.normal(size=(400, 3))
    people = quality.sum(axis=1) + rng.normal(0, 0.5, 400)
    assert shrunk_weights(quality, people) == pytest.approx([1 / 3] * 3, abs=0.03)
    one = shrunk_weights(quality, quality[:, 1] + rng.normal(0, 0.5, 400))
    assert one == pytest.approx([0, 1, 0], abs=0.05)
    assert one.min() >= 0
    assert one.sum() == pytest.approx(1)
    # With little data they lie between the two.
    few = np.mean([shrunk_weights(quality[i : i + 12], quality[i : i + 12, 1]) for i in range(0, 396, 12)], axis=0)
    assert 1 / 3 < few[1] < 1
    assert shrunk_weights(quality[:7], people[:7]).tolist() == [1 / 3] * 3
    assert shrunk_weights(quality, -people).tolist() == [1 / 3] * 3
