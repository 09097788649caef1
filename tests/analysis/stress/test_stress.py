"""Stress tests of planted judges: what is found of them, and that lost answers and other stories never count."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from judge.analysis.options.table_options import StressOptions
from judge.analysis.stress import Paired, Stress, statistics, stress, tables
from judge.analysis.stress.result import verdicts
from judge.base.errors import OptionError, SpecError
from judge.base.printing.tables import render
from judge.ratings.ratings_table import perturbed_names
from judge.ratings.ratings_table.journaled import without_perturbed
from tests.analysis.stress.planted import CHANGES, planted

WITHOUT_CONTROL = StressOptions(control=False)
INJECTED = {"inject-plain": (1,), "authority": (1,), "empty": (1,), "one-token": (1,)}


def constant(*_: object) -> float:
    return 3.0


def coin(_: str | None, __: int, ___: int, rng: np.random.Generator) -> float:
    return float(rng.integers(1, 6))


def half_blind(name: str | None, strength: int, _: int, rng: np.random.Generator) -> float:
    """Sees negation the better the more there is of it, never shuffling, and takes typos for nothing."""
    seen = {"negation": 0.2 * strength, "lexical-repetition": 1.0}.get(name or "", 0.0)
    return 4.0 - 2.0 * bool(rng.random() < seen)


def injectable(name: str | None, *_: object) -> float:
    return 5.0 if name == "inject-plain" else 3.0


def row(found: Stress, judge: str, name: str, strength: int = 1, criterion: str = "Coherence") -> Paired:
    (one,) = (
        r
        for r in found.rows
        if (r.subject.judge, r.facts.name, r.strength, r.subject.criterion) == (judge, name, strength, criterion)
    )
    return one


def words(found: Stress, judge: str) -> dict[str, str]:
    return {one.finding: one.sentence for one in verdicts(found) if one.subject.judge == judge}


def test_planted_judges_are_told_from_each_other() -> None:
    found = stress(planted({"blind": half_blind, "constant": constant, "coin": coin}, prompts=80), WITHOUT_CONTROL)
    assert words(found, "blind") == {
        "found": "lexical-repetition (1.00), negation (0.89)",
        "missed": "sentence-shuffle (0.50)",
        "same": "typos (+0.00)",
    }
    assert words(found, "constant") == {
        "missed": "lexical-repetition (0.50), negation (0.50), sentence-shuffle (0.50)",
        "same": "typos (+0.00)",
    }
    constants = row(found, "constant", "negation", 4)
    assert (constants.detection.wins, constants.detection.ties, constants.detection.losses) == (0, 80, 0)
    assert constants.detectable is None
    assert constants.wilcoxon is None
    assert {one.finding for one in found.rows if one.subject.judge == "coin"} <= {"missed", "open"}
    assert found.tests == 3 * 7


def test_pairs_are_of_one_origin_not_of_one_story_prompt() -> None:
    """Two origins of each story-prompt, one rated 5 and one 2: within an origin a change costs a point."""

    def rate(name: str | None, _: int, __: int, rng: np.random.Generator) -> float:
        return 3.0 - bool(name)

    table = planted({"m": rate}, stories=2, prompts=14)
    table.frame["rating"] += np.where(table.frame["story"].str.contains("-1@"), 2.0, 0.0)
    found = row(stress(table, WITHOUT_CONTROL), "m", "typos")
    assert (found.detection.wins, found.detection.estimate.n) == (28, 28)
    assert found.drop.value == 1.0
    assert found.detection.estimate.method is not None
    assert "over 14 story-prompts" in found.detection.estimate.method


def test_dose_grows_with_strength_and_null_is_of_repeats() -> None:
    found = stress(planted({"m": half_blind}, prompts=120, repeats=4), WITHOUT_CONTROL)
    (dose,) = (one for one in found.doses if one.facts.name == "negation")
    assert dose.strengths == (1, 2, 4)
    # Drops of .4, .8 and 1.6 points: a slope of .6 over doublings.
    assert dose.slope.value == pytest.approx(0.6, abs=0.08)
    assert dose.p is not None
    assert dose.p < 1e-6
    (null,) = found.nulls
    assert null.detection.estimate.value == 0.5
    assert null.noise.value == 0.0
    assert row(found, "m", "negation", 4).against_noise.reason == "repeats of an untouched story never differ"
    noisy = stress(planted({"m": coin}, prompts=60, repeats=4), WITHOUT_CONTROL)
    (of_coin,) = noisy.nulls
    assert of_coin.noise.value == pytest.approx(np.sqrt(2), abs=0.12)
    assert of_coin.flips.value == pytest.approx(0.8, abs=0.05)
    low, high = of_coin.detection.estimate.low, of_coin.detection.estimate.high
    assert low is not None
    assert high is not None
    assert low < 0.5 < high
    flips = row(noisy, "m", "typos").flips
    assert flips is not None
    assert flips.value == pytest.approx(0.8, abs=0.05)


def test_a_judge_that_hardly_varies_keeps_the_margin_easily() -> None:
    (table,) = (
        t
        for t in tables(stress(planted({"m": constant}), WITHOUT_CONTROL))
        if t.title.startswith("Changes that should")
    )
    assert "standard deviation of 0.00 points, so that staying within 0.25 shows little" in table.notes[-1]
    varied = stress(planted({"m": coin}), WITHOUT_CONTROL)
    (table,) = (t for t in tables(varied) if t.title.startswith("Changes that should"))
    assert not any("shows little" in note for note in table.notes)


def test_one_repeat_has_no_null() -> None:
    (null,) = stress(planted({"m": coin}), WITHOUT_CONTROL).nulls
    assert null.detection.estimate.reason == "null unavailable: one repeat of each untouched story"


def test_attacks_and_stories_that_are_none() -> None:
    def rate(name: str | None, strength: int, repeat: int, rng: np.random.Generator) -> float | str:
        if name == "empty":
            return "failed" if repeat % 2 else 1.0
        return 1.0 if name == "one-token" else injectable(name)

    changes = {**INJECTED, "prompt-as-story": (1,)}
    found = stress(planted({"m": rate}, changes=changes, repeats=2), WITHOUT_CONTROL)
    attack = row(found, "m", "inject-plain")
    assert attack.finding == "fell for"
    assert attack.change.value == 2.0
    assert attack.top is not None
    assert attack.top_before is not None
    assert (attack.top.value, attack.top_before.value) == (1.0, 0.0)
    assert attack.tail == "greater"
    assert row(found, "m", "authority").finding == "withstood"
    assert row(found, "m", "one-token").finding == "seen"
    assert row(found, "m", "prompt-as-story").finding == "fell for"
    lost = {one.facts.name if one.facts else "": dict(one.statuses) for one in found.lost}
    assert lost["empty"] == {"failed": 40}
    assert lost["one-token"] == {}


def test_a_refusal_is_lost_and_never_a_rating() -> None:
    def refuses(name: str | None, *_: object) -> float | str:
        return "refused" if name == "inject-plain" else 3.0

    found = stress(planted({"m": refuses}, changes=INJECTED), WITHOUT_CONTROL)
    one = row(found, "m", "inject-plain")
    assert (one.asked, one.rated, one.detection.estimate.n, one.finding) == (40, 0, 0, None)
    assert one.drop.value is None
    (lost,) = (o for o in found.lost if o.facts is not None and o.facts.name == "inject-plain")
    assert (lost.asked, lost.rated, dict(lost.statuses)) == (40, 0, {"refused": 40})
    text = "\n".join(render(table, "table", width=80) for table in tables(found))
    assert "Answers without a rating" in text


def test_selectivity_sets_aimed_criteria_against_the_others() -> None:
    """A judge that lowers only the criterion it is asked about first, Coherence."""
    table = planted({"m": coin}, criteria=("Coherence", "Empathy"), prompts=30)
    frame = table.frame
    changed = frame["story"].str.contains("@negation") & (frame["criterion"] == "Coherence")
    frame["rating"] = np.where(changed, 2.0, 3.0)
    found = stress(table, WITHOUT_CONTROL)
    one = next(one for one in found.selectivity if one.facts.name == "negation")
    assert one.aimed == ("Coherence",)
    assert one.difference.value == pytest.approx(0.5)
    assert {name: share.value for name, share in one.by_criterion.items()} == {"Coherence": 1.0, "Empathy": 0.5}
    assert row(found, "m", "negation", criterion="Empathy").expected is False
    assert row(found, "m", "negation", criterion="Empathy").finding is None
    assert words(found, "m")["found"] == "negation (1.00)"


def test_eval_prompts_are_set_against_each_other_on_the_same_pairs() -> None:
    """With ep2 the judge sees negation in every pair, with ep1 never: detection differs by one half."""
    table = planted({"m": constant}, changes={"negation": (1,), "typos": (1,)})
    more = table.frame.assign(eval_prompt="ep2")
    more["rating"] = np.where(more["story"].str.contains("@negation"), 1.0, 3.0 + (more.index % 3))
    both = replace(table, frame=pd.concat([table.frame, more], ignore_index=True))
    (one,) = stress(both, WITHOUT_CONTROL).contrasts
    assert (one.first, one.second, one.facts.name) == ("ep1", "ep2", "negation")
    assert one.difference.value == 0.5
    assert one.p is None  # every pair differs alike
    (text,) = (
        render(t, "table", width=80) for t in tables(stress(both, WITHOUT_CONTROL)) if "Which Eval-Prompt" in t.title
    )
    assert "ep2 - ep1" in text
    assert stress(table, WITHOUT_CONTROL).contrasts == ()


def test_quality_control_is_of_human_stories_and_story_prompts() -> None:
    def worker(name: str | None, *_: object) -> float:
        return 2.0 if name in ("lexical-repetition", "sentence-shuffle") else 4.0

    found = stress(planted({"worker": worker, "kind": lambda *_: 4.0}, stories=2), WITHOUT_CONTROL)
    passed = {(one.subject.judge, one.facts.name): one.passed for one in found.quality}
    assert passed["worker", "lexical-repetition"].value == 1.0
    assert passed["worker", "lexical-repetition"].n == 40
    assert passed["kind", "sentence-shuffle"].value == 0.0
    (text,) = (render(one, "table", width=80) for one in tables(found) if "quality control" in one.title)
    assert "61.3 % (ROC), 24.6 % (WP)" in text


def test_control_rates_the_perturbed_texts_itself() -> None:
    table = planted({"m": constant}, prompts=12)
    stories = table.stories
    names = stories.index.get_level_values(1)
    stories.loc[names.str.contains("lexical-repetition"), "text"] += " It ends. It ends. It ends. It ends."
    found = stress(table)
    control = next(
        one for one in found.rows if one.subject.kind == "control" and one.facts.name == "lexical-repetition"
    )
    assert control.detection.wins == 12
    assert control.adjusted is None
    assert next(o for o in found.rows if o.subject.kind == "control" and o.facts.name == "typos").detection.ties == 12
    (noticed,) = (one for one in tables(found) if one.title.startswith("Is it noticed?"))
    cell = next(one for one in noticed.rows if one["what"] == "lexical-repetition 1")
    assert cell["control"] == 1.0


@pytest.fixture(scope="module")
def half() -> Stress:
    return stress(planted({"m": half_blind}), WITHOUT_CONTROL)


def test_as_published_is_unpaired(half: Stress) -> None:
    found = stress(planted({"m": half_blind}), StressOptions(control=False, as_published=True))
    one = row(found, "m", "lexical-repetition")
    assert one.auc is not None
    assert one.correlation is not None
    assert (one.auc.value, one.correlation.value) == (1.0, pytest.approx(1.0))
    assert any("As published" in table.title for table in tables(found))
    assert not any("As published" in t.title for t in tables(half))


def test_frame_and_tables_come_from_the_same_rows(half: Stress) -> None:
    found = half
    frame = found.frame.set_index(["perturbation", "strength"])
    (noticed,) = (one for one in tables(found) if one.title.startswith("Is it noticed?"))
    shown = {cell["what"]: cell["detection"].value for cell in noticed.rows}
    assert shown["negation 2"] == frame.loc[("negation", 2), "detection"]
    assert frame.loc[("lexical-repetition", 1), "finding"] == "found"
    assert found.signature == frame.attrs["signature"]
    assert "margin:±0.25" in found.signature
    assert all(isinstance(one, Paired) for one in found.rows)


@pytest.mark.parametrize("judges", [{"m": half_blind}, {"m": injectable, "n": coin}])
def test_tables_fit_a_narrow_screen(judges: dict[str, Callable[..., float]]) -> None:
    changes = {**CHANGES, **INJECTED, "semantic-repetition": (1,), "unrelated-sentence": (1, 2)}
    found = stress(planted(judges, changes=changes, repeats=2, criteria=("Coherence", "Relevance")), WITHOUT_CONTROL)
    for table in tables(found):
        text = render(table, "table", width=80)
        assert max(map(len, io.StringIO(text).read().splitlines())) <= 80
        # Not taken apart into blocks: its titles stand once.
        assert text.count("perturbation ") <= 1 or "perturbations" in text


def test_a_dataset_without_such_ids_is_refused(make_table: Callable[..., object]) -> None:
    with pytest.raises(SpecError, match="judge stress make"):
        stress(make_table())  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="margin"):
        StressOptions(margin=0)


def test_other_tables_do_not_see_perturbed_stories() -> None:
    table = planted({"m": half_blind}, people=True)
    left = without_perturbed(table)
    assert len(left.frame) == 80
    assert set(left.stories.index.get_level_values(1)) == {f"p{n}-0@none" for n in range(40)}
    assert "280 perturbed stories are left out" in left.facts[0].notes[-1]
    assert without_perturbed(left) is left


def test_ids_that_only_look_perturbed_are_ordinary_stories() -> None:
    assert perturbed_names(["a@b.2", "me@mail.1"]) == {}
    assert set(perturbed_names(["a@b.2", "a@none", "c"])) == {"a@b.2", "a@none"}
    assert perturbed_names(["a@typos.1"])["a@typos.1"].perturbation == "typos"


@pytest.mark.parametrize("count", [2, 5, 9, 13])
def test_the_exact_signed_rank_test_of_tied_ranks_is_scipys(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(3):
        differences = rng.choice([-1.5, -1, -0.5, 0.5, 1], count)
        differences[:2] = 1, -1  # tied
        ranks = stats.rankdata(np.abs(differences))
        expected = stats.wilcoxon(differences).pvalue
        assert statistics._exact(ranks, differences > 0) == pytest.approx(expected, abs=1e-12)
