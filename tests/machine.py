"""On what the tests ran: `python -m tests.machine` prints Python, system, processor and libraries in one line."""

from __future__ import annotations

import json
import platform
import sys
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "scipy", "pandas")


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What decides how this process rounds: OpenBLAS's kernels and threads, and numpy's SIMD.

    `threads` are the numbers of threads of each OpenBLAS.
    """

    kernels: list[str]
    threads: list[int]
    simd: list[str]


def arithmetic() -> Arithmetic:
    """The arithmetic of this process."""
    import numpy as np
    import scipy.linalg  # noqa: F401  brings its own OpenBLAS
    from threadpoolctl import threadpool_info

    blas = [one for one in threadpool_info() if one.get("internal_api") == "openblas"]
    return Arithmetic(
        sorted({str(one["architecture"]) for one in blas}),
        sorted({int(one["num_threads"]) for one in blas}),
        list(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    )


def described() -> str:
    """One line that a report of a failure can begin with."""
    system = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()} ({sys.executable}), {system}, {in_words(arithmetic())}; {_libraries()}"


def in_words(found: Arithmetic) -> str:
    """An arithmetic in prose."""
    kernels, threads = " ".join(found.kernels) or "is not there", "/".join(map(str, found.threads))
    return f"numpy uses {' '.join(found.simd) or 'its baseline'}, OpenBLAS {kernels} in {threads} threads"


def _libraries() -> str:
    return ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


if __name__ == "__main__":
    print(json.dumps(asdict(arithmetic())) if "--json" in sys.argv else f"tests on {described()}")
