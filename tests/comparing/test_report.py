"""`judge report` on comparisons alone: answers from the values, the sections of such a run, and none about ratings."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from judge.asking.execution.session import sit
from judge.base.errors import SpecError
from judge.questions.summary import preferences as preference_headline
from judge.show.report import ReportInputs, ReportOptions, checklist, methods, page_sections
from judge.show.report import html as page_of
from tests.comparing.conftest import sitting

_PLAIN = {"judge": "surface", "base_url": [], "generation": {}}
_SECTIONS = ["summary", "agreement", "order", "systems", "stories", "transitivity"]


@pytest.fixture
def compared(stories: Path) -> ReportInputs:
    """The control's comparisons of twelve stories, ten of its twelve pairs."""
    sit(sitting(None, stories, folder="pairs", limit=10, **_PLAIN))
    return ReportInputs.read([str(stories.parent / "pairs")], ReportOptions(command="judge report pairs"))


def test_a_page_of_comparisons_has_their_sections_and_none_that_needs_ratings(compared: ReportInputs) -> None:
    made = list(page_sections(compared))
    assert [one.identity for one in made] == [*_SECTIONS, "coverage", "methods", "checklist", "asked", "words"]
    page = page_of(compared, made)
    assert "cannot be shown" not in page
    assert "<title>surface on " in page
    assert 'class="absent"' not in page


def test_the_first_box_says_what_the_values_say(compared: ReportInputs) -> None:
    told = {one.question: one for one in preference_headline.answers(compared)}
    (row,) = [one for one in compared.preferences.agreement.rows if one.kind == "judge"]
    half = row.agreement.half
    assert half.value is not None
    agreement = told["Does the judge prefer what people prefer?"]
    assert f"{100 * half.value:.1f} %" in agreement.sentences[0]
    assert f"of {half.n} pairs" in agreement.sentences[0]
    assert agreement.verdict == preference_headline.of_preferences(row)
    lost = told["What share of the comparisons has no verdict?"]
    assert lost.verdict is not None
    assert lost.verdict.text == "nothing"
    assert lost.sentences[0].startswith("Nothing was lost: each of the 20 comparisons")
    assert lost.sentences[1] == "4 planned repeats have not been requested yet."
    assert any("implied" in said for said in told["What limits these figures?"].sentences)


def test_what_a_paper_needs_is_about_comparisons(compared: ReportInputs) -> None:
    text = methods.paragraph(compared)
    assert "compared them two by two on Overall with Eval-Prompt pair2, each pair in both orders" in text
    assert "10 of the dataset" in text
    assert "Bradley-Terry" in text
    assert "bradley-terry-1952-rank" in methods.cited(text)
    assert "tau-b" not in text
    found = {item.question: item for item in checklist.checklist(compared)}
    assert found["The comparisons are complete"].state == "gap"
    assert found["Each pair requested in both orders"].state == "met"
    assert found["Repeats, to separate noise from position bias"].state == "gap"


def test_comparisons_beside_ratings_are_a_part_of_the_page_of_ratings(stories: Path) -> None:
    sit(sitting(None, stories, folder="pairs", **_PLAIN))
    rated = {"pairs": None, "eval_prompts": ["ep1"], **_PLAIN}
    sit(sitting(None, stories, folder="ratings", **rated))
    folders = [str(stories.parent / name) for name in ("ratings", "pairs")]
    inputs = ReportInputs.read(folders, ReportOptions(resamples=20, permutations=20))
    made = {one.identity: one for one in page_sections(inputs)}
    assert {"agreement", "preferences", "consistency"} <= made.keys()
    assert "Does the judge prefer what people prefer?" in html.unescape("".join(map(str, made["summary"].blocks)))
    captions = re.findall(r"<caption>(.*?)</caption>", "".join(map(str, made["asked"].blocks)))
    assert len(captions) == 2


@pytest.mark.parametrize("option", [{"pass_rate": True}])
def test_what_is_made_of_ratings_alone_is_refused(stories: Path, option: dict[str, bool]) -> None:
    sit(sitting(None, stories, folder="pairs", **_PLAIN))
    with pytest.raises(SpecError, match="these compare them"):
        ReportInputs.read([str(stories.parent / "pairs")], ReportOptions(**option))
