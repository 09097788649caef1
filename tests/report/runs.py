"""Real runs for the report's tests: the demo, one whose every text is hostile, HANNA's released ratings."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from judge.show.report import ReportInputs

HOSTILE = (
    "<script>alert(1)</script>",
    "{{7*7}} {% raw %} {{ self.__init__ }}",
    "unbreakable" * 60,
    "\u202eשלום עולם",
    "</template></textarea><img src=x onerror=alert(2)>",
    "]]> --> </title></svg></script><script>alert(3)</script>",
    '\\end{document} " onmouseover="alert(4)" \u2028 \u2029',
)
"""What a story, an explanation or a name may hold; each must come out as it went in, as text."""


def demo(folder: Path) -> Path:
    """The demo's run, with its explanations looked at without a model: the run's folder."""
    from judge.demo import run_demo

    run_demo(folder, quiet=True)
    few = ("--layout", "clusters", "--set", "permutations=19", "--set", "refits=19", "--resamples", "20")
    assert command("explain", folder, *few, "-o", folder / "explained.txt") == 0
    return folder


def command(*arguments: object) -> int:
    """Run `judge ...` here; its exit code."""
    from judge.cli.main import main

    try:
        main([*map(str, arguments)])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


def hostile(folder: Path) -> Path:
    """16 stories by two systems, three known raters, a scripted judge that explains itself; everything hostile."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(16):
            stream.write(json.dumps(_story(number)) + "\n")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(21):
            text = f"Rating: {1 + number % 5}\nBecause {HOSTILE[number % len(HOSTILE)]} it is number {number}."
            stream.write(json.dumps({"text": text}) + "\n")
    definition = folder / "run.yaml"
    definition.write_text(
        "name: hostile\n"
        "dataset: stories.jsonl\n"
        f"judge: scripted/{folder / 'answers.jsonl'}\n"
        "criteria: {set: hanna, only: [Coherence, Engagement]}\n"
        "eval_prompts: [ep1, ep2]\n"
        "repeats: 2\n"
        "note: \"<script>alert('note')</script> {{7*7}}\"\n",
        encoding="utf-8",
    )
    return _sat(folder)


def unrated(folder: Path) -> Path:
    """6 stories by two systems that no person rated, and a scripted judge that explains itself."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(6):
            told = {"id": f"s{number}", "story_prompt": f"prompt {number // 2}", "system": "AB"[number % 2]}
            stream.write(json.dumps(told | {"text": f"Lamp number {number} went out. " * (number + 3)}) + "\n")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(7):
            stream.write(
                json.dumps({"text": f"Rating: {1 + number % 5}\nThe lamp goes out for reason {number}."}) + "\n"
            )
    (folder / "run.yaml").write_text(
        "name: unrated\n"
        "dataset: stories.jsonl\n"
        f"judge: scripted/{folder / 'answers.jsonl'}\n"
        "criteria: {set: hanna, only: [Coherence, Engagement]}\n"
        "eval_prompts: [ep2, ep3]\n"
        "repeats: 2\n",
        encoding="utf-8",
    )
    return _sat(folder)


def panel(folder: Path) -> Path:
    """32 stories by four systems that three known people rated; the control and a scripted judge that explains itself,
    each with four Eval-Prompts over two criteria.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(32):
            stream.write(json.dumps(_told(number)) + "\n")
    with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(29):
            text = f"Rating: {1 + number * 3 % 5}\nThe keeper wants something, and {number} pages later has it."
            stream.write(json.dumps({"text": text}) + "\n")
    for judge in ("surface", f"scripted/{folder / 'answers.jsonl'}"):
        (folder / "run.yaml").write_text(
            "name: panel\n"
            "dataset: stories.jsonl\n"
            f"judge: {judge}\n"
            "criteria: {set: hanna, only: [Coherence, Engagement]}\n"
            "eval_prompts: [ep1, ep2, ep3, ep4]\n"
            "repeats: 2\n",
            encoding="utf-8",
        )
        _sat(folder)
    few = ("--layout", "clusters", "--set", "permutations=19", "--set", "refits=19", "--resamples", "20")
    assert command("explain", folder, *few, "-o", folder / "explained.txt") == 0
    return folder


