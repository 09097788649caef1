"""Audits drawn by topic and by the gap of text and rating, and rates of the whole run from them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn")

from judge.base.errors import SpecError
from judge.base.records import Criterion, Scale
from judge.cli.main import main
from judge.explanations.audit.drawing import prepared
from judge.explanations.audit.options import SampleOptions
from judge.explanations.audit.population import Population
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.report import ReportOptions, report
from judge.explanations.audit.sampling import sample
from judge.explanations.audit.store import AuditStore, read_audit
from judge.stats.estimation.assisted import assisted_share
from judge.stats.estimation.proportions import weighted_share
from tests.explanations.topics.planted_reasons import SAID, texts


@pytest.fixture(scope="module")
def population() -> Population:
    """960 explanations, of which every fortieth has a rating that its reason never goes with."""
    made = texts()
    frame = made.frame.copy()
    frame["gap"], frame["cluster"] = frame["rating"] - frame["people"], None
    turned = np.arange(len(frame)) % 40 == 0
    frame["turned"] = turned
    frame.loc[turned, "rating"] = 6 - frame.loc[turned, "rating"]
    places = pd.MultiIndex.from_frame(frame[["dataset", "story"]].drop_duplicates())
    stories = pd.DataFrame(index=places, columns=["story_prompt", "system", "text", "reference"], dtype=object)
    return Population(frame, {}, stories, {"Coherence": Criterion("Coherence", "CH", "", scale=Scale(1, 5))}, (), ())


def test_ratings_turned_on_purpose_are_far_from_their_texts(population: Population) -> None:
    drawn = prepared(population, ("disagreement",), 1)
    far = (drawn.frame["disagreement"] != "near").to_numpy()
    assert 96 <= far.sum() <= 110  # a tenth, and what is as far as the last of them
    turned = drawn.frame["turned"].to_numpy()
    assert far[turned & (population.frame["rating"] != 3)].all()
    assert any("5 contradicted their rating" in note for note in drawn.notes)


def test_a_sample_by_topic_has_each_topic_and_weights_of_the_whole(population: Population) -> None:
    drawn = sample(population, SampleOptions(n=40, by=("topic",), spread=("rating",)))
    topics = {subject.facts.cluster for subject in drawn.subjects}
    assert len(topics) >= 4
    assert sum(subject.facts.weight or 0 for subject in drawn.subjects) == pytest.approx(960)
    for subject in drawn.subjects:
        assert subject.facts.stratum == subject.facts.cluster


def test_rates_of_the_whole_run_and_by_topic(population: Population, tmp_path: Path) -> None:
    drawn = sample(population, SampleOptions(n=120, by=("disagreement",), spread=("rating",)))
    path = tmp_path / "audit.sqlite"
    store = AuditStore.create(path, drawn.subjects, seed=1, blind=(), sampling=drawn.sampling, notes=drawn.notes)
    turned = dict(zip(population.frame["explanation"] + population.frame["eval_prompt"] + population.frame["story"],
                      population.frame["turned"], strict=True))  # fmt: skip
    keys = [category.key for category in store.categories]
    for item in store.items():
        place = item.subject.explanation + str(item.subject.facts.eval_prompt) + str(item.subject.story)
        wrong = int(turned[place])
        store.answer("ann", item.id, {key: wrong if key == keys[0] else 0 for key in keys})
    store.close()
    found = report(read_audit(path), ReportOptions(by=("topic", "stratum")))
    first = found.errors[0].rates
    assert first.assisted is not None
    share = first.assisted.share
    assert share.low is not None
    assert share.high is not None
    assert share.low <= 24 / 960 <= share.high
    assert first.assisted.worth is not None
    table = next(table for table in audit_tables(found) if table.title == "Error rates")
    assert any("prediction-powered" in note for note in table.notes)


def test_an_eval_prompt_narrows_what_is_drawn(population: Population) -> None:
    assert set(population.only(["EP3"]).frame["eval_prompt"]) == {"ep3"}
    with pytest.raises(SpecError, match="ep9"):
        population.only(["ep9"])


def test_assisted_shares_are_right_on_average_and_worth_it_with_a_good_helper() -> None:
    """Two hundred samples of 60 from 3,000 items; intervals at 95 % cover the truth in 90 % of them or more."""
    rng = np.random.default_rng(4)
    truth = (rng.random(3000) < 0.3).astype(float)
    good, bad = np.clip(truth * 0.7 + rng.normal(0.15, 0.1, 3000), 0, 1), rng.random(3000)
    covered = {"good": 0, "bad": 0}
    worths: dict[str, list[float]] = {"good": [], "bad": []}
    values = []
    for _ in range(200):
        some = rng.choice(3000, 60, replace=False)
        for name, helper in (("good", good), ("bad", bad)):
            found = assisted_share(truth[some], np.full(60, 50.0), np.arange(60), helper[some], float(helper.mean()))
            low, high = found.share.low, found.share.high
            assert low is not None
            assert high is not None
            covered[name] += low <= truth.mean() <= high
            worths[name].append(found.worth or 0.0)
            if name == "good":
                values.append(found.share.value or 0.0)
    assert min(covered.values()) >= 180
    assert np.mean(values) == pytest.approx(truth.mean(), abs=0.01)
    assert np.median(worths["good"]) > 3
    assert np.median(worths["bad"]) < 1.05


def test_a_useless_helper_leaves_the_weighted_share() -> None:
    y, w = np.tile([0.0, 1.0, 0.0, 0.0], 10), np.tile([1.0, 2.0, 3.0, 4.0], 10)
    helper = np.ones(40)
    helper[0] += 1e-13
    assert "the same" in str(assisted_share(y, w, np.arange(40), helper, 1.0).share.reason)
    plain = weighted_share(y, w, np.arange(40)).value
    even = np.tile([0.0, 0.0, 1.0, 1.0], 10)[np.argsort(np.tile(np.arange(4), 10), kind="stable")]
    assisted = assisted_share(y, w, np.arange(40), even, float(w @ even / w.sum())).share.value
    assert assisted == pytest.approx(plain)
    assert all(said for said, _ in SAID)


def test_the_command_prints_the_answer_and_refuses_what_has_no_effect(
    demo_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["explain", str(demo_run), "--quiet", "--map", "pca"])
    assert not ended.value.code
    screen = capsys.readouterr().out
    assert len(screen.splitlines()) <= 40
    assert "says most" in screen
    kept = json.loads((next(demo_run.glob("*/derived")) / "explanations.json").read_text(encoding="utf-8"))
    assert kept["format"] == 3
    assert len(kept["points"]["people"]) == 216
    with pytest.raises(SystemExit) as ended:
        main(["explain", str(demo_run), "--by", "side"])
    assert ended.value.code == 1
    assert "--by has no effect with --layout topics" in capsys.readouterr().err
