"""The summary of a ratings table: which row it is about, and its answers in reading order. Never prints.

It is about the judge and Eval-Prompt with the highest tau, said to be picked where there are several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge.analysis.correlation.margins import Margin, best_of
from judge.analysis.inputs.label_criteria import scale_of
from judge.analysis.labels import ConfusionRow
from judge.analysis.raters import Raters
from judge.judge_name import JudgeName
from judge.rating_matrix import RatingMatrix
from judge.summary import agreement, preferences, quality, replacement, rules, systems
from judge.summary.answers import Answer
from judge.summary.evidence import Evidence, names_of
from judge.summary.missing import missing
from judge.summary.next_steps import commands, compared_commands
from judge.summary.preferences import Compared
from judge.summary.quality import Seen
from judge.summary.result import Missing, OfDataset, Summary


def summarize(evidence: Evidence, runs: Sequence[str], seen: Seen | None = None) -> Summary:
    """A screen for each dataset. `runs` are the RUNs as named, for commands; `seen` tells of contamination."""
    found = tuple(_of_dataset(evidence, matrix, runs, seen) for matrix in evidence.matrices)
    parts = evidence.correlations.signature_parts if evidence.has_people else evidence.coverage.signature_parts
    granted = f"epsilon:{evidence.options.epsilon:g}" + ("|positions:yes" if evidence.options.positions else "")
    return Summary(found, tuple(caveats(evidence)), signature_parts=(*parts[:-1], granted, *parts[-1:]), notes=())


def compared(found: Compared, runs: Sequence[str]) -> Summary:
    """The screen of runs that compared: all their datasets together."""
    answers = tuple(preferences.answers(found))
    facts = found.compared_facts
    judges = {fact.judge for fact in facts}
    prompts = {name for fact in facts for name in fact.eval_prompts}
    pairs = sum(row.pairs for row in found.verdicts.by_prompt)
    about = f"{_many(pairs, 'pair')}, {_many(len(judges), 'judge')}, {_many(len(prompts), 'Eval-Prompt')}"
    worth = next((one.sentences for one in answers if one.label == "worth"), ())
    answers = tuple(one for one in answers if one.label != "worth")
    names = ", ".join(dict.fromkeys(fact.dataset for fact in facts))
    screen = OfDataset(names, about, "runs that compared two stories", answers, commands=compared_commands(runs))
    parts = found.preferences.agreement.signature_parts
    return Summary((screen,), worth, signature_parts=parts, notes=())


def caveats(evidence: Evidence) -> Iterator[str]:
    """What is to be known before any figure."""
    for matrix in evidence.matrices:
        note = evidence.raters_of(matrix.dataset).labels_note
        if note:
            yield f"No person rated the stories of {matrix.dataset}: {note}."
    facts = evidence.table.facts
    for fact in facts:
        if JudgeName.of(fact.judge).is_scripted:
            yield f"{fact.judge} gives scripted answers: figures about it say nothing about any judge."
    if facts and all(fact.control for fact in facts):
        yield "The only judge is the control, which is not a language model: the figures show how the program works."


def _of_dataset(evidence: Evidence, matrix: RatingMatrix, runs: Sequence[str], seen: Seen | None) -> OfDataset:
    mine = [one for one in evidence.margins if one.dataset == matrix.dataset]
    best, picked = _row(evidence, matrix, mine)
    if best is None:
        answers = (quality.lost(evidence, matrix, None), *quality.itself(evidence, matrix, None))
        row = (
            "nobody's ratings of these stories are known" if not matrix.criteria else "no row can be set beside people"
        )
        gaps = missing(evidence, matrix, None, answers, seen)
        return OfDataset(
            matrix.dataset,
            _about(evidence, matrix),
            row,
            answers,
            gaps,
            _commands(evidence, matrix, runs, gaps, None, answers),
        )
    found = (
        replacement.answer(evidence, best),
        *agreement.variants(evidence, matrix, best),
        agreement.people(evidence, best),
        *agreement.labels(evidence, best),
        systems.systems(evidence, matrix, best),
        *filter(None, (systems.better(evidence, matrix, best), agreement.stories(best, matrix))),
        *quality.itself(evidence, matrix, best),
        quality.lost(evidence, matrix, best),
        quality.wrong(evidence, best),
        quality.seen(seen),
    )
    answers = tuple(_asked_of(evidence.raters_of(matrix.dataset), one) for one in found)
    gaps = missing(evidence, matrix, best, answers, seen)
    said = Answer(
        "What is missing to be sure?", tuple(one.words for one in gaps), rules.of_missing(len(gaps)), label="missing"
    )
    return OfDataset(
        matrix.dataset,
        _about(evidence, matrix),
        picked,
        (*answers, said),
        gaps,
        _commands(evidence, matrix, runs, gaps, best, answers),
    )


def _asked_of(raters: Raters, answer: Answer) -> Answer:
    """An answer whose question and rule speak of labels where no person rated the stories."""
    rule = answer.verdict and replace(answer.verdict, rule=raters.said(answer.verdict.rule))
    return replace(answer, question=raters.said(answer.question), verdict=rule)


def _commands(
    evidence: Evidence,
    matrix: RatingMatrix,
    runs: Sequence[str],
    gaps: Sequence[Missing],
    best: Margin | None,
    answers: Sequence[Answer],
) -> tuple[str, ...]:
    """What to do next; a judge whose ratings were imported or recorded is not asked again."""
    facts = [fact for fact in evidence.table.facts if fact.dataset == matrix.dataset]
    askable = bool(facts) and not any(matrix.imported) and not JudgeName.of(facts[0].judge).is_recorded
    only = len(names_of(matrix, "judge")) * len(names_of(matrix, "eval_prompt")) == 1
    replaces = any(one.label == "replace" and one.verdict is not None and one.verdict.text == "yes" for one in answers)
    other = _other(evidence, best)
    positions = evidence.options.positions
    return commands(runs, gaps, best, askable=askable, only=only, replaces=replaces, positions=positions, other=other)


def _other(evidence: Evidence, best: Margin | None) -> str | None:
    """The judge with the highest tau beside the row's."""
    rows = [
        one
        for one in evidence.margins
        if best is not None and one.dataset == best.dataset and not one.control and one.judge != best.judge
    ]
    found = best_of(rows) if rows else None
    return None if found is None else found.judge