def _told(number: int) -> dict[str, Any]:
    prompt, system = divmod(number, 4)
    good = (number * 5 + prompt) % 4
    ratings = [
        {"rater": f"w{rater}", "criterion": name, "value": min(5, max(1, 1 + good + (number + rater + shift) % 3 - 1))}
        for rater in (1, 2, 3)
        for shift, name in enumerate(("Coherence", "Engagement"))
    ]
    return {
        "id": f"s{number}",
        "story_prompt": f"A keeper of a lighthouse finds letter {prompt}.",
        "system": ("Human", "GPT-2", "CTRL", "BertGeneration")[system],
        "text": f"The keeper read letter {prompt} and lit the lamp. " * (3 + 4 * good) + f"Number {number} ends here.",
        "reference": f"The letter {prompt} was from the sea.",
        "ratings": ratings,
    }


def _sat(folder: Path) -> Path:
    """Run the folder's definition to its end."""
    from judge.asking.execution.session import Sitting, sit
    from judge.asking.run_definition.spec import load_run_spec
    from judge.asking.run_folder import folder_for

    definition = folder / "run.yaml"
    spec = load_run_spec(definition)
    result = folder_for(definition, spec.name, spec.judge, spec.revision)
    sit(Sitting(spec, folder, result, quiet=True))
    return folder


def _story(number: int) -> dict[str, Any]:
    prompt, system = divmod(number, 2)
    nasty = HOSTILE[number % len(HOSTILE)]
    ratings = [
        {"rater": f"w{rater}", "criterion": name, "value": 1 + (number * rater + prompt + shift) % 5}
        for rater in (1, 2, 3)
        for shift, name in enumerate(("Coherence", "Engagement"))
    ]
    return {
        "id": f"s{number}<i>",
        "story_prompt": f"prompt {prompt} <script>alert('p')</script>",
        "system": "Human<b>" if system else "GPT & co",
        "text": nasty + f" A story, number {number}, about a lamp. " * (3 + number),
        "reference": None,
        "ratings": ratings,
    }


def hanna(studies: Path, folder: Path) -> Path:
    """The released score file as a result folder: 1,056 stories, five judges, four Eval-Prompts, six criteria."""
    from judge.exchange.imported_folder import write_folder
    from judge.exchange.released import read_scores

    found = read_scores(studies / "hanna" / "hanna_metric_scores_llm.csv", studies / "hanna" / "hanna_llm_stories.csv")
    write_folder(folder, found)
    return folder


def ttcw(studies: Path, folder: Path) -> Path:
    """GPT-4's recorded answers to the tests of Art or Artifice, as a finished run."""
    answers = studies / "ttcw" / "llm_answers" / "annotations_gpt4.jsonl"
    assert command("import", answers, "--judge", "gpt4", "-o", folder) == 0
    assert command("run", folder, "--quiet") == 0
    return folder


def material(*runs: Path, **options: Any) -> ReportInputs:
    """What the report of these runs is made of, with few resamples unless said otherwise."""
    from judge.show.report import ReportInputs, ReportOptions

    chosen = {"resamples": 60, "permutations": 60, "command": "judge report RUN"} | options
    return ReportInputs.read([*map(str, runs)], ReportOptions(**chosen))


def page(*runs: Path, **options: Any) -> str:
    """The report of these runs as HTML."""
    return page_of(material(*runs, **options))


def page_of(inputs: ReportInputs) -> str:
    """The report as HTML."""
    from judge.show.report import html, page_sections

    return html(inputs, list(page_sections(inputs)))


if __name__ == "__main__":
    # As a process of its own, for tests whose process has a running event loop: WHICH FOLDER OUTPUT.
    which, place, output = sys.argv[1:]
    made = {"demo": demo, "hostile": hostile, "panel": panel, "unrated": unrated}[which](Path(place))
    Path(output).write_text(page(made, title=HOSTILE[0] if which == "hostile" else None), encoding="utf-8")
