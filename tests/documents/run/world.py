"""The folder that commands of the documentation find: runs, tables and answers under the names that pages use."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from judge.demo import run_demo
from judge.inputs.datasets import open_dataset
from tests.documents.blocks import ROOT
from tests.golden_tables.calls import judge

SYSTEMS = {"original": "Human", "looped": "Beluga-13b", "shuffled": "gpt", "spliced": "GPT-2"}
COPIES = ("hanna", "mans-roc", "mine", "pilot", "a", "b", "new-stories", "demo-llm", "tales", "scores")
"""Names under which one finished run lies in `runs/`, beside `my-run`."""
LOG_FILES = ROOT / "tests/exchange/logs/files"
_INPUTS = ROOT / "tests/golden_tables/inputs"
LOGS = {
    "inspect-0.3.285.eval": "logs/2026-01-01_task.eval",
    "promptfoo-0.123.1.json": "results.json",
    "deepeval-4.3.1.json": "test_run.json",
    "mlflow-3.17.2.jsonl": "traces.jsonl",
    "alpaca_eval-0.6.6.json": "annotations.json",
    "langfuse-5.0.4.json": "scores.json",
    "mt_bench-0.2.36.jsonl": "gpt-4_pair.jsonl",
    "mt_bench-human.jsonl": "human_judgments.jsonl",
}
"""Released or written file of another program -> its name in the pages."""


def done(*words: str) -> None:
    """Run a command that has to succeed."""
    code, out, err = judge(words)
    if code != 0:
        raise RuntimeError(f"judge {' '.join(words)} ended with {code}: {out}{err}")


def define(name: str, folder: Path | None = None, **keys: Any) -> None:
    """A run.yaml in `runs/NAME` or `folder`, of which `keys` say what differs from the usual one."""
    usual = {"name": name, "dataset": "../../tales.jsonl", "criteria": {"set": "hanna", "only": ["CH", "EG"]}}
    usual |= {"eval_prompts": ["ep1", "ep3"], "repeats": 2, "generation": {"temperature": 1, "seed": 3}}
    folder = folder or Path("runs") / name
    folder.mkdir(parents=True)
    text = json.dumps({"judge": "surface"} | usual | keys if "judges" not in keys else usual | keys)
    (folder / "run.yaml").write_text(text, encoding="utf-8")


def build(url: str) -> None:
    """Everything that pages assume, in the working folder; `url` is that of the stand-in for models' servers."""
    _stories()
    run_demo(Path("runs/demo"), quiet=True)
    define("my-run", judge="openai/gpt-4o-mini", base_url=url)
    define("three", judges=["surface", *({"judge": f"openai/{name}", "base_url": url} for name in ("old", "my-model"))])
    for name in ("my-run", "three"):
        done("run", f"runs/{name}", "--quiet", "--no-summary")
    for name in COPIES:
        shutil.copytree("runs/my-run", f"runs/{name}")
    define("hanna-api", judge="openai/gpt-4.1-mini", base_url=url)
    compared = {"criteria": {"set": "hanna", "only": ["CH"]}, "eval_prompts": ["pair1"], "pairs": {"each": 2}}
    define("mans-roc-pairs", dataset="../../one.jsonl", repeats=1, generation={}, **compared)
    done("run", "runs/mans-roc-pairs", "--quiet", "--no-summary")
    done("stress", "make", "tales.jsonl", "-o", "stress.jsonl", "--perturbation", "typos", "--references", "--quiet")
    define("stress", dataset="../../stress.jsonl")
    done("run", "runs/stress", "--quiet", "--no-summary")
    _tables()
    audited("runs/hanna")


def audited(folder: str) -> None:
    """An audit of a run that two annotators have answered, made unless it is there."""
    import judge as package

    if not (Path(folder) / "audit.sqlite").exists():
        done("audit", "sample", folder, "-n", "12", "--quiet")
    audit = package.open_audit(f"{folder}/audit.sqlite").read()
    for name in ("ann", "bob"):
        keys = [category.key for category in audit.categories]
        answers = [
            {"item": item.id, "key": item.key, "values": {key: int(item.id % 3 == 0) for key in keys}}
            for item in audit.items
        ]
        whole = {"format": "judge-audit-answers/1", "audit": audit.audit_id, "annotator": name, "answers": answers}
        Path(f"answers-{name}.json").write_text(json.dumps(whole), encoding="utf-8")
        done("audit", "import", folder, f"answers-{name}.json")


def _stories() -> None:
    """The demo's stories with three people's ratings, made up around the stories' systems."""
    rng = np.random.default_rng(3)
    rows: list[dict[str, Any]] = []
    for story in open_dataset("demo").stories():
        system = SYSTEMS[story.system]
        rated = {
            criterion: np.clip(np.round((4 if system == "Human" else 2.5) + rng.normal(0, 0.9, 3)), 1, 5)
            for criterion in ("Coherence", "Engagement")
        }
        ratings = [
            {"criterion": criterion, "value": float(value), "rater": name}
            for criterion, values in rated.items()
            for name, value in zip(("ann", "bob", "cem"), values, strict=True)
        ]
        row = {"id": story.id, "story_prompt": story.story_prompt, "system": system, "text": story.text}
        rows.append(row | {"reference": story.reference, "ratings": ratings})
    text = "".join(json.dumps(row) + "\n" for row in rows)
    one = [row | {"ratings": [rated for rated in row["ratings"] if rated["criterion"] == "Coherence"]} for row in rows]
    Path("one.jsonl").write_text("".join(json.dumps(row) + "\n" for row in one), encoding="utf-8")
    for name in ("tales.jsonl", "mine.jsonl"):
        Path(name).write_text(text, encoding="utf-8")


def _tables() -> None:
    """Files of people, of other programs and of models, under the names of the pages."""
    for name in ("story.txt", "scores.csv", "answers.jsonl"):
        shutil.copy(_INPUTS / name, name)
    shutil.copy("story.txt", "other.txt")
    for source, name in LOGS.items():
        Path(name).parent.mkdir(exist_ok=True)
        shutil.copy(LOG_FILES / source, name)
