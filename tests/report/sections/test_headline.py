"""Sentences at the top: made by rule, never saying more than numbers and intervals allow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from judge.analysis.correlation.margins import CEILING, CONTROL, Margin, Rival
from judge.analysis.raters import Raters
from judge.base.estimate import Estimate, Reason
from judge.ratings.ratings_table import read
from judge.show.report import ReportInputs
from judge.show.report.sections import headline

CONTROL_BAR = Estimate(0.20, 100, 0.15, 0.25)
CEILING_BAR = Estimate(0.40, 100, 0.35, 0.45)
LEAD = Margin(
    dataset="d",
    run="r",
    judge="openai/m",
    eval_prompt="ep1",
    control=False,
    criteria=("Coherence", "Empathy"),
    value=Estimate(0.30, 100, 0.25, 0.35),
    bars={CONTROL: CONTROL_BAR, CEILING: CEILING_BAR},
    over={CONTROL: Estimate(0.10, 100, 0.04, 0.16), CEILING: Estimate(-0.10, 100, -0.15, -0.05)},
    above={CONTROL: (2, 2), CEILING: (0, 2)},
)


class Stub:
    """As much of a matrix as the sentences read."""

    dataset, n, systems = "d", 100, ("a", "b")
    cells, criteria = (object(),), ("Coherence", "Empathy")


def said(*margins: Margin) -> list[str]:
    return list(headline.agreement_sentences(Stub(), list(margins), Raters()))  # type: ignore[arg-type]


def test_one_judge_is_not_called_the_closest() -> None:
    first, control, ceiling = said(LEAD)
    assert first == (
        "On d (100 stories, 2 systems), openai/m with ep1: Kendall's tau‑b ×100 with people, mean over 2 criteria, is "
        "30.0 [25.0, 35.0]."
    )
    assert control.endswith(
        "reaches 20.0 [15.0, 25.0]: the judge's value is 10.0 above [4.0, 16.0], higher on 2 of 2 criteria; more than "
        "new story-prompts would explain."
    )
    assert ceiling.endswith(
        "the judge's value is 10.0 below [5.0, 15.0], higher on 0 of 2 criteria; "
        "more than new story-prompts would explain."
    )


def test_the_best_of_several_is_said_to_be_flattered_and_is_the_highest_defined() -> None:
    lower = replace(LEAD, eval_prompt="ep2", value=Estimate(0.10, 100, 0.05, 0.15))
    undefined = replace(LEAD, eval_prompt="ep3", value=Estimate.undefined("undefined for Empathy (all ratings equal)"))
    first = said(lower, undefined, LEAD)[0]
    assert "openai/m with ep1 follows people closest" in first
    assert "(the highest of 3 rows on these same stories, which flatters it)" in first


RIVAL = Rival("openai/n with ep1", 1.0, 59, Estimate(0.28, 59), Estimate(0.35, 59))


def test_no_row_is_named_the_closest_where_it_is_not_highest_on_the_common_stories() -> None:
    best = replace(LEAD, share=0.59, rivals=(RIVAL,))
    lower = replace(LEAD, judge="openai/n", value=Estimate(0.20, 100))
    first = said(lower, best)[0]
    assert first == (
        "On d (100 stories, 2 systems) no row is named the closest to people. openai/m with ep1 has the higher value "
        "on its own stories (59 %): Kendall's tau‑b ×100 with people, mean over 2 criteria, is 30.0. "
        "On the 59 that openai/n with ep1, which rated 100 % of the stories, has too it reaches 28.0 and that row 35.0."
    )


def test_a_row_that_is_highest_on_the_common_stories_too_is_named_with_their_figures() -> None:
    best = replace(LEAD, share=0.59, rivals=(replace(RIVAL, rival_mean=Estimate(0.20, 59)),))
    first = said(replace(LEAD, judge="openai/n", value=Estimate(0.20, 100)), best)[0]
    assert "openai/m with ep1 follows people closest" in first
    assert first.endswith(
        "which flatters it). On the 59 that openai/n with ep1, which rated 100 % of the stories, has too it reaches "
        "28.0 and that row 20.0."
    )


def test_people_and_judge_are_said_against_the_same_means_with_their_readings() -> None:
    same = {CEILING: Estimate(0.28, 100, 0.2, 0.3)}
    panel = replace(LEAD, same=same, readings="the mean of 3 repeats", other_raters=True)
    assert said(panel)[2] == (
        "One more person reaches 40.0 [35.0, 45.0] with the mean of the others; against the same means the judge "
        "(the mean of 3 repeats against one reading) reaches 28.0: the judge's value is 10.0 below [5.0, 15.0], higher "
        "on 0 of 2 criteria; more than new story-prompts or other raters would explain."
    )


def test_an_interval_that_holds_zero_is_not_told_apart() -> None:
    near = replace(LEAD, over={**LEAD.over, CONTROL: Estimate(0.02, 100, -0.03, 0.07)})
    control = said(near)[1]
    assert "the judge's value is 2.0 above (difference 2.0 [−3.0, 7.0])" in control
    assert control.endswith("new story-prompts alone could explain this.")
    assert "more than" not in control
    without = replace(LEAD, over={**LEAD.over, CONTROL: Estimate(0.02, 100)})
    assert said(without)[1].endswith("without an interval, this may be chance.")


def test_an_undefined_ceiling_says_why_without_the_first_criterions_name() -> None:
    reason = Reason("who gave which rating is not known", unavailable="one more person", criteria=("Coherence",), of=2)
    why = Estimate.undefined(reason)
    assert why.reason == "undefined for Coherence (one more person unavailable: who gave which rating is not known)"
    unknown = replace(LEAD, bars={**LEAD.bars, CEILING: why}, over={**LEAD.over, CEILING: why})
    assert said(unknown)[2] == "One more person cannot be set beside it: who gave which rating is not known."


def test_all_undefined_says_so_and_names_no_best() -> None:
    nothing = replace(LEAD, value=Estimate.undefined("undefined for Empathy (all ratings equal)"))
    (only,) = said(nothing)
    assert only.startswith("On d (100 stories, 2 systems) agreement with people is undefined: ")
    assert "closest" not in only


def test_a_run_of_the_control_alone_says_what_it_is(demo_material: ReportInputs) -> None:
    sentences = headline.sentences(demo_material)
    assert sentences[0].startswith("No person rated the stories of demo: labels set by rule")
    assert sentences[1].startswith("The only judge run on demo (48 stories, 4 systems) is the control")
    assert any("over 12 cells (judge × Eval-Prompt × criterion)" in one for one in sentences)
    assert any("is the higher of 2 rows" in one or "(the higher of 2 rows" in one for one in sentences)
    (explained,) = [one for one in sentences if "explanations were" in one]
    assert explained.startswith("864 explanations were analysed: from the wording alone a classifier predicts")
    assert "not how good a judge is" in sentences[1]
    assert "1,728 of 1,728 repeats have a rating." in sentences
    # The control is not set beside itself.
    assert not [sentence for sentence in sentences if sentence.startswith("The control, which reads")]


def test_hanna_names_the_losses_and_what_cannot_be_known(hanna_run: Path, hanna_material: ReportInputs) -> None:
    sentences = headline.sentences(hanna_material)
    # 1,051 means off the scale, with those of the human stories: counted in the released file by tests of its import.
    frame = read([hanna_run]).frame
    lost = frame[(frame["source"] == "judge") & (frame["status"] == "out_of_scale")]
    assert len(lost) == 1051
    rest = sum(lost["system"] != "Human")
    assert f"{115_200 - rest:,} of 115,200 imported ratings can be used (lost: out of scale {rest:,})." in sentences
    assert sentences[-1] == ("ICC is undefined for imported ratings: repeats are not in the file, only their mean.")
