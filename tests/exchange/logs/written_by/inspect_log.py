"""Writes the fixture of inspect with the real tool.

`pip install inspect_ai==0.3.285 openai`, then `python inspect_log.py`.

The model and the grader are inspect's `mockllm`. The expected values are read back by `inspect_ai.log.read_eval_log`.
"""

import json
import sys
import tempfile
from pathlib import Path

import tiktoken

# Its encodings are fetched from a server; the mock model counts tokens with them and nothing else here does.
tiktoken.get_encoding = lambda name: tiktoken.Encoding(
    name=name, pat_str=r".", mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
)

import inspect_ai  # noqa: E402
from inspect_ai import Task  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import read_eval_log, write_eval_log  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import Score, includes, mean, model_graded_qa, scorer  # noqa: E402
from inspect_ai.solver import generate, solver  # noqa: E402

FILES = Path(__file__).parents[1] / "files"
GRADES = ["GRADE: C", "GRADE: I", "GRADE: P", "I would rather not say.", "GRADE: C", "GRADE: C", "GRADE: I"]


@scorer(metrics={"*": [mean()]})
def rubric():
    """Two criteria in one score; one sample without a score."""

    async def score(state, target):
        if state.sample_id == "s3":
            return None
        return Score(value={"Coherence": len(str(state.sample_id)) + state.epoch, "Surprise": 0.5}, explanation="read")

    return score


@solver
def breaks():
    """One sample that fails."""

    async def solve(state, generate):
        if state.sample_id == "s4":
            raise RuntimeError("the tool broke")
        return state

    return solve


def grader():
    """Grades in turn; one answer is stopped by a filter."""
    said = [ModelOutput.from_content("mockllm/grader", f"Read and thought about.\n\n{grade}") for grade in GRADES]
    said.append(ModelOutput.from_content("mockllm/grader", "", stop_reason="content_filter"))
    return get_model("mockllm/grader", custom_outputs=said)


samples = [
    Sample(id=f"s{i}", input=f"Write about lamp {i}.", target=str(i % 5 + 1), metadata={"story_prompt": f"lamp {i}"})
    for i in range(5)
]
task = Task(dataset=samples, name="lamps", epochs=2, solver=[breaks(), generate()])
task.scorer = [model_graded_qa(partial_credit=True, model=grader()), rubric(), includes()]
with tempfile.TemporaryDirectory() as folder:
    log = inspect_ai.eval(
        task, model="mockllm/model", log_dir=folder, display="none", fail_on_error=False, max_samples=1
    )[0]
    whole = read_eval_log(log.location)
    whole.eval.revision = None
for one in whole.samples:
    # Tracebacks name the folders of whoever wrote them.
    one.events = [event for event in one.events if event.event in ("model", "score")]
    if one.error is not None:
        one.error = one.error.model_copy(update={"traceback": "", "traceback_ansi": ""})
write_eval_log(whole, str(FILES / "inspect-0.3.285.eval"), format="eval")
# The same in the older form, without the events, which are long.
whole.samples = [one.model_copy(update={"events": [], "attachments": {}}) for one in whole.samples]
write_eval_log(whole, str(FILES / "inspect-0.3.285.json"), format="json")
read = read_eval_log(str(FILES / "inspect-0.3.285.eval"))
values = [
    {
        "sample": sample.id,
        "epoch": sample.epoch,
        "error": sample.error is not None,
        "scores": {
            name: score.model_dump(include={"value", "reason"}) for name, score in (sample.scores or {}).items()
        },
    }
    for sample in read.samples
]
about = {"tool": "inspect_ai", "version": inspect_ai.__version__, "read_by": "inspect_ai.log.read_eval_log"}
(FILES / "inspect.expected.json").write_text(json.dumps(about | {"values": values}, indent=1, default=str) + "\n")
sys.stdout.write(json.dumps(values, default=str) + "\n")
