"""Which values show first: the order that lets queries share prefixes."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.records import Criterion
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import load_eval_prompt, prefix_order

CRITERION = Criterion("Zeal", "ZE", "how keen it is", guidelines=("a", "b", "c", "d", "e"))


def order(folder: Path, text: str) -> tuple[str, ...]:
    file = folder / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    return prefix_order(load_eval_prompt(file), CRITERION)


@pytest.mark.parametrize("name", ["ep1", "ep2", "ep3", "ep5"])
def test_the_shipped_ones_share_all_but_the_request_among_criteria(name: str) -> None:
    assert prefix_order(load_eval_prompt(name), CRITERION) == ("story_prompt", "story", "criterion")


def test_ep4_shows_the_reference_before_the_story() -> None:
    assert prefix_order(load_eval_prompt("ep4"), CRITERION) == ("story_prompt", "reference", "story", "criterion")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ criterion.name }} {{ story }}", ("criterion", "story")),
        ("{{ story }} {{ criterion.definition | upper }} {{ story_prompt }}", ("story", "criterion", "story_prompt")),
        ("From {{ criterion.scale.min }}: {{ story }}", ("criterion", "story")),
        ("{{ points[-1] }} {{ story }}", ("criterion", "story")),
        ("{{ story }}", ("story",)),
        ("---\nsystem: On {{ criterion.name }}.\n---\n{{ story }} {{ criterion.name }}", ("criterion", "story")),
        ("---\nsystem: You are a judge.\n---\n{{ story }} {{ criterion.name }}", ("story", "criterion")),
        ("{% if story | length > 3 %}{{ criterion.name }}{% endif %} {{ story }}", ("criterion", "story")),
    ],
)
def test_the_order_is_that_of_first_appearance(tmp_path: Path, text: str, expected: tuple[str, ...]) -> None:
    assert order(tmp_path, text) == expected


@pytest.mark.parametrize(("name", "first"), [("ep1", "story_prompt"), ("ep3", "story_prompt"), ("ep4", "story_prompt")])
def test_in_wording_mode_the_request_is_the_criterions(studies: Path, name: str, first: str) -> None:
    hanna = load_criteria("hanna", wording=studies / "hanna" / "eval_prompts.json")
    found = prefix_order(load_eval_prompt(name), hanna.pick("CH")[0], published=hanna.published)
    assert (found[0], found[-1]) == (first, "criterion")
