"""Topics of explanations with known reasons: found, named, counted, compared, and set beside people's ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")

from judge.base.printing.shortened import LINES, shortened
from judge.cli.table_options import FLAGS
from judge.explanations.topics import results
from judge.explanations.topics.clustering import NO_WORD, Topics
from judge.explanations.topics.parting import cells, excess, partings
from judge.explanations.topics.reasons import Reasons, contrasts, reasons, repeats, topic_rows
from judge.stats.resampling.sign_flips import Block, effective_clusters, flipped
from tests.explanations.topics.planted_reasons import SAID, texts


@pytest.fixture(scope="module")
def found() -> Reasons:
    return reasons(texts(), count=4)


def _said(found: Reasons) -> np.ndarray:
    """Number of the planted reason of each explanation."""
    return np.array([next(n for n, (said, _) in enumerate(SAID) if said in text) for text in found.rows["text"]])


def test_each_topic_is_one_planted_reason_whatever_the_story(found: Reasons) -> None:
    said = _said(found)
    assert found.topics.count == 4
    for topic in range(4):
        assert len(set(said[found.topics.topic == topic])) == 1
    assert not any("thing" in name for name in found.names)
    assert len(set(found.names)) == 4
    rows = topic_rows(found)
    assert sum(row.texts for row in rows) == len(found.rows)
    assert sum(row.share for row in rows) == pytest.approx(1)
    assert all(row.commonest < 0.1 for row in rows)
    ratings = {SAID[int(said[found.topics.topic == row.topic][0])][1]: row.rating.value for row in rows}
    assert all(rating == pytest.approx(value) for rating, value in ratings.items())


def test_a_text_without_a_usual_word_has_no_topic_and_is_counted(found: Reasons) -> None:
    few = texts(prompts=12)
    frame = few.frame
    frame.loc[0, ["explanation", "text"]] = "Zyxgrmpf!"
    strange = reasons(replace(few, frame=frame), count=4)
    assert strange.topics.topic[0] == NO_WORD
    assert [row.texts for row in topic_rows(strange) if row.topic == NO_WORD] == [1]
    assert any("hold no word" in note for note in results.tables(results.reason_results(few, strange))[0].notes)


def test_the_gap_says_which_texts_lie_between_two_topics(found: Reasons) -> None:
    model = found.topics.model
    mixed = model.vectors([f"{SAID[0][0]} {SAID[3][0]}"])
    first, second, gap = model.assign(mixed, np.array([0]))
    said = _said(found)
    of = {int(said[found.topics.topic == topic][0]) for topic in (int(first[0]), int(second[0]))}
    assert of == {0, 3}
    assert gap[0] < np.median(found.topics.gap)


def test_eval_prompts_differ_where_it_was_planted(found: Reasons) -> None:
    said = _said(found)
    rows = contrasts(found, "eval_prompt")
    assert {row.level for row in rows} == {"ep2"}
    for row in rows:
        number = int(said[found.topics.topic == row.topic][0])
        inside = (said == number) & (found.rows["eval_prompt"] == "ep2").to_numpy()
        assert row.share == pytest.approx(inside.sum() / (found.rows["eval_prompt"] == "ep2").sum())
        if number == 0:
            assert row.difference.value == pytest.approx(0.24, abs=0.05)
            assert row.p is not None
            assert row.p < 0.001
    assert contrasts(found, "judge") == ()


def test_repeats_that_draw_reasons_at_random_agree_by_chance(found: Reasons) -> None:
    rows = repeats(found)
    assert [row.asked.eval_prompt for row in rows] == ["ep2", "ep3"]
    for row in rows:
        kappa = row.result.reasons
        assert kappa.low is not None
        assert kappa.low < 0 < (kappa.high or 0)
        # Each rating has one reason, so equal ratings have the same, and others another.
        assert row.result.given_same == 1
        assert row.result.given_other == 0
        assert row.result.ratings.value == pytest.approx(kappa.value)
        assert row.result.pairs == 30 * 4 * 6


def test_kappa_is_that_of_all_pairs_counted_one_by_one() -> None:
    few = reasons(texts(prompts=10, stories=2, repeats=3), count=4)
    part = few.rows[few.rows["eval_prompt"] == "ep2"]
    labels = few.topics.topic[part.index]
    same, total = 0, 0
    for _, own in part.assign(topic=labels).groupby("story"):
        values = own["topic"].tolist()
        pairs = [(a, b) for i, a in enumerate(values) for b in values[i + 1 :]]
        same, total = same + sum(a == b for a, b in pairs), total + len(pairs)
    chance = float(sum(np.mean(labels == t) ** 2 for t in np.unique(labels)))
    expected = (same / total - chance) / (1 - chance)
    assert repeats(few)[0].result.reasons.value == pytest.approx(expected)


def test_an_excess_is_conditioned_on_rating_prompt_and_system(found: Reasons) -> None:
    code = cells(found)
    over = excess(found.people, code)
    for cell in np.unique(code)[:5]:
        assert over[code == cell].sum() == pytest.approx(0, abs=1e-9)
        part = found.rows[code == cell]
        assert len(part[["rating", "eval_prompt", "system", "criterion", "judge"]].drop_duplicates()) == 1


def _mixed(seed: int, wrong: float) -> Reasons:
    """Explanations whose topic says nothing of the rating: two reasons for each, drawn at random."""
    plain = reasons(texts(seed=seed, repeats=3), count=4)
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 4, size=len(plain.rows))
    people = plain.people - wrong * (topic == 2)
    topics = replace(plain.topics, topic=topic)
    assert isinstance(topics, Topics)
    return replace(plain, topics=topics, people=people)


def test_a_planted_reason_is_found_with_its_size_and_a_held_out_figure() -> None:
    found = partings(_mixed(1, 0.3))
    best = found.rows[0]
    assert best.topic == 2
    assert best.p < 0.01
    assert best.excess.value == pytest.approx(0.3 * 0.75, abs=0.05)  # its own cells hold a quarter of it
    assert best.chosen > 10
    assert best.held_out == pytest.approx(best.excess.value, abs=0.06)


def test_without_an_effect_nothing_parts() -> None:
    """Thirty draws; a rate of 5 % exceeds four of them in 1.6 % of cases."""
    plain = _mixed(2, 0.0)
    rng = np.random.default_rng(2)
    alarms = 0
    for _ in range(30):
        topics = replace(plain.topics, topic=rng.integers(0, 4, size=len(plain.rows)))
        alarms += bool(partings(replace(plain, topics=topics)).significant)
    assert alarms <= 4


def test_without_people_the_reason_is_said() -> None:
    few = texts(prompts=10)
    few.frame["people"] = np.nan
    assert partings(reasons(few, count=4)).why == "people's ratings of these stories are not known"


def test_the_first_screen_holds_the_answer(found: Reasons) -> None:
    tables = results.tables(results.reason_results(texts(), found))
    screen = shortened(tables, FLAGS)
    assert len(screen.splitlines()) <= LINES
    for word in ("says most", "with low ratings", "parts from people", "Eval-Prompts differ", "repeats agree"):
        assert word in screen


def test_flips_are_those_of_a_plain_loop() -> None:
    rng = np.random.default_rng(3)
    cluster, group, cell = (rng.integers(0, k, size=200) for k in (6, 3, 4))
    values = rng.normal(size=200)
    for code in range(4):
        values[cell == code] -= values[cell == code].mean()
    result = flipped([Block(values, cluster, group, cell)], np.array([True, True, False]), clusters=6, flips=50)
    assert np.isnan(result.p[2])
    signs = np.random.default_rng(1).choice(np.array([-1.0, 1.0]), size=(50, 6))

    def t_of(sign: np.ndarray, number: int) -> float:
        drawn = values * sign[cluster]
        for code in range(4):
            drawn[cell == code] -= drawn[cell == code].mean()
        own = drawn[group == number]
        sums = np.bincount(cluster[group == number], weights=own - own.mean(), minlength=6)
        active = np.unique(cluster[group == number]).size
        return float(own.mean() / (np.sqrt(active / (active - 1) * (sums @ sums)) / own.size))

    largest = np.array([max(abs(t_of(sign, 0)), abs(t_of(sign, 1))) for sign in signs])
    for number in (0, 1):
        own = t_of(np.ones(6), number)
        assert result.t[number] == pytest.approx(own)
        assert result.p[number] == pytest.approx((1 + (largest >= abs(own)).sum()) / 51)


def test_effective_clusters_by_hand() -> None:
    assert effective_clusters(np.array([[2.0, 4.0], [2.0, 0.0], [2.0, 0.0]])) == pytest.approx([3.0, 1.0])
