"""What templates may not do, and where an error says it happened: file, line, variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import TemplateError
from judge.base.records import Criterion, Story
from judge.inputs.eval_prompts import load_eval_prompt

HEAD = "---\ndescription: x\n---\nOne line.\n"  # so the template's second line is line 5 of the file
STORY = Story("s1", "A door.", "GPT-2", "It opened.")
CRITERION = Criterion("Pace", "PA", "how fast it is")


def load(folder: Path, text: str) -> TemplateError:
    """The error that loading the template raises."""
    file = folder / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(TemplateError) as caught:
        load_eval_prompt(file)
    return caught.value


def render(folder: Path, text: str) -> TemplateError:
    """The error that rendering the template raises."""
    file = folder / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    prompt = load_eval_prompt(file)
    with pytest.raises(TemplateError) as caught:
        prompt.render(STORY, CRITERION)
    return caught.value


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{{ stroy }}", "variable 'stroy' is not offered; did you mean 'story'? (offered: story_prompt, story, "),
        ("{{ system }}", "variable 'system' is not offered"),
        ("{% if rating %}{% endif %}", "variable 'rating' is not offered"),
        ("{{ lipsum() }}", "variable 'lipsum' is not offered"),
        ("{{ criterion.defintion }}", "variable 'criterion.defintion' is not offered; did you mean 'criterion.def"),
        ("{{ criterion['nam'] }}", "variable 'criterion.nam' is not offered; did you mean 'criterion.name'?"),
        ("{{ criterion.scale.top }}", "variable 'criterion.scale.top' is not offered"),
        ("{{ criterion.__class__ }}", "variable 'criterion.__class__' is not offered"),
        ("{{ story", "unexpected end of template"),
        ("{% if story %}", "Unexpected end of template"),
        ("{{ story | random }}", "No filter named 'random'"),
        ("{{ story | shout }}", "No filter named 'shout'"),
        ("{% include 'ep1.jinja' %}", "an Eval-Prompt is one file"),
        ("{% import 'ep1.jinja' as x %}", "an Eval-Prompt is one file"),
    ],
)  # fmt: skip
def test_a_wrong_template_is_refused_when_it_is_loaded(tmp_path: Path, line: str, sentence: str) -> None:
    error = load(tmp_path, HEAD + line)
    assert f"{tmp_path / 'mine.jinja'}, line 5: {sentence}".lower() in str(error).lower()
    assert error.hint == f"line 5 reads: {line}"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{{ reference }}", "variable 'reference' has no value here"),
        ("{{ story.titel }}", "variable 'titel' has no value here"),
        ("{{ points[9] }}", "has no element 9"),
        ("{{ story.__class__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("{% set c = criterion %}{{ c.__class__ }}", "access to attribute '__class__'"),
        ("{{ ''.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("{{ story['__class__'] }}", "access to attribute '__class__'"),
        ("{{ '{0.__class__}'.format(story) }}", "access to attribute '__class__'"),
        ("{{ story | attr('__class__') }}", "access to attribute '__class__'"),
        ("{{ story + 1 }}", "TypeError: can only concatenate str"),
        ("{{ 1 / (points[0] - 1) }}", "ZeroDivisionError: division by zero"),
        ("{% for i in range(10**9) %}{% endfor %}", "OverflowError: Range too big"),
    ],
)
def test_a_template_that_cannot_be_rendered_says_where(tmp_path: Path, line: str, sentence: str) -> None:
    error = render(tmp_path, HEAD + line)
    assert str(error).startswith(f"{tmp_path / 'mine.jinja'}, line 5: ")
    assert sentence in str(error)


def test_lines_are_counted_without_front_matter_too(tmp_path: Path) -> None:
    assert "line 2: variable 'x' is not offered" in str(load(tmp_path, "One\n{{ x }}"))


def test_an_error_in_a_system_message_names_its_line(tmp_path: Path) -> None:
    assert "line 2: variable 'x' is not" in str(load(tmp_path, "---\nsystem: a {{ x }}\n---\n{{ story }}"))
    assert "line 4: variable 'x' is not" in str(load(tmp_path, "---\nsystem: |\n  a\n  {{ x }}\n---\n{{ story }}"))


def test_what_a_template_sets_itself_is_known_to_it(tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(
        "{% set n = story.split() | length %}{% for p in points %}{{ p }}{% endfor %} {{ n }}", encoding="utf-8"
    )
    assert load_eval_prompt(file).render(STORY, CRITERION)[0].content == "12345 2"


def test_a_block_tag_on_a_line_of_its_own_leaves_no_line_behind(tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text("a\n  {% if story %}\nb\n  {% endif %}\nc\n", encoding="utf-8")
    assert load_eval_prompt(file).render(STORY, CRITERION)[0].content == "a\nb\nc"
