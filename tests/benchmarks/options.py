"""Command-line options that all benchmarks take. Never measures."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def parser(description: str | None, *, rounds: int) -> argparse.ArgumentParser:
    """A parser with the common options; a script adds its own."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--server", choices=["loopback", "mock"], default="loopback", help="who answers")
    made.add_argument("--mock-script", type=Path, help="the program to start with --server mock")
    made.add_argument(
        "--command",
        type=shlex.split,
        default=[sys.executable, "-m", "judge"],
        help="the program to measure (default: python -m judge)",
    )
    made.add_argument("--rounds", type=int, default=rounds, help=f"rounds of each figure (default {rounds})")
    made.add_argument(
        "--chars", type=int, default=2200, help="length of a story (default 2200: about 600 tokens a request)"
    )
    made.add_argument("--keep", type=Path, help="work in this folder and leave it there")
    return made


def check(given: argparse.Namespace) -> argparse.Namespace:
    """Refuse options that do not fit together."""
    if given.server == "mock" and (given.mock_script is None or not given.mock_script.is_file()):
        raise SystemExit("error: --server mock needs --mock-script PATH")
    return given
