"""What stress tests find of judges of known kind: the control on MANS-ROC, and, asked for, SmolLM2 (five minutes).

`python -m tests.benchmarks.stress [--model] [-o FOLDER]`; needs JUDGE_DATA and the extra `stress` with a tagger, and
with --model also the extra `local` with its model's package.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from judge.cli.main import main as judge
from tests.benchmarks.figures import Figure, show

_RUN = """
name: stress
judge: {judge}
dataset: {stories}
criteria: {{set: hanna, only: [Coherence]}}
eval_prompts: [ep1]
repeats: 1
"""
_SCORED = """
structured: choice
scoring: logprobs
generation: {temperature: 0, max_tokens: 4}
concurrency: 2
attempt_timeout: 300
"""
_STUDY = ("negation", "unrelated-words", "unrelated-sentence", "character", "causal", "temporal", "sentence-shuffle")
_SHOWN = ("lexical-repetition", *_STUDY[:3], "sentence-shuffle", "typos", "contractions")
_ORIGINS = 40


def control(folder: Path) -> list[Figure]:
    """Detection by the shipped surface judge on the 200 human stories of MANS-ROC, each change once."""
    rows = _rows(folder, "surface", ("lexical-repetition", *_STUDY), "1")
    found = {row["perturbation"]: row for row in rows}
    figures = [Figure("lexical-repetition", found["lexical-repetition"]["detection"], ">= .97", "detection")]
    for name in _STUDY:
        if name in found:
            figures.append(
                Figure(name, found[name]["detection"], "<= .60", "detection", f"{found[name]['pairs']} pairs")
            )
    return figures


def model(folder: Path) -> list[Figure]:
    """Detection by SmolLM2 from log-probabilities on 40 stories, as docs/stress_report.md shows it; no bar."""
    rows = _rows(folder, "local/smollm2", _SHOWN, "1,4", origins=_ORIGINS, more=_SCORED)
    return [
        Figure(f"{row['perturbation']} {row['strength']}", row["detection"], "", "detection", f"{row['pairs']} pairs")
        for row in rows
    ]


def _rows(
    folder: Path, name: str, changes: tuple[str, ...], strengths: str, *, origins: int | None = None, more: str = ""
) -> list[dict[str, object]]:
    """One row a perturbation and strength, from making the stories to the report."""
    folder.mkdir(parents=True, exist_ok=True)
    stories = folder / "stress.jsonl"
    asked = [word for change in changes for word in ("--perturbation", change)]
    _done("stress", "make", "mans_roc", "--references", "--strength", strengths, *asked, "-o", stories, "--quiet")
    if origins is not None:
        _first(stories, origins)
    (folder / "run.yaml").write_text(_RUN.format(judge=name, stories=stories) + more, encoding="utf-8")
    _done("run", folder, "--quiet")
    _done(
        "stress",
        "report",
        folder,
        "--set",
        "long=true",
        "--set",
        "control=false",
        "--format",
        "json",
        "-o",
        folder / "report.json",
    )
    rows: list[dict[str, object]] = json.loads((folder / "report.json").read_text(encoding="utf-8"))["rows"]
    return rows


def _first(stories: Path, origins: int) -> None:
    """Keep the first origins: their untouched and perturbed stories."""
    lines = stories.read_text(encoding="utf-8").splitlines(keepends=True)
    names = [json.loads(line)["id"].rpartition("@")[0] for line in lines]
    kept = set(list(dict.fromkeys(names))[:origins])
    some = [line for line, name in zip(lines, names, strict=True) if name in kept]
    stories.write_text("".join(some), encoding="utf-8")


def _done(*words: object) -> None:
    try:
        judge([str(word) for word in words])
    except SystemExit as stop:
        if stop.code:
            raise


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", action="store_true", help="also SmolLM2")
    parser.add_argument("-o", "--output", type=Path, help="folder to keep stories and runs in")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = asked.output or Path(made)
        show("Stress tests: the control on MANS-ROC", control(folder / "control"))
        if asked.model:
            show("Stress tests: SmolLM2, Coherence, 40 stories of MANS-ROC", model(folder / "model"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
