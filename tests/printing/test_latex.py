"""Text for LaTeX: what the shipped tables hold is set by plain pdflatex, and nothing is lost of what is not."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from judge.base.printing import tables as latex
from tests.report import runs


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ep2 − ep1", "ep2 $-$ ep1"),
        ("tau ×100, ±0.5 — R²", r"tau $\times$100, $\pm$0.5 --- R$^2$"),
        ("“a” ‘b’ 1–2 …", r"``a'' `b' 1--2 \ldots{}"),
        ("α ω Δ p <0.001", r"$\alpha$ $\omega$ $\Delta$ p \textless{}0.001"),
        ("a_b & 100 % {x} $1 #2", r"a\_b \& 100 \% \{x\} \$1 \#2"),
        ("~ ^ \\", r"\textasciitilde{} \textasciicircum{} \textbackslash{}"),
        ("naïve é 評 א", "naïve é 評 א"),
    ],
)  # fmt: skip
def test_signs_become_commands_and_letters_stay(words: str, expected: str) -> None:
    assert latex.latex_text(words) == expected


def test_a_bar_stays_a_bar_in_a_signature_and_a_note_is_not_escaped() -> None:
    assert latex.latex_text("a|b") == r"a\textbar{}b"
    assert latex.latex_monospaced("a|b_c") == r"a|b\_c"
    assert latex.latex_comment("100 % − a_b") == "100 % $-$ a_b"


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = runs.demo(tmp_path_factory.mktemp("latex") / "demo")
    assert runs.command("audit", "sample", folder, "-n", "12") == 0
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "status RUN",
        "ratings RUN",
        "coverage RUN",
        "consistency RUN",
        "correlate RUN --resamples 20",
        "correlate RUN --level system --resamples 20",
        "compare RUN --by eval_prompt --resamples 20 --set permutations=20",
        "systems RUN --resamples 20",
        "diagnose RUN --layout criteria --resamples 20",
        "diagnose RUN",
        "diagnose RUN --layout stories",
        "jury RUN --resamples 20 --set foldings=1",
        "explain RUN --quiet",
        "explain RUN --layout clusters --quiet --set permutations=19 --set refits=19 --resamples 20",
        "run RUN --dry-run",
        "doctor",
        "data list",
        "data check demo",
        "prompts list",
    ],
)
def test_every_shipped_table_holds_what_plain_pdflatex_sets(
    line: str, demo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [str(demo) if word == "RUN" else word for word in shlex.split(line)]
    assert runs.command(*arguments, "--format", "latex") == 0
    out = capsys.readouterr().out
    assert r"\begin{tabular}" in out
    assert {character for character in out if ord(character) > 0xFF} == set()
