"""What single pages and help texts assume beside the common folder, and what happens between two commands."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from judge.inputs.datasets import open_dataset
from judge.lab.people.store import StudyStore
from tests.documents.blocks import ROOT
from tests.documents.run.world import LOG_FILES, audited, define, done
from tests.people.conftest import drawn

_INPUTS = ROOT / "tests/golden_tables/inputs"


def _removed(*names: str) -> Callable[[str], None]:
    """Nothing lies under these names yet."""

    def remove(_url: str) -> None:
        for name in names:
            shutil.rmtree(name) if Path(name).is_dir() else Path(name).unlink()

    return remove


def _unasked(name: str) -> Callable[[str], None]:
    """A run that no model has been asked for."""

    def define_again(url: str) -> None:
        shutil.rmtree(f"runs/{name}", ignore_errors=True)
        define(name, judge="openai/gpt-4o-mini", base_url=url, repeats=1, eval_prompts=["ep1"])

    return define_again


def _done(*commands: str) -> Callable[[str], None]:
    """Commands that come before."""

    def run(_url: str) -> None:
        for command in commands:
            done(*command.split())

    return run


def _file(name: str, text: str) -> Callable[[str], None]:
    """A file of this text."""

    def write(_url: str) -> None:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text, encoding="utf-8")

    return write


def _copied(source: Path, name: str) -> Callable[[str], None]:
    """A file from elsewhere."""

    def copy(_url: str) -> None:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, name) if source.is_dir() else shutil.copy(source, name)

    return copy


def _all(*steps: Callable[[str], None]) -> Callable[[str], None]:
    def every(url: str) -> None:
        for step in steps:
            step(url)

    return every


def _of_one_criterion(source: str, name: str, is_other: Callable[[dict[str, Any]], bool]) -> Callable[[str], None]:
    """Another program's log without the scores on criteria that the page's command does not name."""

    def narrowed(value: Any) -> Any:
        if isinstance(value, list):
            return [narrowed(entry) for entry in value if not (isinstance(entry, dict) and is_other(entry))]
        return {key: narrowed(entry) for key, entry in value.items()} if isinstance(value, dict) else value

    def write(_url: str) -> None:
        Path(name).write_text(json.dumps(narrowed(json.loads((LOG_FILES / source).read_bytes()))), encoding="utf-8")

    return write


def _studies(step: Callable[[str], None]) -> Callable[[str], None]:
    """A step that reads a study's files; left out without them, as commands that name none do not need it."""
    return lambda url: step(url) if "JUDGE_DATA" in os.environ else None


@_studies
def _study(_url: str) -> None:
    """The HANNA study's audit."""
    shutil.copy(Path(os.environ["JUDGE_DATA"]) / "hanna/user_study.csv", "user_study.csv")


@_studies
def _study_audit(url: str) -> None:
    _study(url)
    done("audit", "import", "study.sqlite", "user_study.csv")


@_studies
def _ttcw(_url: str) -> None:
    shutil.copy(Path(os.environ["JUDGE_DATA"]) / "ttcw/llm_answers/annotations_gpt4.jsonl", "annotations_gpt4.jsonl")


@_studies
def _ttcw_run(url: str) -> None:
    _ttcw(url)
    done("import", "annotations_gpt4.jsonl", "--judge", "gpt4", "-o", "runs/ttcw")
    done("run", "runs/ttcw", "--quiet", "--no-summary")


def _rated(_url: str) -> None:
    """A study that eight people rated, and a file that a page of a pack saved."""
    path = Path("people.sqlite")
    path.unlink(missing_ok=True)
    with StudyStore.create(path, drawn(24, raters=8), "We ask you to rate stories.") as store:
        for rater in store.raters():
            for place in range(len(store.entries(rater))):
                rated = {name: float(1 + (place + i) % 5) for i, name in enumerate(store.names)}
                store.save(rater, place, rated, message=f"m{place}")
        given = {"item": 2, "values": {"Coherence": 4}, "note": "", "seconds": 30}
        saved = {"format": "judge-people-answers/1", "study": store.study_id, "rater": "r01", "guidelines": "x"}
        Path("answers-r01.json").write_text(json.dumps(saved | {"answers": [given]}), encoding="utf-8")


