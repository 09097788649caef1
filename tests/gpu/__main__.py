"""Runs on a graphics card what runs elsewhere on a processor or not at all: `python -m tests.gpu [-o FOLDER]`.

Each part is a process of its own with a limit of time; what lacks a package or a card is said, and is no failure. The
report, `gpu.md` in FOLDER, begins with what was run and what was not. Nothing is downloaded. Exit code 1 where a part
failed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "--no-header")


@dataclass(frozen=True, slots=True)
class Part:
    """What is run, the packages it takes, and the arguments of Python."""

    name: str
    packages: tuple[str, ...]
    arguments: tuple[str, ...]
    seconds: int = 150


HF = ("torch", "transformers")
PARTS = (
    Part("transformers: batches, seeds, constraints, log-probabilities", HF, (*PYTEST, "tests/vllm/test_hf.py")),
    Part("contamination scores by transformers", HF, (*PYTEST, "tests/vllm/test_contamination.py")),
    Part("answers a second, and Min-K% against a loop, by a model of 850 million weights", HF,
         ("-m", "tests.gpu.speed"), 240),
    Part("vLLM in this process: repeats, adapters, quantization, several cards, prefix cache", ("vllm",),
         (*PYTEST, "tests/vllm/test_vllm_engine.py"), 240),
    Part("vLLM's server, Ray and batches with one run definition", ("vllm", "ray"),
         (*PYTEST, *(f"tests/vllm/test_{name}.py" for name in ("executors", "run_batch", "ray_server"))), 240),
    Part("judge train --encoder", ("sentence_transformers", "datasets", "accelerate"),
         (*PYTEST, "tests/explain/test_encoder.py")),
)  # fmt: skip


def card() -> str | None:
    """Name of the first graphics card that torch sees; None without any."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    return str(torch.cuda.get_device_name(0)) if torch.cuda.is_available() else None


def lacking(part: Part) -> list[str]:
    return [name for name in part.packages if importlib.util.find_spec(name) is None]


def run(part: Part) -> tuple[bool, float, str]:
    """Whether it ended well, its seconds, and the end of what it printed."""
    began = time.monotonic()
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{os.environ.get('PYTHONPATH', '')}", "HF_HUB_OFFLINE": "1"}
    try:
        ended = subprocess.run(
            [sys.executable, *part.arguments], cwd=ROOT, env=environment, capture_output=True, text=True,
            timeout=part.seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        printed = late.stdout.decode(errors="replace") if isinstance(late.stdout, bytes) else ""
        return False, time.monotonic() - began, f"{printed[-1500:]}\nended after {part.seconds} s"
    printed = ended.stdout + ("" if ended.returncode == 0 else ended.stderr)
    return ended.returncode == 0, time.monotonic() - began, printed[-3000:]


def report(told: str | None, rows: Sequence[tuple[Part, str, float, str]]) -> str:
    """The report as Markdown; `rows` are the parts with what became of them, seconds, and what was printed."""
    done = [part.name for part, became, _, _ in rows if became == "run"]
    lines = [f"Graphics card: {told or 'none'}. Python {platform.python_version()}.", ""]
    lines += [f"Run ({len(done)} of {len(rows)}): {'; '.join(done) or 'nothing'}.", ""]
    lines += [f"Not run: {part.name}: {became}." for part, became, _, _ in rows if became not in ("run", "FAILED")]
    lines += [f"FAILED: {part.name}." for part, became, _, _ in rows if became == "FAILED"]
    for part, _, seconds, printed in rows:
        if printed:
            lines += ["", f"## {part.name} ({seconds:.0f} s)", "", "```text", printed.strip(), "```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    """Run all parts and write the report."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("-o", "--output", type=Path, default=Path(), help="folder for gpu.md")
    output = made.parse_args().output
    told = card()
    rows: list[tuple[Part, str, float, str]] = []
    for part in PARTS:
        missing = lacking(part)
        if told is None or missing:
            why = f"{' and '.join(missing)} not installed" if missing else "no graphics card here"
            rows.append((part, why, 0.0, ""))
            continue
        good, seconds, printed = run(part)
        rows.append((part, "run" if good else "FAILED", seconds, printed))
    text = report(told, rows)
    output.mkdir(parents=True, exist_ok=True)
    (output / "gpu.md").write_text(text, encoding="utf-8")
    print(text)
    return int(any(became == "FAILED" for _, became, _, _ in rows))


if __name__ == "__main__":
    raise SystemExit(main())
