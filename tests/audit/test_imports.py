"""What an audit needs: the core packages for its report, and next to nothing to answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
_BLOCKED = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {extras!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Refuse())
from judge.cli.main import main
main(["audit", "report", sys.argv[1], "--resamples", "100"])
"""
_EXTRAS = {
    "pingouin", "sklearn", "statsmodels", "pyarrow", "duckdb", "matplotlib", "torch", "transformers",
    "sentence_transformers", "umap", "starlette", "uvicorn", "keybert", "yake", "ray",
}  # fmt: skip


def _python(code: str, *arguments: object) -> str:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    env = os.environ | {"PYTHONPATH": str(_ROOT)}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout


def test_the_report_needs_the_core_alone(study: Path) -> None:
    assert "Krippendorff's alpha" in _python(_BLOCKED.replace("{extras!r}", repr(_EXTRAS)), study)


def test_answering_loads_no_arrays_or_tables() -> None:
    loaded = _python(
        "import sys; import judge.explanations.audit.store, judge.explanations.audit.answers_file;"
        "import judge.explanations.audit.adjudication;"
        "print(sorted({'numpy', 'pandas', 'scipy'} & set(sys.modules)))"
    )
    assert loaded == "[]\n"
