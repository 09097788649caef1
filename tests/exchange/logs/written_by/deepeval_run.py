# ruff: noqa: ARG002, E402
"""Writes the fixture of deepeval with the real tool.

`pip install deepeval==4.3.1`, then `python deepeval_run.py`.

The grader is a class of its own without a model. The expected values are what `deepeval.evaluate` returns.
"""

import json
import os
import tempfile
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "files"
folder = tempfile.mkdtemp()
os.environ |= {"DEEPEVAL_TELEMETRY_OPT_OUT": "YES", "DEEPEVAL_RESULTS_FOLDER": folder}
os.chdir(folder)

import deepeval
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.models import DeepEvalBaseLLM
from deepeval.test_case import LLMTestCase, SingleTurnParams


class Grader(DeepEvalBaseLLM):
    """Answers by what stands in the prompt."""

    asked = 0

    def load_model(self):
        return self

    def get_model_name(self):
        return "mock-grader"

    def generate(self, prompt, schema=None):
        self.asked += 1
        if "story 2" in prompt:
            raise RuntimeError("Error code: 400 - {'error': {'code': 'content_filter'}}")
        if "story 3" in prompt:
            return "I would rather not say."
        if "story 4" in prompt:
            raise TimeoutError("no answer within 60 s")
        return json.dumps({"reason": "It holds together.", "score": self.asked % 11, "steps": ["read it"]})

    async def a_generate(self, prompt, schema=None):
        return self.generate(prompt)


metrics = [
    GEval(
        name=name,
        evaluation_steps=["read it"],
        evaluation_params=[SingleTurnParams.ACTUAL_OUTPUT],
        model=Grader(),
        async_mode=False,
    )
    for name in ("Coherence", "Surprise")
]
cases = [
    LLMTestCase(name=f"s{i}", input=f"Write {i}", actual_output=f"story {i}", metadata={"system": "gpt2"})
    for i in range(6)
]
found = deepeval.evaluate(
    cases,
    metrics,
    error_config=ErrorConfig(ignore_errors=True),
    async_config=AsyncConfig(run_async=False),
    display_config=DisplayConfig(show_indicator=False, print_results=False),
)
run = json.loads(next(Path(folder).glob("test_run_*.json")).read_text())
(FILES / "deepeval-4.3.1.json").write_text(json.dumps(run, indent=1) + "\n")
values = [
    {"name": test.name, "metric": one.name, "score": one.score, "error": one.error, "reason": one.reason}
    for test in found.test_results
    for one in test.metrics_data
]
about = {"tool": "deepeval", "version": deepeval.__version__, "read_by": "deepeval.evaluate(...).test_results"}
(FILES / "deepeval.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
