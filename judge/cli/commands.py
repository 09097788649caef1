"""Every command by the question that it answers: its module, and one line of help. Nothing is imported for the help."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """One command of `judge --help`: its module in `judge.cli`, which holds `app`, and what it does in a line."""

    module: str
    text: str


PANELS: dict[str, dict[str, Entry]] = {
    "Start here": {
        "demo": Entry("start.demo", "A whole run by the control judge on packaged stories: no key, no network."),
        "check": Entry(
            "start.check", "One table of a judge's and people's ratings: does the judge agree? A page in one command."
        ),
        "try": Entry("start.try_", "One story, several Eval-Prompts side by side: request, answer, what was read."),
        "plan": Entry(
            "start.plan", "How many stories, people, repeats and prompts a study takes, and what to pay for next."
        ),
        "init": Entry("start.init", "Write a commented run.yaml to start from."),
        "doctor": Entry(
            "start.doctor", "What is installed, reachable and cached, and the command that mends the rest."
        ),
    },
    "Which stories, which prompts?": {
        "data": Entry("stories.data", "Datasets: list, fetch, show, check, add, convert."),
        "prompts": Entry("stories.prompts", "Eval-Prompts and criteria: list, show, render, check."),
    },
    "How is a judge run?": {
        "run": Entry("runs.run", "Send everything that a run defines to its judge; run again to go on."),
        "merge": Entry("runs.merge", "Join what judge run --shard i/N answered, as in a Slurm array, exactly once."),
        "status": Entry("runs.status", "How far runs are, and what became of each repeat."),
        "retry": Entry("runs.retry", "Send failed repeats again (and with --unparsed, answers without a rating)."),
        "serve-command": Entry("runs.serve_command", "The line that starts a vLLM server for a run."),
        "verify": Entry("runs.verify", "Derive every hash of a run again and compare; check a bundle."),
    },
    "What was answered?": {
        "parse": Entry("results.parse", "Read ratings out of answers: a JSON Lines file, or a run."),
        "ratings": Entry("results.ratings", "The ratings table: one row for each repeat and each rater."),
        "preferences": Entry("results.preferences", "The preferences table: one row for each verdict and each person."),
        "coverage": Entry("results.coverage", "What was requested, answered and parsed, and what loss goes with."),
        "disagreements": Entry(
            "results.disagreements", "Stories where judge and people, or repeats, differ most, with texts."
        ),
    },
    "What does it come to?": {
        "summary": Entry(
            "results.summary", "One screen: may it replace a person, which prompt, what goes wrong, what next."
        ),
        "certify": Entry(
            "results.certify", "A certificate: what a judge reached with people, and whether that is enough."
        ),
    },
    "Does a judge agree with itself?": {
        "consistency": Entry("results.consistency", "ICC over repeats, exact agreement, flip rate."),
        "repeats": Entry("results.repeats", "How many repeats, and how to sum them; distributions beside people's."),
        "components": Entry("results.components", "What ratings vary over, and how many repeats a reliability takes."),
    },
    "Does it agree with people?": {
        "correlate": Entry("agreement.correlate", "Correlations with people, beside human ceiling and control."),
        "panels": Entry("agreement.panels", "Panels of people (expert, lay): agreement, and judges against each."),
        "confusion": Entry("agreement.confusion", "Labels beside people's: accuracy, F1, kappa, confusion matrix."),
        "grid": Entry("agreement.grid", "The same in the published layout: judges down, criteria across."),
        "margins": Entry("agreement.margins", "Each judge's distance from people and control, with intervals."),
        "accuracy": Entry("agreement.accuracy", "How often a judge puts two stories, or systems, in people's order."),
        "aspects": Entry("agreement.aspects", "Whether a judge names the aspects that readers comment on (StoryER)."),
        "labels": Entry("agreement.labels", "How well a judge tells labelled stories from others."),
        "drift": Entry("agreement.drift", "Whether agreement is the same for every system and dataset."),
        "sliding-sets": Entry("agreement.sliding_sets", "Agreement on sets of stories of rising quality (OpenMEVA)."),
        "measures": Entry("results.measures", "BLEU, ROUGE, perplexity and other automatic measures, beside judges."),
        "replace": Entry("agreement.replace", "May this judge replace an annotator? The alternative annotator test."),
    },
    "How does it go wrong?": {
        "diagnose": Entry("results.diagnose", "Leniency, length bias, halo and other ways to go wrong, as tests."),
        "criteria": Entry(
            "results.criteria", "Whether criteria measure different things: tau between them, halo, scale use."
        ),
        "stress": Entry("stress.stress", "Stories changed on purpose: what a judge notices, and falls for."),
        "contamination": Entry(
            "results.contamination", "Whether models have seen the stories: Min-K% Prob and relatives, AUC."
        ),
    },
    "Which prompt, judge, system is better?": {
        "compare": Entry("results.compare", "Eval-Prompts, judges or runs against each other on the same stories."),
        "succeed": Entry(
            "results.succeed", "May a new judge replace an old one? Equivalence, crosswalk, changed verdicts."
        ),
        "jury": Entry("results.jury", "A panel of judges as one, out of fold, beside its best member and the control."),
        "rank": Entry("results.rank", "Comparisons of two stories: agreement, order, strengths of systems, cycles."),
        "systems": Entry("results.systems", "How good each system's stories are: means, ranks, groups, differences."),
    },
    "What do explanations say?": {
        "explain": Entry("explanations.explain", "A map, clusters, keywords, and numbers beside them."),
        "audit": Entry("explanations.audit", "People judge explanations: sample, serve, pack, import, export, report."),
    },
    "How are results shown?": {
        "report": Entry("show.report", "One HTML page of a run's results, with methods, BibTeX and a checklist."),
        "figure": Entry("show.figure", "Pictures of results for papers: heat map, distributions, calibration..."),
        "view": Entry("show.view", "Local pages over all runs: progress, judgments, stories, prompts, maps."),
        "reproduce": Entry("results.reproduce", "The studies' published tables: printed, as published, corrected."),
    },
    "Exchange with other programs": {
        "export": Entry("exchange.export", "Ratings and numbers for other programs; what a run lacks as a batch file."),
        "import": Entry("exchange.import_", "Ratings and answers made elsewhere: batch results, score files, tables."),
        "batch": Entry("exchange.batch", "A run through a provider's batch API: submit, status, collect."),
        "bundle": Entry("exchange.bundle", "Runs as one archive for artifact review; judge verify checks it anywhere."),
    },
}
"""Question -> commands, in reading order."""

COMMANDS: dict[str, Entry] = {name: entry for commands in PANELS.values() for name, entry in commands.items()}
"""Command -> its entry."""
