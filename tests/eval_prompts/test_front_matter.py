"""Front matter: what it may say, and that errors in it count lines from the file's first."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import TemplateError
from judge.inputs.eval_prompts import load_eval_prompt

BODY = "{{ story }}"


def write(folder: Path, text: str) -> Path:
    file = folder / "mine.jinja"
    file.write_text(text, encoding="utf-8")
    return file


def test_every_key_is_read(tmp_path: Path) -> None:
    keys = "description: d\nneeds_guidelines: true\nneeds_reference: true\nexplains: true\nsystem: s\npublished: EP2\n"
    prompt = load_eval_prompt(write(tmp_path, f"---\n{keys}---\n{BODY}"))
    assert (prompt.description, prompt.published) == ("d", "EP2")
    assert prompt.needs_guidelines
    assert prompt.needs_reference
    assert prompt.asks_explanation
    assert prompt.system is not None


@pytest.mark.parametrize(
    "text", [BODY, f"---\n---\n{BODY}", f"---\n# nothing\n---\r\n{BODY}", f"\ufeff---\n---\n{BODY}"]
)
def test_all_of_it_may_be_left_out(tmp_path: Path, text: str) -> None:
    prompt = load_eval_prompt(write(tmp_path, text))
    assert (prompt.description, prompt.published, prompt.system) == ("", None, None)
    assert {prompt.needs_guidelines, prompt.needs_reference, prompt.asks_explanation} == {False}
    assert prompt.body.source == BODY


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (f"---\nexplains: true\n{BODY}", "line 1: the front matter that begins here has no end"),
        ("---\nexplains: true\nneed_reference: true\n---\n", "line 3: key 'need_reference' is not known; did you"),
        (f"---\nexplains: 'yes'\n---\n{BODY}", "line 2: explains should be a valid boolean; found 'yes'"),
        (f"---\ndescription: d\npublished: one\n---\n{BODY}", "line 3: published string should match pattern"),
        (f"---\nexplains: true\nexplains: false\n---\n{BODY}", "line 3: key 'explains' is there twice"),
        (f"---\ndescription: [\n---\n{BODY}", "not YAML"),
        (f"---\n- a\n---\n{BODY}", "the file should be a valid dictionary"),
        ("---\nexplains: true\n---\n \n", "line 4: there is no text"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_file_and_line(tmp_path: Path, text: str, sentence: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(TemplateError) as caught:
        load_eval_prompt(file)
    assert str(caught.value).startswith(str(file))
    assert sentence in str(caught.value)
