"""`problems`: what an Eval-Prompt promises and what it does."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.inputs.eval_prompts import load_eval_prompt, shipped_eval_prompts
from judge.inputs.eval_prompts.check import problems

GOOD = "{{ story }} {{ criterion.name }}"


@pytest.mark.parametrize("name", shipped_eval_prompts())
def test_the_shipped_ones_are_sound(name: str) -> None:
    assert problems(load_eval_prompt(name).file) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{{ stroy }}", "variable 'stroy' is not offered"),
        (f"---\nneeds_guidelines: true\n---\n{GOOD}", "says needs_guidelines, and never uses criterion.guidelines"),
        (f"---\nneeds_reference: true\n---\n{GOOD}", "says needs_reference, and never uses reference"),
        (GOOD + "{{ criterion.guidelines }}", "uses criterion.guidelines, and the front matter does not say"),
        (GOOD + "{{ reference }}", "line 1: variable 'reference' has no value here"),
        ("{{ criterion.name }}", "never shows the story"),
        ("{{ story }}", "never names the criterion"),
        (GOOD + " ", "the user message begins or ends with blank space"),
        (f"---\nsystem: 'You judge. '\n---\n{GOOD}", "the system message begins or ends with blank space"),
        (GOOD + "{% if not story_prompt %}{{ reference.x }}{% endif %}", "variable 'x' has no value here"),
    ],
)
def test_a_problem_is_a_sentence_that_names_the_file(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    found = problems(file)
    assert all(problem.startswith(str(file)) for problem in found)
    assert any(sentence in problem for problem in found), found


def test_a_template_that_says_it_can_do_without_is_taken_at_its_word(tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    head = "---\nneeds_reference: false\n---\n"
    file.write_text(head + GOOD + "{% if reference is defined %} {{ reference }}{% endif %}", encoding="utf-8")
    assert problems(file) == []
