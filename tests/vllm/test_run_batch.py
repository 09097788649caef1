"""A run half through a vLLM server, half through `vllm run-batch`: one journal, and its queries verify."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from judge.answers.journal import JournalReader
from judge.asking.execution.verification import verify_journal
from judge.asking.run_folder import ResultFolder
from tests.vllm.conftest import CONTEXT

if importlib.util.find_spec("vllm") is None and "vllm" not in os.environ.get("JUDGE_REQUIRE", "").split(","):
    pytest.skip("vllm is not installed here", allow_module_level=True)


def run_batch(requests: Path, results: Path, model: Path, environment: dict[str, str]) -> None:
    """Answer a batch file by vLLM's own program, started as a module."""
    command = [sys.executable, "-m", "vllm.entrypoints.openai.run_batch", "-i", str(requests), "-o", str(results)]
    command += ["--model", str(model), "--served-model-name", "smollm2", "--dtype", "float32", "--enforce-eager"]
    command += ["--max-num-seqs", "16", "--no-enable-chunked-prefill", "--max-model-len", str(CONTEXT)]
    subprocess.run(command, env=environment, check=True, capture_output=True, timeout=600)


def test_half_by_the_server_and_half_by_run_batch(
    definition: Any, judge: Any, smollm2: Path, engines: dict[str, str], tmp_path: Path
) -> None:
    run, folder = definition(), ResultFolder(tmp_path / "openai-smollm2")
    judge("run", run, "--limit", "2", "--quiet")
    requests, results = tmp_path / "requests.jsonl", tmp_path / "results.jsonl"
    judge("export", run, "--as", "batch", "-o", requests)
    lines = requests.read_text(encoding="utf-8").splitlines()
    # One line that the engine refuses: its error comes back as a failed attempt.
    spoilt = json.loads(lines[0])
    spoilt["body"]["messages"][-1]["content"] *= 200
    requests.write_text("\n".join([json.dumps(spoilt), *lines[1:]]) + "\n", encoding="utf-8")
    run_batch(requests, results, smollm2, engines)

    judge("import", results, "-o", folder.path)
    with JournalReader(folder.journal) as journal:
        totals, tried = journal.totals(), {(a.query_key, a.repeat) for a in journal.answers()}
    assert (totals.answered, dict(totals.failed), len(tried)) == (22, {"context": 2}, 24)
    assert verify_journal(folder) == (12, [])
    assert "nothing new" in judge("import", results, "-o", folder.path).stdout
