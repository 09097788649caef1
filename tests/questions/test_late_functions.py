"""Functions that a question names and whose modules are imported when they are called."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from judge.questions import agreement, failings
from judge.questions.answer import Function, _Module, late
from judge.questions.registry import QUESTIONS, question

COMPUTING = (
    "judge.analysis.agreement.",
    "judge.analysis.reliability.",
    "judge.analysis.diagnose",
    "judge.contamination",
)
OF_OPTIONS = {"judge.contamination", "judge.contamination.options"}


def test_every_late_module_is_there_and_every_way_names_a_function_of_it() -> None:
    stood_in = [value for module in (agreement, failings) for value in vars(module).values() if type(value) is _Module]
    assert len(stood_in) == 24
    for each in stood_in:
        import_module(each._name)
    found: list[Any] = [
        getattr(way, part)
        for name in QUESTIONS
        for way in question(name).ways.values()
        for part in ("compute", "tables")
    ]
    functions = [each.func if isinstance(each, partial) else each for each in found]
    named = [each for each in functions if isinstance(each, Function)]
    assert len(named) > 20
    assert [each for each in named if not callable(getattr(import_module(each.module), each.name, None))] == []


def test_a_late_function_is_that_of_its_module_and_equal_to_itself() -> None:
    (fingerprints,) = late("judge.base", "fingerprint")
    assert fingerprints.text_key("a") == import_module("judge.base.fingerprint").text_key("a")
    assert fingerprints.text_key == fingerprints.text_key
    assert len({fingerprints.text_key, fingerprints.text_key, fingerprints.digest}) == 2


def test_no_computation_is_imported_before_its_layout_is_asked() -> None:
    code = "import sys, judge.questions.agreement, judge.questions.failings; print(*sys.modules)"
    env = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    imported = done.stdout.split()
    assert "judge.questions.agreement" in imported
    assert [name for name in imported if name.startswith(COMPUTING) and name not in OF_OPTIONS] == []
