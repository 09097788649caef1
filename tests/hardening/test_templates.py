"""Class 2: a stranger's Eval-Prompt: escapes, endless loops, memory, length; each ends in a sentence in time."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from judge.base.errors import TemplateError
from judge.inputs.eval_prompts import apart
from judge.inputs.eval_prompts.sandbox import CriterionView, ScaleView, _environment, compile_template, is_plain
from judge.inputs.eval_prompts.template import shipped_eval_prompts
from tests.hardening.conftest import Call, Make, held

_SCALE = ScaleView(1, 5, 1, ())
VALUES = {
    "story": "The lamp went out. " * 50,
    "story_prompt": "A lamp",
    "criterion": CriterionView("Clarity", "CL", "how clear", ("a", "b"), _SCALE, (1, 2, 3, 4, 5)),
    "points": (1, 2, 3, 4, 5),
}


def render(text: str) -> str:
    return compile_template(text, file=Path("theirs.jinja")).render(VALUES)


QUICK = {
    "repeat": "{{ 'a' * 10000000000 }}",
    "repeat a list": "{{ [1] * 10000000000 }}",
    "repeat a repeat": "{{ ('a' * 100000) * 100000 }}",
    "center": "{{ 'a'|center(10000000000) }}",
    "a method": "{{ 'a'.ljust(10000000000) }}",
    "zeros": "{{ '1'.zfill(10000000000) }}",
    "bytes": "{{ (1).to_bytes(10000000000) }}",
    "indent": "{{ story|indent(10000000000) }}",
    "batch": "{{ points|batch(10000000000, 'x')|list }}",
    "recursion": "{% macro f(n) %}{{ f(n) }}{% endmacro %}{{ f(1) }}",
    "recursive loop": "{% for x in [[1]] recursive %}{{ loop([[1]]) }}{% endfor %}",
    "nested": "{{ " + "(" * 100_000 + " }}",
    "nested lists": "{{ " + "[" * 100_000 + " }}",
    "nested blocks": "{% if 1 %}" * 5000,
    "a large range": "{{ range(1000000000)|list }}",
    "long text": "{% for i in range(99999) %}" + "{{ story }}" * 10 + "{% endfor %}",
    "doubling": "{% set a = story %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
    "a doubling block": "{% set a %}{{ story }}{% endset %}" + "{% set a %}{{ a }}{{ a }}{% endset %}" * 40 + "{{ a }}",
    "replace": "{{ story|replace('', story * 1000)|replace('', story * 1000) }}",
    "expandtabs": "{{ ('\t' * 100000).expandtabs(1000000) }}",
    "include": "{% include '/etc/passwd' %}",
    "import": "{% import '/etc/passwd' as x %}",
    "extends": "{% extends '/etc/passwd' %}",
    "class": "{{ ''.__class__.__mro__ }}",
    "class by item": "{{ ''['__class__'] }}",
    "class by attr": "{{ ''|attr('__class__') }}",
    "globals": "{{ range.__init__.__globals__ }}",
    "self": "{{ self.__init__ }}",
    "format": "{{ '{0.__class__.__mro__}'.format('') }}",
    "format of a view": "{{ '{0.__class__.__init__.__globals__}'.format(criterion) }}",
    "format_map": "{{ '{a.__class__}'.format_map({'a': 1}) }}",
    "join and class": "{{ ''[['__cla', 'ss__']|join] }}",
    "cycler": "{{ cycler.__init__ }}",
    "lipsum": "{{ lipsum.__globals__ }}",
    "namespace": "{{ namespace.__init__.__globals__ }}",
    "loop": "{% for x in points %}{{ loop.__class__ }}{% endfor %}",
    "random": "{{ points|random }}",
    "undefined": "{{ nobody }}",
    "an infinite number": "{{ 1e400|int }}",
    "an infinite product": "{{ story[:1e308 * 10] }}",
    "syntax": "{{ story",
    "unknown filter": "{{ story|system }}",
    "too long a template": "a" * (1 << 20) + "b",
}


@pytest.mark.parametrize("what", QUICK)
def test_a_hostile_template_ends_in_a_sentence(what: str) -> None:
    began = time.perf_counter()
    with pytest.raises(TemplateError, match=r"theirs\.jinja"):
        render(QUICK[what])
    assert time.perf_counter() - began < apart.SECONDS + apart.GRACE + 5


ENDLESS = {
    "loops": "\n{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
    "macros": "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}\n{{ f(100) }}",
    "sums": "\n{% for i in range(99999) %}{{ range(99999)|sum }}{% endfor %}",
    "a power in C": "\n{{ 1|round(100000000, 'ceil') }}",
    "sorting": "\n{% for i in range(99999) %}{% set x = range(99999)|sort %}{% endfor %}",
}


@pytest.mark.parametrize("what", ENDLESS)
def test_an_endless_template_is_stopped(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    apart._end()
    monkeypatch.setattr(apart, "SECONDS", 0.0)
    monkeypatch.setattr(apart, "GRACE", 0.5)
    began = time.perf_counter()
    with pytest.raises(TemplateError, match=r"theirs\.jinja.*takes longer"):
        render(ENDLESS[what])
    assert time.perf_counter() - began < 20
    # The next one is served by a fresh process.
    monkeypatch.undo()
    assert render("{{ 'ab' * 2 }}") == "abab"


def test_an_endless_loop_is_blamed_by_its_line() -> None:
    with pytest.raises(TemplateError, match=r"theirs\.jinja, line 2: .*takes longer than 5 s"):
        render(ENDLESS["loops"])


def test_memory_is_not_this_process_own() -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for what in ("repeat", "doubling", "long text"):
        with pytest.raises(TemplateError):
            render(QUICK[what])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000


def test_values_are_never_templates() -> None:
    for text in ("{{ 7 * 7 }}", "{% raw %}", "{# #}", "{{ story }}"):
        assert compile_template("{{ story }}", file=Path("x")).render({"story": text}) == text


@pytest.mark.parametrize("name", shipped_eval_prompts())
def test_shipped_templates_are_rendered_here(name: str) -> None:
    from judge.inputs.eval_prompts import load_eval_prompt

    prompt = load_eval_prompt(name)
    assert is_plain(_environment().parse(prompt.body.source)), name


@pytest.mark.parametrize("what", ["repeat", "recursion", "long text"])
def test_a_run_with_such_a_template_asks_nothing(make: Make, call: Call, what: str) -> None:
    place = make(eval_prompts="./theirs.jinja")
    (place / "theirs.jinja").write_text("{{ story }} {{ criterion.name }}\n" + QUICK[what])
    held(call("run", place, "--quiet"), "theirs.jinja")
    assert call("prompts", "check", place / "theirs.jinja")[0] == 4
