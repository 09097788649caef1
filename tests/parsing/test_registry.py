"""Parsers by name, and what is said about a name that is none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from judge.answers.parsing import known_parsers, parser
from judge.base.errors import SpecError


def test_both_parsers_are_known() -> None:
    assert {"ours", "as-published"} <= set(known_parsers())


def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(SpecError, match="did you mean 'ours'"):
        parser("our")


def test_parsing_imports_nothing_heavy() -> None:
    code = (
        "import sys; from judge.answers.parsing import parser; parser('ours'); parser('as-published')\n"
        "print([m for m in ('numpy', 'pandas', 'scipy', 'pydantic') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
