"""List of all commands, grouped by the question that they answer. It holds the module and the one-line help of each
command and imports none of these modules."""

from __future__ import annotations

import functools
import keyword
from typing import Any, NamedTuple

# In place of a module: the command asks the question of its name (`judge.questions.registry`).
QUESTION = "question"


class Entry(NamedTuple):
    """One command in `judge --help`: the module in `judge.cli` that defines it, as a function of its name or, with
    commands of its own, as `app`; and its help."""

    module: str
    text: str


# Question -> commands, in reading order.
PANELS: dict[str, dict[str, Entry]] = {
    "Start here": {
        "demo": Entry("start", "A complete run of the control judge on packaged stories: no key, no network."),
        "check": Entry("start", "Verdict and HTML page on a judge's agreement with people, from one table of ratings."),
        "try": Entry("try_", "A judge's answer about one or two stories: request, answer, rating; --serve: a page."),
        "plan": Entry(
            "start", "Number of stories, people, repeats and prompts that a study needs, and what to pay for."
        ),
        "init": Entry("init", "A new run.yaml with a comment on every key."),
        "doctor": Entry("doctor", "What is installed, reachable and cached, and the commands that fix problems."),
    },
    "Which stories, which prompts?": {
        "data": Entry("data", "Datasets: list, fetch, show, check, add, convert; generate: stories by models."),
        "people": Entry("people", "People rate stories: sample, serve, pack, import, report, export, withdraw."),
        "prompts": Entry("prompts", "Eval-Prompts and criteria: list, show, render, check."),
    },
    "How is a judge run?": {
        "run": Entry("run", "Send a run's requests to its judge, again to continue; --retry, --merge, --batch."),
        "status": Entry("status", "Progress of runs, and the outcome of each repeat; --verify checks their files."),
        "train": Entry("train", "Train your own evaluator on people's preferences and ratings."),
    },
    "What was answered?": {
        "parse": Entry("parse", "Ratings that the parser reads in answers of a JSON Lines file, or of a run."),
        "ratings": Entry(
            "ratings", "The ratings table, a row for each repeat and each rater; --preferences: of comparisons."
        ),
        "coverage": Entry(QUESTION, "What was requested, answered and parsed, and what missing ratings depend on."),
    },
    "What does it come to?": {
        "summary": Entry(QUESTION, "One screen: whether it may replace a person, best prompt, faults, next steps."),
        "certify": Entry(QUESTION, "Certificate of a judge's agreement with people, and whether it is sufficient."),
    },
    "Does a judge agree with itself?": {
        "consistency": Entry(QUESTION, "ICC over repeats, flip rate; repeats needed; variance components."),
    },
    "Does it agree with people?": {
        "correlate": Entry(QUESTION, "Agreement with people: correlations, margins, accuracy, labels, drift, panels."),
        "measures": Entry("measures", "BLEU, ROUGE, perplexity and other automatic measures, beside judges."),
        "replace": Entry(QUESTION, "Alternative annotator test: whether a judge may replace an annotator."),
    },
    "How does it go wrong?": {
        "diagnose": Entry(
            QUESTION, "Tests of leniency, length bias, halo and other faults; criteria; stories that differ most."
        ),
        "stress": Entry("stress", "Perturbed stories: which changes a judge detects, and which mislead it."),
        "contamination": Entry(
            "contamination", "Whether models have seen the stories: Min-K% Prob and related scores, AUC."
        ),
    },
    "Which prompt, judge, system is better?": {
        "compare": Entry(
            QUESTION, "Eval-Prompts, judges or runs on the same stories; --layout successor: a new judge."
        ),
        "improve": Entry(QUESTION, "Better Eval-Prompts for a judge: candidates, a race, and a test on other stories."),
        "jury": Entry(QUESTION, "A panel of judges combined, out of fold, beside its best member and the control."),
        "rank": Entry(QUESTION, "Comparisons of two stories: agreement, position bias, strengths of systems, cycles."),
        "systems": Entry(QUESTION, "Ratings of each system's stories: means, ranks, groups, differences."),
    },
    "What do explanations say?": {
        "explain": Entry("explain", "Analysis of explanations: map, clusters, keywords, statistics."),
        "audit": Entry("audit", "People judge explanations: sample, serve, pack, import, export, report."),
    },
    "How are results shown?": {
        "report": Entry("results", "One HTML page of a run's results, with methods, BibTeX and a checklist."),
        "view": Entry("results", "Local pages over all runs: progress, judgments, stories, prompts, maps."),
        "reproduce": Entry("results", "The studies' published tables: printed, as published, corrected."),
    },
    "Exchange with other programs": {
        "export": Entry("exchange", "Runs for other programs: datasets, metrics, archives for review, batches."),
        "import": Entry("exchange", "Ratings and answers made elsewhere: logs of tools, tables, batch results."),
    },
}

# Command -> its entry.
COMMANDS: dict[str, Entry] = {name: entry for commands in PANELS.values() for name, entry in commands.items()}

# Word that may be tried as a command -> the command that answers it.
MEANT: dict[str, str] = {
    "retry": "run --retry",
    "merge": "run --merge",
    "batch": "run --batch",
    "serve-command": "run --serve-command",
    "verify": "status --verify",
    **{name: f"correlate --layout {name}" for name in ("grid", "margins", "accuracy", "drift", "panels", "confusion")},
    **{name: f"correlate --layout {name}" for name in ("sliding-sets", "aspects")},
    "labels": "correlate --layout separation",
    "repeats": "consistency --layout repeats",
    "components": "consistency --layout components",
    "criteria": "diagnose --layout criteria",
    "disagreements": "diagnose --layout stories",
    "preferences": "ratings --preferences",
    "bundle": "export --as bundle",
    "generate": "data generate",
    "figure": "correlate -o FILE.pdf",
    "agreement": "correlate",
    "bias": "diagnose",
    "cost": "status",
    "icc": "consistency",
    "kappa": "correlate --layout confusion",
    "plot": "correlate -o FILE.pdf",
    "power": "plan",
    "succeed": "compare --layout successor",
}


def asked_elsewhere(name: str) -> bool:
    """Whether another package adds a question of this name. Entry points are looked up for no command of our own."""
    from judge.questions.registry import names

    return name in names() and name not in COMMANDS


@functools.cache
def app_of(name: str) -> Any:
    """The command as a typer app, made at the first call; its module is imported then."""
    import importlib

    import typer

    from judge.cli.declared import joined

    if name not in COMMANDS or COMMANDS[name].module == QUESTION:
        from judge.cli.asking import command_of
        from judge.questions.registry import question

        command = command_of(question(name))
    else:
        module = importlib.import_module(f"judge.cli.{COMMANDS[name].module}")
        if hasattr(module, "app"):
            return joined(module.app)
        command = getattr(module, f"{name}_" if keyword.iskeyword(name) else name)
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    app.command(name)(command)
    return joined(app)
