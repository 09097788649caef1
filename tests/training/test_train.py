"""Training on pairs and ratings: what the folder holds, what is printed, and that nothing is said in sample."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from judge.asking.execution.session import sit
from judge.backends import Settings, open_backend
from judge.backends.trained.model import read_model
from judge.base.errors import DataError, OptionError, RunFolderError, SpecError
from judge.base.records import Criterion, Generation, Message, Query, Story
from judge.inputs.datasets import Dataset, open_dataset
from judge.lab.training.evaluation import Trained
from judge.lab.training.linear import PairTask, RatingTask, fitted, out_of_fold
from judge.lab.training.options import Telling, TrainOptions
from judge.lab.training.train import train
from judge.ratings.preferences_table import read as read_preferences
from judge.ratings.ratings_table import read as read_ratings
from tests.comparing.conftest import sitting

WORDS = [
    "the", "lamp", "on", "the", "quay", "went", "out", "and", "nobody", "lit", "it", "again", "for",
    "many", "long", "years", "said", "Mara", "to", "her", "brother",
]  # fmt: skip


def text_of(rng: np.random.Generator, n: int) -> str:
    return " ".join(rng.choice(WORDS, n)) + "."


def pair_file(path: Path, prompts: int = 40, *, tied: int = 0) -> Path:
    """Two pairs for each story-prompt, of which the longer story is always preferred."""
    rng = np.random.default_rng(3)
    lines = []
    for p in range(prompts):
        for k in range(2):
            short, long = text_of(rng, 20 + k), text_of(rng, 60 + p)
            turned = bool(rng.integers(2))
            first, second = (long, short) if turned else (short, long)
            value = "tie" if p < tied else ("first" if turned else "second")
            lines.append({"story_prompt": f"Prompt {p}", "first": first, "second": second, "preference": value})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


COLUMNS = {name: name for name in ("story_prompt", "first", "second", "preference")}


def opened(path: Path) -> Dataset:
    """A file of pairs or of rated stories."""
    return open_dataset(str(path), columns=None if "rated" in path.name else COLUMNS)


def rated_file(path: Path, stories: int = 80) -> Path:
    """Stories whose rating is their length and a little noise."""
    rng = np.random.default_rng(4)
    lines = []
    for i in range(stories):
        n = int(rng.integers(20, 120))
        value = round(float(np.clip(1 + 4 * (n - 20) / 100 + rng.normal(0, 0.2), 1, 5)), 2)
        ratings = [{"rater": None, "criterion": "Coherence", "value": value}]
        story = {"id": f"s{i}", "story_prompt": f"Prompt {i // 4}", "system": "a", "text": text_of(rng, n)}
        lines.append(story | {"ratings": ratings})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def made(data: Path, folder: Path, **options: object) -> Trained:
    chosen = replace(TrainOptions(foldings=2, resamples=50), **options)  # type: ignore[arg-type]
    return train([opened(data)], folder, chosen, None, Telling(lambda _: None))


def query(story: Story, other: Story | None = None) -> Query:
    return Query(
        key="b2:00",
        story=story,
        criterion=Criterion("Coherence", "CH", "how well it goes"),
        eval_prompt="ep1",
        messages=(Message("user", "Rate it."),),
        generation=Generation(),
        other=other,
        choices=() if other is None else ("A", "B", "Tie"),
        asks_explanation=True,
    )


def test_pairs_by_length_are_learnt_and_the_backend_prefers_the_longer_story(tmp_path: Path) -> None:
    result = made(pair_file(tmp_path / "pairs.jsonl"), tmp_path / "models" / "m")
    assert result.preferences is not None
    row = next(row for row in result.preferences.rows if row.kind == "judge")
    assert row.agreement.half.value == 1.0
    assert {"longer", "control", "judge"} <= {row.kind for row in result.preferences.rows}
    assert result.card["data"][0]["hash"].startswith("b2:")
    assert len(result.card["out_of_fold"]["foldings"][row.criterion]) == 2
    rng = np.random.default_rng(9)
    short, long = (Story(f"n{n}", "Another", "x", text_of(rng, n)) for n in (22, 90))
    backend = open_backend(f"trained/{tmp_path / 'models' / 'm'}", Settings())
    asyncio.run(backend.probe())
    for one, other, word in ((short, long, "B"), (long, short, "A")):
        (answer,) = asyncio.run(backend.complete(query(one, other), [0]))
        assert answer.text.startswith(f"Verdict: {word}")
        assert "does not read the Eval-Prompt" in answer.text
    ratings = [asyncio.run(backend.complete(query(one), [0, 1])) for one in (short, long)]
    low, high = (float(answers[0].text.split()[1]) for answers in ratings)
    assert 1 <= low < high <= 5
    assert ratings[0][0] == ratings[0][1]


def test_ratings_by_length_are_learnt_and_come_back_on_the_scale(tmp_path: Path) -> None:
    result = made(rated_file(tmp_path / "rated.jsonl"), tmp_path / "m")
    assert result.ratings is not None
    rows = {row.predictor: row for row in result.ratings.rows}
    assert rows["trained, out of fold"].tau.value == pytest.approx(0.88, abs=0.08)
    assert rows["longer is better"].tau.value == pytest.approx(rows["trained, out of fold"].tau.value, abs=0.1)
    assert list(result.ratings.frame["predictor"]) == [row.predictor for row in result.ratings.rows]
    bins = [row for row in result.calibrations.rows if row.what == "rating"]
    assert sum(row.n for row in bins) == 80
    assert all(abs(row.predicted - row.people) < 0.4 for row in bins)


def test_runs_leave_training_stories_out_and_say_so(tmp_path: Path) -> None:
    made(rated_file(tmp_path / "rated.jsonl"), tmp_path / "m")
    others = [json.loads(line) for line in (tmp_path / "rated.jsonl").read_text().splitlines()[:8]]
    others += [{**one, "id": f"new{one['id']}", "story_prompt": "New", "text": one["text"] + " End"} for one in others]
    mixed = tmp_path / "mixed.jsonl"
    mixed.write_text("".join(json.dumps(one) + "\n" for one in others), encoding="utf-8")
    changes = {"judge": f"trained/{tmp_path / 'm'}", "criteria": "overall", "base_url": []}
    rates = sitting(None, mixed, **changes, eval_prompts=["ep1"], pairs=None, folder="rates")
    sit(rates)
    table = read_ratings([tmp_path / "rates"])
    judged = table.frame[table.frame["source"] == "judge"]
    assert set(judged["story"]) == {f"news{i}" for i in range(8)}
    assert len(table.stories) == 16
    assert "trained on the story-prompts of 8 of these 16 stories" in " ".join(table.facts[0].notes)
    compares = sitting(None, mixed, **changes, folder="compares")
    sit(compares)
    compared = read_preferences([tmp_path / "compares"]).frame
    told = compared[compared["source"] == "judge"]
    assert len(told)
    assert told["first"].str.startswith("new").all()
    assert told["second"].str.startswith("new").all()
    same = sitting(None, tmp_path / "rated.jsonl", **changes, eval_prompts=["ep1"], pairs=None, folder="same")
    sit(same)
    with pytest.raises(RunFolderError, match="all 80 stories"):
        read_ratings([tmp_path / "same"])


def test_a_fold_is_predicted_by_fits_that_saw_nothing_of_it() -> None:
    rng = np.random.default_rng(1)
    rows, people = rng.normal(size=(60, 3)), rng.normal(size=60)
    groups = [str(i // 3) for i in range(60)]
    fold = np.array([int(g) % 4 for g in groups])
    before = out_of_fold(RatingTask([rows], people, groups), fold, 1)
    changed = np.where(fold == 2, people + 100, people)
    after = out_of_fold(RatingTask([rows], changed, groups), fold, 1)
    assert np.allclose(before[fold == 2], after[fold == 2])
    assert not np.allclose(before[fold != 2], after[fold != 2])


def test_a_block_of_noise_counts_for_little_beside_one_that_tells() -> None:
    rng = np.random.default_rng(2)
    truth, noise = rng.normal(size=(200, 2)), rng.normal(size=(200, 30))
    a, b = np.arange(0, 200, 2), np.arange(1, 200, 2)
    lead = np.sign(truth[a, 0] - truth[b, 0])
    task = PairTask([truth, noise], a, b, lead, [str(i) for i in range(100)])
    fit = fitted(task, task.trainable(), 1)
    told = np.abs(fit.weights[0] * (task.fit(0, task.trainable()).score(truth)[a])).mean()
    chance = np.abs(fit.weights[1] * (task.fit(1, task.trainable()).score(noise)[a])).mean()
    assert chance < 0.3 * told
    scores = fit.score([truth, noise])
    assert np.mean(np.sign(scores[a] - scores[b]) == lead) > 0.95


def test_people_who_tie_give_the_model_a_band_of_even_pairs(tmp_path: Path) -> None:
    made(pair_file(tmp_path / "pairs.jsonl", tied=10), tmp_path / "m")
    assert read_model(tmp_path / "m").heads[0].band > 0


def test_perturbed_stories_lose_against_their_origins(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    lines = []
    for i in range(30):
        plain = text_of(rng, 40)
        for name, text in ((f"o{i}@none", plain), (f"o{i}@typos.1", plain.replace("a", "aa"))):
            lines.append({"id": name, "story_prompt": f"P{i}", "system": "x", "text": text, "ratings": []})
    stress = tmp_path / "stress.jsonl"
    stress.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    data = opened(pair_file(tmp_path / "pairs.jsonl"))
    options = TrainOptions(foldings=1, resamples=20, negatives=stress)
    result = train([data], tmp_path / "m", options, open_dataset(str(stress)), Telling(lambda _: None))
    assert result.card["negatives"] == 30
    rated = opened(rated_file(tmp_path / "rated.jsonl"))
    with pytest.raises(OptionError, match="only ratings"):
        train([rated], tmp_path / "n", options, open_dataset(str(stress)), Telling(lambda _: None))


def test_mistakes_are_told_in_a_sentence(tmp_path: Path) -> None:
    few = pair_file(tmp_path / "few.jsonl", prompts=4)
    with pytest.raises(SpecError, match="too little to train on"):
        made(few, tmp_path / "m")
    with pytest.raises(SpecError, match="Fun"):
        made(pair_file(tmp_path / "pairs.jsonl"), tmp_path / "m", criteria=("Fun",))
    with pytest.raises(SpecError, match="no such folder"):
        open_backend(f"trained/{tmp_path / 'nowhere'}", Settings())
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "model.json").write_text('{"format": 1, "name": "x", "heads": [{"kind": "wish"}]}')
    with pytest.raises(DataError, match="is not what judge train writes"):
        open_backend(f"trained/{broken}", Settings())


def test_storyer_pairs_and_wp200_reach_what_was_measured(studies: Path, tmp_path: Path) -> None:
    """Floors under five foldings on StoryER's 700 released pairs (64.0-64.9 %)."""
    result = train(
        [open_dataset("storyer_pairs")], tmp_path / "m", TrainOptions(resamples=20), None, Telling(lambda _: None)
    )
    assert min(result.card["out_of_fold"]["foldings"]["Overall"]) >= 0.63
    from scipy.stats import spearmanr

    model = read_model(tmp_path / "m")
    from judge.backends.trained.backend import LinearScorer

    scorer, stories = LinearScorer(model, {}), list(open_dataset("storyer_wp200").stories())

    async def scores() -> list[float]:
        return [await scorer.score(story, model.heads[0]) for story in stories]

    people = [story.ratings[0].value for story in stories]
    assert spearmanr(asyncio.run(scores()), people)[0] >= 0.43


def test_export_for_trl_holds_each_preference_once(tmp_path: Path) -> None:
    from judge.cli.commands import app_of

    data, out = pair_file(tmp_path / "pairs.jsonl", prompts=20, tied=3), tmp_path / "out.jsonl"
    from judge.exchange.export_forms import write_trl
    from judge.ratings.preferences_table import of_dataset

    made_file = write_trl(out, of_dataset(opened(data)))
    assert (made_file.lines, made_file.even) == (34, 6)
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(len(line["chosen"]) > len(line["rejected"]) for line in lines)
    assert CliRunner().invoke(app_of("export"), ["--help"]).exit_code == 0
