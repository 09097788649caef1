"""A run with explanations to look at: the packaged demo's journal, narrowed to a few stories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from judge.base.files import shipped
from judge.cli.main import main


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads of maps and clusters wait for each other more than they compute where other processes work."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        threadpool_limits = nullcontext
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Answers of the control judge: 12 stories, six criteria, Eval-Prompts 1 and 2, three repeats."""
    folder = tmp_path_factory.mktemp("explained") / "demo"
    folder.mkdir()
    spec = yaml.safe_load((shipped("runs") / "demo" / "run.yaml").read_text(encoding="utf-8"))
    (folder / "run.yaml").write_text(yaml.safe_dump(spec), encoding="utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["run", str(folder), "--limit", "12", "--quiet"])
    assert ended.value.code in (0, 3)  # 3: stories beyond the limit are missing
    return folder
