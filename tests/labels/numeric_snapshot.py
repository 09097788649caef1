"""What numeric scales gave before there were labels: query keys, prompts, records, tables and parsed answers.

`numeric_before.json` and the journal beside it were written by the commit before labels, with this file. They stay as
they are: `python -m tests.labels.numeric_snapshot FOLDER` writes the same for the code that runs it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from judge.asking.plan.queries import make_plan
from judge.asking.run_definition.spec import RunSpec
from judge.base.records import Story
from judge.cli.main import main
from judge.version import __version__

HERE = Path(__file__).resolve().parent
JOURNAL = HERE / "numeric_before.sqlite"
MANIFEST = HERE / "numeric_before.manifest.json"
SNAPSHOT = HERE / "numeric_before.json"

STORIES = (
    Story("a", "A storm comes.", "model", "It rained, and the cat slept.", reference="The storm took the roof."),
    Story("b", "", "Human", "She rated it 4 and left. \u2019No,\u2019 he said."),
)
ASKED = (
    {"structured": "none"},
    {"structured": "choice", "api": "completions"},
    {"structured": "json", "system": "You are a careful reader."},
    {"structured": "json-explanation-first"},
    {"scoring": "logprobs"},
)
ANSWERS = (
    {"text": "Rating: 4\n\nExplanation: it holds together."},
    {"text": "No. I cannot put a number on this story."},
    {"text": "Yes"},
    {"text": "Somewhere between 3 and 4."},
    {"text": '{"rating": 2, "explanation": "the middle sags"}'},
    {"text": "I'd give it a 3. On reflection, 4."},
    {"text": "8/10"},
    {"text": "The story opens with", "finish_reason": "length"},
    {"text": None, "reasoning": "Rating: 4"},
    {"text": "Relevance: 4\nCoherence: 2", "criterion": "Coherence"},
    {"text": "Content Blocked"},
    {"text": "7", "scale": "1-10", "criterion": "Empathy", "story": "s1"},
)


def snapshot(folder: Path) -> dict[str, Any]:
    """Everything that must stay, as plain data; `folder` is for files made on the way."""
    journal = folder / "numeric"
    journal.mkdir(parents=True)
    shutil.copy(JOURNAL, journal / "journal.sqlite")
    shutil.copy(MANIFEST, journal / "manifest.json")
    answers = folder / "answers.jsonl"
    answers.write_text("".join(json.dumps(row) + "\n" for row in ANSWERS), encoding="utf-8")
    return {"asked": _asked(folder), "printed": _printed(journal, answers)}


def _asked(folder: Path) -> dict[str, Any]:
    """Keys, texts and records of every shipped criteria set with every shipped Eval-Prompt."""
    found: dict[str, Any] = {}
    for name in ("hanna", "overall", "storyer"):
        for number, more in enumerate(ASKED):
            prompts = ["ep1", "ep2", "ep5"] if name == "storyer" else ["ep1", "ep2", "ep3", "ep4", "ep5"]
            run = {
                "name": "r",
                "dataset": "demo",
                "judge": "scripted/endings",
                "criteria": name,
                "eval_prompts": prompts,
            }
            plan = make_plan(RunSpec.model_validate(run | more), folder=folder)
            asked = [plan.query(s, p, c) for s in STORIES for p in plan.eval_prompts for c in plan.criteria]
            texts = [[[m.role, m.content] for m in query.messages] for query in asked]
            found[f"{name} {number}"] = {
                "keys": _hash([query.key for query in asked]),
                "texts": _hash(texts),
                "first": texts[0],
                "definition": _hash(plan.definition()),
                "records": _hash([criterion.record() for criterion in plan.criteria]),
            }
    return found


def _printed(journal: Path, answers: Path) -> dict[str, str]:
    commands = [
        *(
            ["parse", answers, *more]
            for more in ([], ["--format", "jsonl"], ["--set", "diff=true"], ["--set", "structured=json"])
        ),
        *(["parse", journal, "--format", form] for form in ("table", "csv", "jsonl")),
        ["parse", journal, "--set", "diff=true"],
        ["ratings", journal, "--format", "csv"],
        ["coverage", journal, "--format", "json"],
        ["consistency", journal, "--format", "json"],
    ]
    return {" ".join(_name(part) for part in command): _said(command) for command in commands}


def _name(part: object) -> str:
    return part.name if isinstance(part, Path) else str(part)


def _said(command: list[Any]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            whole = ["--full"] if command[0] == "parse" else []
            main([*map(str, command), *whole])
        except SystemExit as end:
            out.write(f"\nexit {end.code}")
    return out.getvalue().replace(f"|v{__version__}", "|v")


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _write_journal(folder: Path) -> None:
    """A run of two stories, two criteria, three Eval-Prompts and two repeats, with recited answers."""
    rows: list[dict[str, Any]] = [
        {"id": s.id, "story_prompt": s.story_prompt, "system": s.system, "text": s.text, "ratings": []} for s in STORIES
    ]
    for row, ratings in zip(rows, ((2, 4), (5, 3)), strict=True):
        row["ratings"] = [{"criterion": "Coherence", "value": v, "rater": f"r{i}"} for i, v in enumerate(ratings)]
    (folder / "stories.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    run = {
        "name": "numeric",
        "dataset": "stories.jsonl",
        "judge": "scripted/endings",
        "criteria": {"set": "hanna", "only": ["Coherence", "Empathy"]},
        "eval_prompts": ["ep1", "ep3", "ep5"],
        "repeats": 2,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")
    print(_said(["run", folder / "run.yaml"]))
    shutil.copy(folder / "scripted-endings" / "journal.sqlite", JOURNAL)
    shutil.copy(folder / "scripted-endings" / "manifest.json", MANIFEST)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        if not JOURNAL.exists():
            _write_journal(Path(made))
        text = json.dumps(snapshot(Path(made) / "snapshot"), indent=1, ensure_ascii=False)
        Path(sys.argv[1], SNAPSHOT.name).write_text(text + "\n", encoding="utf-8")
