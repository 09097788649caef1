"""The golden tables under several arithmetics: `python -m tests.arithmetics [NAME...]`.

Processors and libraries round the last digits of sums differently, and no printed number may depend on it. An x86-64
processor can compute as older ones do: environment variables choose OpenBLAS's kernels and threads, and numpy's
SIMD. What each run then found is printed, and a variable that took no effect is a failure. The arithmetic
in which `make test` runs here is left out, as are kernels that this processor has not; at least three must remain, that
of `make test` among them. Names of files are hashed in another way in each run.

The golden group of the HANNA study needs JUDGE_DATA, as in `make test`.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.machine import Arithmetic, in_words

ROOT = Path(__file__).resolve().parents[1]
TESTS = "tests/golden_tables"
LEAST = 3
_AVX512 = ("AVX512", "X86_V4")
_AVX2 = (*_AVX512, "X86_V3", "AVX2", "FMA3")
"""How numpy's names of SIMD begin, in the versions that are supported."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """An arithmetic to run in: kernels of OpenBLAS, beginnings of names of SIMD that numpy does without, and
    threads.
    """

    name: str
    kernels: str
    without: tuple[str, ...]
    threads: int

    def environment(self, usual: Arithmetic) -> dict[str, str]:
        """Variables that choose this arithmetic on a machine whose usual one is `usual`."""
        off = [name for name in usual.simd if name.startswith(self.without)] if self.without else []
        count = str(self.threads)
        return {
            "OPENBLAS_CORETYPE": self.kernels,
            "OPENBLAS_NUM_THREADS": count,
            "OMP_NUM_THREADS": count,
            "NPY_DISABLE_CPU_FEATURES": " ".join(off),
            "PYTHONHASHSEED": count,
        }

    def missed(self, found: Arithmetic) -> list[str]:
        """What the variables were to bring about and did not."""
        kept = [name for name in found.simd if self.without and name.startswith(self.without)]
        return [
            *([] if found.kernels == [self.kernels] else [f"OpenBLAS uses {found.kernels}, not {self.kernels}"]),
            *([] if found.threads == [self.threads] else [f"OpenBLAS has {found.threads} threads, not {self.threads}"]),
            *([f"numpy still uses {' '.join(kept)}"] if kept else []),
        ]


WANTED = (
    Wanted("avx512", "SkylakeX", (), 2),
    Wanted("avx2", "Haswell", _AVX512, 2),
    Wanted("avx", "Sandybridge", _AVX2, 2),
    Wanted("sse", "Nehalem", _AVX2, 1),
)


def found_with(variables: Mapping[str, str]) -> Arithmetic:
    """The arithmetic of a process with these variables."""
    command = [sys.executable, "-m", "tests.machine", "--json"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, check=True)
    return Arithmetic(**json.loads(done.stdout))


def absent(wanted: Wanted, usual: Arithmetic) -> str | None:
    """Why an arithmetic is not run in, if it is not."""
    if not wanted.without and not any(name.startswith(_AVX512) for name in usual.simd):
        return "this processor has no AVX-512"
    if wanted.threads > (os.cpu_count() or 1):
        return f"this machine has fewer than {wanted.threads} processors"
    return None


def same(one: Arithmetic, other: Arithmetic) -> bool:
    """Whether two runs round alike."""
    return (one.kernels, one.threads, one.simd) == (other.kernels, other.threads, other.simd)


def passed(variables: Mapping[str, str]) -> tuple[bool, str]:
    """Run the golden tables with these variables: whether all passed, and how many."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", f"--junitxml={report}", TESTS]
        code = subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False).returncode
        cases = list(ET.parse(report).iter("testcase")) if report.is_file() else []  # noqa: S314  our own report
    right = sum(not len(case) for case in cases)
    return code == 0 and bool(cases), f"{right} of {len(cases)} golden tables"


def main(names: Sequence[str]) -> int:
    """Run in each arithmetic, or in those named; 1 where a test fails or a variable took no effect."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        print(f"this machine is {platform.machine()}: only x86-64 can compute as other processors do")
        return 0
    usual, tried, failures = found_with({"OPENBLAS_NUM_THREADS": "1"}), 1, []  # as tests/conftest.py has it
    print(f"make test: {in_words(usual)}", flush=True)
    for wanted in WANTED:
        reason = "not named" if names and wanted.name not in names else absent(wanted, usual)
        if reason:
            print(f"{wanted.name}: not run, {reason}", flush=True)
            continue
        variables = wanted.environment(usual)
        found = found_with(variables)
        print(f"{wanted.name}: {in_words(found)}", flush=True)
        if missed := wanted.missed(found):
            failures.append(f"{wanted.name}: {'; '.join(missed)}")
            continue
        tried += not same(found, usual)
        if same(found, usual):
            print(f"{wanted.name}: not run, as make test runs in it", flush=True)
            continue
        began = time.monotonic()
        right, counts = passed(variables)
        print(f"{wanted.name}: {counts} passed in {time.monotonic() - began:.0f} s", flush=True)
        failures += [] if right else [f"{wanted.name}: tests failed, {counts} passed"]
    if not names and tried < LEAST:
        failures.append(f"{tried} arithmetics are fewer than {LEAST}")
    print(
        "\n".join([f"FAILED {line}" for line in failures] or [f"equal in {tried} arithmetics, that of make test too"])
    )
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
