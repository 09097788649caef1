"""Benchmarks one after the other: `python -m tests.benchmarks`. Each also runs alone; `view` takes minutes."""

from __future__ import annotations

import subprocess
import sys

NAMES = (
    "startup",
    "throughput",
    "cpu",
    "joint",
    "kill",
    "faults",
    "statistics",
    "tables",
    "second_table",
    "coverage",
    "jury",
    "bundle",
    "view",
)


def main() -> int:
    """Run each in a process of its own; the exit code is the worst of theirs."""
    return max(
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode for name in NAMES
    )


if __name__ == "__main__":
    sys.exit(main())
