"""A run that people rated, by a language model's recorded answers: GPT-4's to the tests of Art or Artifice."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.cli.main import main


@pytest.fixture(scope="session")
def rated_run(studies: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run's folder, finished."""
    folder = tmp_path_factory.mktemp("certificate") / "ttcw"
    answers = studies / "ttcw" / "llm_answers" / "annotations_gpt4.jsonl"
    for words in (
        ["import", str(answers), "--judge", "gpt4", "-o", str(folder)],
        ["run", str(folder), "--quiet"],
    ):
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert not ended.value.code
    return folder