def _row(evidence: Evidence, matrix: RatingMatrix, mine: Sequence[Margin]) -> tuple[Margin | None, str]:
    """The row that the answers are about, and how it was picked."""
    judges = [one for one in mine if not one.control] or list(mine)
    if not judges:
        return None, ""
    best = best_of(judges)
    by = "the highest tau"
    if best is None:
        # Of labels a mean over criteria may not exist: one that is always the same label has no correlation.
        found = _most_accurate(evidence, matrix.dataset)
        best = next((one for one in judges if found is not None and _key(one) == _subject(found)), judges[0])
        by = "the highest balanced accuracy" if found is not None else "the first"
    if len(judges) == 1:
        return best, best.name
    flatters = ", which flatters it" if by != "the first" else ""
    return best, f"{best.name} ({by} of {len(judges)} rows{flatters})"


def _most_accurate(evidence: Evidence, dataset: str) -> ConfusionRow | None:
    found = evidence.confusions
    rows = [row for row in found.main(dataset) if row in found.judges] if found is not None else []
    known = [row for row in rows if row.statistics["balanced_accuracy"].value is not None]
    return max(known, key=lambda row: row.statistics["balanced_accuracy"].value or 0.0) if known else None


def _key(one: Margin) -> tuple[str | None, str, str | None]:
    return one.run, one.judge, one.eval_prompt


def _subject(row: ConfusionRow) -> tuple[str | None, str, str | None]:
    return row.subject.run, row.subject.judge, row.subject.eval_prompt


def _about(evidence: Evidence, matrix: RatingMatrix) -> str:
    """What was rated, by how many judges with how many Eval-Prompts."""
    judges, prompts = len(names_of(matrix, "judge")), len(names_of(matrix, "eval_prompt"))
    criteria = len(names_of(matrix, "criterion"))
    labelled = sum(scale_of(matrix, name) is not None for name in names_of(matrix, "criterion"))
    kinds = f" ({labelled} of labels)" if labelled and labelled < criteria else " of labels" if labelled else ""
    story_prompts = len(set(matrix.story_prompt.tolist()))
    repeats = max((fact.repeats for fact in evidence.table.facts if fact.dataset == matrix.dataset), default=0)
    counted = [
        f"{_many(matrix.n, 'story', 'stories')} of {_many(story_prompts, 'story-prompt')}",
        _many(len(matrix.systems), "system"),
        _many(criteria, "criterion", "criteria") + kinds,
        _many(judges, "judge"),
        _many(prompts, "Eval-Prompt"),
        *([_many(repeats, "repeat")] if repeats else []),
    ]
    return ", ".join(counted)


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or one + 's'}"