def _labelled(_url: str) -> None:
    """Texts in WikiMIA's form: half in the words on which the stand-in was trained."""
    seen = "the cat sat on the mat and the dog sat on the log while the rain fell on the roof " * 4
    unseen = "my brown quiz vexed jumbling wizards of zip code by foxy pyx and kvetching waltz " * 4
    rows = [
        {"input": (seen if label else unseen)[number : number + 220], "label": label}
        for number in range(30)
        for label in (0, 1)
    ]
    Path("WikiMIA_length64.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _calibrated(url: str) -> None:
    _labelled(url)
    auc = "contamination auc WikiMIA_length64.jsonl --model hf/gpt2 --scores-to wikimia.scores.jsonl --quiet"
    done(*auc.split(), "--resamples", "50")


def _scored(name: str) -> Callable[[str], None]:
    def score(url: str) -> None:
        _calibrated(url)
        line = "contamination score tales.jsonl --model hf/gpt2 --calibration wikimia.scores.jsonl --quiet -o"
        done(*line.split(), name)

    return score


@_studies
def _ratings(_url: str) -> None:
    """A judge's ratings of a study's stories, long and wide."""
    stories = [story.id for story, _ in zip(open_dataset("mans_roc").stories(), range(60), strict=False)]
    lines = [f"gpt4,{name},overall,{1 + place % 5}" for place, name in enumerate(stories)]
    Path("scores.csv").write_text("\n".join(["judge,story,criterion,rating", *lines]) + "\n", encoding="utf-8")


def _wide(_url: str) -> None:
    import pandas as pd

    rows = [{"id": f"s{n}", "coh": 1 + n % 5, "ann": 1 + n % 4, "bob": 1 + n % 3} for n in range(40)]
    pd.DataFrame(rows).to_csv("wide.csv", index=False)
    pd.DataFrame(rows)[["id", "coh"]].to_excel("wide.xlsx", index=False)


def _two_judges(one: str, other: str) -> Callable[[str], None]:
    def run(url: str) -> None:
        shutil.rmtree("runs/tales")
        define("tales", judges=[{"judge": name, "base_url": url} for name in (one, other)])
        done("run", "runs/tales", "--quiet", "--no-summary")

    return run


def _improvable(_url: str) -> None:
    """A run of the control on stories of 24 story-prompts, rated by rule."""
    shutil.rmtree("runs/mine")
    lines = []
    for number in range(24):
        for points, ending in ((5, "She found it. Then she went home."), (1, "She looked. She looked. She looked.")):
            story = {"id": f"{number}-{points}", "story_prompt": f"Thing {number} is lost in town {number * 7}"}
            given = [{"rater": name, "criterion": "Coherence", "value": points} for name in ("ann", "bob")]
            lines.append(
                story | {"system": f"m{points}", "text": f"It was dark in {number}. {ending}", "ratings": given}
            )
    define(
        "mine",
        dataset="stories.jsonl",
        eval_prompts=["ep1"],
        repeats=1,
        generation={},
        criteria={"set": "hanna", "only": ["CH"]},
    )
    Path("runs/mine/stories.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    done("run", "runs/mine", "--quiet", "--no-summary")


def _generation(url: str) -> None:
    Path("generations/hanna").mkdir(parents=True)
    shutil.copy(_INPUTS / "story_prompts.jsonl", "generations/hanna")
    keys = {"story_prompts": "story_prompts.jsonl", "writer": "openai/gpt-4o-mini", "writer_prompts": ["story"]}
    Path("generations/hanna/generate.yaml").write_text(json.dumps(keys | {"base_url": url}), encoding="utf-8")


def _aspects(_url: str) -> None:
    for name, criteria in (("./salience", "storyer_salience"), ("./aspects", "storyer")):
        define(
            name.removeprefix("./"),
            folder=Path(name),
            dataset="storyer_reasons",
            criteria=criteria,
            eval_prompts=["ep1"],
            repeats=1,
        )


def _pairs(_url: str) -> None:
    """Pairs of the stories, with a preference that goes by their systems."""
    rows = [json.loads(line) for line in Path("tales.jsonl").read_text(encoding="utf-8").splitlines()]
    lines: list[object] = [{"pairs": True}, *(row | {"ratings": []} for row in rows)]
    for row in rows:
        for other in rows:
            if row["story_prompt"] == other["story_prompt"] and row["system"] > other["system"]:
                better = "first" if row["system"] == "Human" else "second"
                preferred = [{"rater": "w", "criterion": "Overall", "value": better}]
                lines.append({"pair": {"first": row["id"], "second": other["id"], "preferences": preferred}})
    Path("mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def _mapped(_url: str) -> None:
    """A run with a map of its explanations."""
    shutil.rmtree("runs/hanna")
    shutil.copytree("runs/demo", "runs/hanna")
    numbers = ("--set", "permutations=19", "--set", "refits=19", "--resamples", "20")
    done("explain", "runs/hanna", "--layout", "clusters", "--model", "tfidf", "--map", "pca", "--quiet", *numbers)


def _salience(_url: str) -> None:
    criteria = {"set": "storyer_salience"}
    define("storyer-reasons", dataset="storyer_reasons", criteria=criteria, eval_prompts=["ep1"], repeats=1)
    done("run", "runs/storyer-reasons", "--quiet", "--no-summary")


def _imported_judges(_url: str) -> None:
    shutil.rmtree("runs/scores")
    text = ["judge,story,story_prompt,criterion,rating"]
    text += [f"{name},s{n},p{n // 4},Overall,{1 + (n * k) % 5}" for name, k in (("A", 3), ("B", 7)) for n in range(60)]
    Path("two.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    done("import", "two.csv", "-o", "runs/scores")


def _panelled(_url: str) -> None:
    shutil.rmtree("runs/tales")
    Path("runs/tales").mkdir()
    shutil.copy(_INPUTS / "panelled.csv", "runs/tales/imported.csv")


def _stress(url: str) -> None:
    _removed("stress.jsonl", "stress.facts.jsonl")(url)
    for path in Path("runs/stress").iterdir():
        if path.is_dir():
            shutil.rmtree(path)


_COMMENTS = "Comment,Aspect,Stars\n" + "".join(
    f"The {('plot', 'style', 'end')[n % 3]} number {n} {('moved', 'bored', 'charmed')[n % 3]} me at {n},"
    f"{('Plot', 'Style', 'End')[n % 3]},{1 + n % 5}\n"
    for n in range(60)
)
_STORIES = "Story ID,Prompt,Story,Model\n" + "".join(
    f"{n},Write of a lamp {n // 2}.,The lamp on the quay went out {n} times and nobody lit it before dawn.,m{n % 2}\n"
    for n in range(8)
)
_CHECKED = "id,system,gpt4,ann1,ann2\n" + "".join(
    f"{n},s{n % 6},{1 + n % 5},{1 + n % 4},{1 + n % 3}\n" for n in range(48)
)


def _checked(_url: str) -> None:
    """One table of a judge and people, and the same in two."""
    rows = [line.split(",") for line in _CHECKED.splitlines()]
    people, judge = ([[row[at] for at in places] for row in rows] for places in ((0, 1, 3, 4), (0, 2)))
    Path("scores.csv").write_text(_CHECKED, encoding="utf-8")
    Path("people.csv").write_text("".join(f"{','.join(row)}\n" for row in people), encoding="utf-8")
    lines = [json.dumps({"id": story, "gpt4": int(value)}) for story, value in judge[1:]]
    Path("judge.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


_PAIRS = '{"text": "Story A drifts.\\n\\n[[B]]"}\n{"text": "A: 4, B: 3"}\n'
_PROMPTFOO = _of_one_criterion(
    "promptfoo-0.123.1.json",
    "results.json",
    lambda entry: "assertion" in entry and (entry["assertion"] or {}).get("metric") != "Coherence",
)
_DEEPEVAL = _of_one_criterion(
    "deepeval-4.3.1.json",
    "test_run.json",
    lambda entry: "evaluationModel" in entry and entry["name"] != "Coherence [GEval]",
)
_PHOENIX = _of_one_criterion(
    "phoenix-20.26.1.json",
    "span_annotations.json",
    lambda entry: "annotator_kind" in entry and entry["name"] != "coherence",
)
_LM_EVAL = next((LOG_FILES / "lm_eval-0.4.13").rglob("samples_rate*.jsonl"))

BEFORE: dict[str, Callable[[str], None]] = {
    "README.md": _removed("runs/my-run"),
    "docs/guides/first_run.md": _removed("runs/my-run"),
    "docs/auditing_explanations.md": _ttcw,
    "docs/comparisons_as_data.md": _aspects,
    "docs/guides/audits.md": _study,
    "docs/guides/batch_files.md": _unasked("my-run"),
    "docs/guides/explanations.md": _file("comments.csv", _COMMENTS),
    "docs/guides/report.md": _all(_scored("hanna.scores.jsonl"), _study_audit),
    "docs/guides/stress_tests.md": _stress,
    "docs/stress.md": _stress,
    "docs/stress_report.md": _stress,
    "docs/guides/tables.md": _all(_scored("hanna.scores.jsonl"), _removed("wikimia.scores.jsonl")),
    "docs/other_tools.md": _all(_copied(_LM_EVAL, "samples_rate_coherence.jsonl"), _PROMPTFOO, _DEEPEVAL, _PHOENIX),
    "docs/planning.md": _all(_two_judges("openai/old", "openai/new"), _imported_judges),
    "docs/reference/file_formats.md": _all(_ratings, _wide),
    "docs/slurm.md": _unasked("my-run"),
    "aspects": _salience,
    "audit export": _done("audit sample runs/hanna -n 12 -o audit.sqlite"),
    "audit import": _study,
    "audit pack": _done("audit sample runs/demo -n 12"),
    "audit report": _all(lambda _: audited("runs/my-run"), _study_audit),
    "audit sample": _done(
        "diagnose runs/my-run --layout stories --set between=eval-prompts --set long=true --format json -o differ.json"
    ),
    "confusion": _ttcw_run,
    "figure confusion": _ttcw_run,
    "figure explanations": _mapped,
    "contamination auc": _labelled,
    "contamination check": _labelled,
    "contamination score": _calibrated,
    "contamination report": _scored("beluga.scores.jsonl"),
    "contamination validity": _scored("beluga.scores.jsonl"),
    "data add": _file("ratings.csv", "id,text,system,plot\n1,A lamp.,x,No\n2,A boat.,y,Yes\n"),
    "explain": _all(_file("comments.csv", _COMMENTS), _study),
    "data generate": _generation,
    "data stories": _all(_generation, _done("data generate generations/hanna --quiet")),
    "import": _all(
        _unasked("hanna-api"),
        _done("export runs/hanna-api --as batch -o hanna.jsonl"),
        lambda _: answered("hanna.jsonl"),
        _copied(_LM_EVAL, "samples_rate_coherence.jsonl"),
        _PROMPTFOO,
        _removed("runs/scores"),
        _ratings,
        _wide,
        _ttcw,
    ),
    "compare": _two_judges("openai/gpt-4o", "openai/gpt-5"),
    "improve": _improvable,
    "docs/improve.md": _improvable,
    "init": _all(_removed("runs/my-run"), _file("stories.csv", _STORIES)),
    "check": _checked,
    "docs/training.md": _pairs,
    "panels": _panelled,
    **{f"people {name}": _rated for name in ("serve", "pack", "import", "report", "export", "withdraw")},
    "docs/rating_stories.md": _rated,
    "parse": _file("comparisons.jsonl", _PAIRS),
    "plan": lambda _: None,
    "prompts check": _copied(ROOT / "prompts/eval_prompts/ep1.jinja", "my_prompts/mine.jinja"),
    "run": _unasked("mans-roc"),
    "stress make": _stress,
    "summary": lambda _: shutil.copytree("runs/three", "runs/hanna", dirs_exist_ok=True) and None,
}
"""Page, or path of the command whose help it is -> what is made first."""


def after(words: list[str], url: str) -> None:
    """What happens between two commands, outside the program: people answer, a model answers, a file is edited."""
    if words[:2] == ["audit", "sample"] and "--from" not in words:
        audited(words[2])
    if words[0] == "export" and "batch" in words:
        answered(words[words.index("-o") + 1])


def answered(requests: str) -> None:
    """What a server makes of a file of requests."""
    lines = []
    for text in Path(requests).read_text(encoding="utf-8").splitlines():
        asked = json.loads(text)
        message = {"role": "assistant", "content": "Rating: 4"}
        body = {"id": "x", "object": "chat.completion", "created": 1, "model": asked["body"]["model"]}
        body |= {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        response = {"status_code": 200, "request_id": "r", "body": body}
        lines.append(json.dumps({"id": "b", "custom_id": asked["custom_id"], "response": response, "error": None}))
    Path("results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
