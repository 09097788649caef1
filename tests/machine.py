"""On what the tests ran: `python -m tests.machine` prints Python, system, processor and libraries in one line."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = ("numpy", "scipy", "pandas", "numba")


def described() -> str:
    """One line that a report of a failure can begin with."""
    system = f"{platform.system()} {platform.machine()}"
    return f"Python {platform.python_version()} ({sys.executable}), {system}, {_processor()}; {_libraries()}"


def _processor() -> str:
    import numpy as np
    import scipy.linalg  # noqa: F401  brings its own OpenBLAS
    from threadpoolctl import threadpool_info

    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    kernels = sorted({str(one["architecture"]) for one in threadpool_info() if one.get("internal_api") == "openblas"})
    return f"numpy uses {' '.join(found) or 'its baseline'}, OpenBLAS {' '.join(kernels) or 'is not there'}"


def _libraries() -> str:
    return ", ".join(f"{name} {_version(name)}" for name in LIBRARIES)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"


if __name__ == "__main__":
    print(f"tests on {described()}")
