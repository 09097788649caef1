# ruff: noqa: ARG002, E402
"""Writes the fixture of lm-eval with the real tool.

`pip install lm_eval==0.4.13`, then `python lm_eval_samples.py`.

The model is a class of its own without weights. The expected values are what `lm_eval.simple_evaluate` returns.
"""

import json
import os
import shutil
import tempfile
from importlib.metadata import version
from pathlib import Path

folder = Path(tempfile.mkdtemp())
os.environ["HF_HOME"] = str(folder / "hf")

import lm_eval
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

FILES = Path(__file__).parents[1] / "files"
ANSWERS = ["4", "I give it 2", "I cannot rate this.", "", "Five out of five: 5", "3"]
RATING = """task: rate_coherence
dataset_path: json
dataset_kwargs: {{data_files: {stories}}}
test_split: train
output_type: generate_until
doc_to_text: "Rate the coherence of this story from 1 to 5.\\n{{{{text}}}}\\nRating:"
doc_to_target: "{{{{human}}}}"
filter_list:
  - name: rating
    filter: [{{function: regex, regex_pattern: "([1-5])"}}, {{function: take_first}}]
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""
CHOICE = """task: coherent
dataset_path: json
dataset_kwargs: {{data_files: {stories}}}
test_split: train
output_type: multiple_choice
doc_to_text: "Is this story coherent?\\n{{{{text}}}}\\nAnswer:"
doc_to_choice: ["no", "yes"]
doc_to_target: "{{{{1 if human > 2 else 0}}}}"
metric_list: [{{metric: acc, aggregation: mean, higher_is_better: true}}]
"""


class Judge(LM):
    """Gives the answers above in turn."""

    def loglikelihood(self, requests, disable_tqdm=False):
        return [(-1.0 - (number * 7) % 5, False) for number, _ in enumerate(requests)]

    def loglikelihood_rolling(self, requests, disable_tqdm=False):
        return []

    def generate_until(self, requests, disable_tqdm=False):
        return ANSWERS[: len(requests)]


stories = [
    {"id": f"s{i}", "text": f"story {i}", "human": i % 5 + 1, "prompt": f"p{i // 2}", "system": "gpt2"}
    for i in range(6)
]
file = folder / "stories.jsonl"
file.write_text("".join(json.dumps(story) + "\n" for story in stories))
(folder / "rating.yaml").write_text(RATING.format(stories=file))
(folder / "choice.yaml").write_text(CHOICE.format(stories=file))
tasks = TaskManager(include_path=str(folder))
found = lm_eval.simple_evaluate(
    Judge(), tasks=["rate_coherence", "coherent"], task_manager=tasks, log_samples=True, bootstrap_iters=0
)
samples = found.pop("samples")
tracker = EvaluationTracker(output_path=str(folder / "out"))
tracker.general_config_tracker.model_source = "mock"
tracker.general_config_tracker.model_name = tracker.general_config_tracker.model_name_sanitized = "mock-judge"
tracker.save_results_aggregated(results=found, samples=samples)
kept = FILES / "lm_eval-0.4.13" / "mock-judge"
shutil.rmtree(kept, ignore_errors=True)
kept.mkdir(parents=True)
for name, some in samples.items():
    tracker.save_results_samples(task_name=name, samples=some)
for path in (folder / "out" / "mock-judge").glob("samples_*"):
    shutil.copy(path, kept / path.name)
values = {
    name: [{"id": one["doc"]["id"], "filtered": one["filtered_resps"]} for one in some]
    for name, some in samples.items()
}
results = {
    name: {key: value for key, value in some.items() if key.startswith(("exact_match,", "acc,"))}
    for name, some in found["results"].items()
}
about = {"tool": "lm_eval", "version": version("lm_eval"), "read_by": "lm_eval.simple_evaluate(...)"}
(FILES / "lm_eval.expected.json").write_text(
    json.dumps(about | {"values": values, "results": results}, indent=1, default=str) + "\n"
)
