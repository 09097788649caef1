"""The summary of a ratings table: the choice of the judge and Eval-Prompt to describe, and the answers in reading
order.

The summary describes the pair of judge and Eval-Prompt with the highest Kendall's tau. Where there are several pairs,
it says that this pair was selected.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from judge.analysis.correlation.margins import Margin, best_of
from judge.analysis.inputs.label_criteria import scale_of
from judge.analysis.labels import ConfusionRow
from judge.analysis.raters import Raters
from judge.base.judge_name import JudgeName
from judge.contamination.check.dates import Dated, dated
from judge.questions.summary import agreement, people, preferences, quality, replacement, rules, systems
from judge.questions.summary.answers import Answer
from judge.questions.summary.choice import Choice, chosen
from judge.questions.summary.evidence import Evidence, names_of
from judge.questions.summary.missing import missing
from judge.questions.summary.next_steps import commands, compared_commands
from judge.questions.summary.preferences import Compared
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import Missing, OfDataset, Summary
from judge.ratings.rating_matrix import RatingMatrix


def summarize(evidence: Evidence, runs: Sequence[str], seen: Seen | None = None) -> Summary:
    """Summary of runs that rate stories, with one screen for each dataset. `runs` are the names of the runs in
    suggested commands. `seen` is the evidence from contamination scores, None without scores.
    """
    screens = tuple(_of_dataset(evidence, matrix, runs, seen) for matrix in evidence.matrices)
    parts = evidence.correlations.signature_parts if evidence.has_people else evidence.coverage.signature_parts
    # The program's version stays the last part.
    own = evidence.options.signature_part
    return Summary(screens, tuple(caveats(evidence)), signature_parts=(*parts[:-1], own, *parts[-1:]), notes=())


def compared(runs_compared: Compared, runs: Sequence[str]) -> Summary:
    """Summary of runs that compare stories, with one screen for all their datasets. `runs` are the names of the runs in
    suggested commands.
    """
    answers = tuple(preferences.answers(runs_compared))
    facts = runs_compared.compared_facts
    judges = {fact.judge for fact in facts}
    prompts = {name for fact in facts for name in fact.eval_prompts}
    pairs = sum(row.pairs for row in runs_compared.verdicts.by_prompt)
    about = f"{_many(pairs, 'pair')}, {_many(len(judges), 'judge')}, {_many(len(prompts), 'Eval-Prompt')}"
    worth = next((answer.sentences for answer in answers if answer.label == "worth"), ())
    answers = tuple(answer for answer in answers if answer.label != "worth")
    names = ", ".join(dict.fromkeys(fact.dataset for fact in facts))
    screen = OfDataset(names, about, "runs that compared two stories", answers, commands=compared_commands(runs))
    parts = runs_compared.preferences.agreement.signature_parts
    return Summary((screen,), worth, signature_parts=parts, notes=())


def caveats(evidence: Evidence) -> Iterator[str]:
    """Yield sentences that should be read before any figure, such as that no person rated the stories of a dataset."""
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
    mine = [margin for margin in evidence.margins if margin.dataset == matrix.dataset]
    choice, picked = _row(evidence, matrix, mine)
    if choice is None:
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
    best, claimed = choice.best, choice.claimed
    wrong = quality.wrong(evidence, best)
    better = systems.better(evidence, matrix, best)
    asked = (
        replacement.answer(choice.evidence, claimed, _faults(wrong, better), choice.contenders),
        *agreement.variants(evidence, matrix, best),
        people.people(choice.evidence, claimed),
        *agreement.labels(evidence, best),
        systems.systems(evidence, matrix, best),
        *filter(None, (better, agreement.stories(claimed, matrix))),
        *quality.itself(evidence, matrix, best),
        quality.lost(evidence, matrix, best),
        wrong,
        quality.seen(seen, _dates(best)),
    )
    answers = tuple(_asked_of(evidence.raters_of(matrix.dataset), answer) for answer in asked)
    gaps = missing(evidence, matrix, claimed, answers, seen)
    gap_answer = Answer(
        "What is missing to be sure?", tuple(gap.words for gap in gaps), rules.of_missing(len(gaps)), label="missing"
    )
    return OfDataset(
        matrix.dataset,
        _about(evidence, matrix),
        picked,
        (*answers, gap_answer),
        gaps,
        _commands(evidence, matrix, runs, gaps, best, answers),
    )


def _faults(*answers: Answer | None) -> str:
    """The verdicts of these answers that name a fault of the judge; empty where none does."""
    texts = [answer.verdict.text for answer in answers if answer is not None and answer.verdict is not None]
    return ", ".join(text for text in texts if rules.names_a_fault(text))


def _dates(best: Margin) -> Dated | None:
    """Dates (months) of the judge's model and of the dataset's stories. None for the control (a surface-feature
    baseline) and for scripted answers, which are not from a model.
    """
    if best.control or JudgeName.of(best.judge).is_scripted:
        return None
    return dated(best.judge, best.dataset)


def _asked_of(raters: Raters, answer: Answer) -> Answer:
    """The answer, reworded to speak of labels instead of people where no person rated the stories."""
    rule = answer.verdict and replace(answer.verdict, rule=raters.worded(answer.verdict.rule))
    return replace(answer, question=raters.worded(answer.question), verdict=rule)


def _commands(
    evidence: Evidence,
    matrix: RatingMatrix,
    runs: Sequence[str],
    gaps: Sequence[Missing],
    best: Margin | None,
    answers: Sequence[Answer],
) -> tuple[str, ...]:
    """Suggested next commands for a dataset. A judge whose ratings were imported or recorded cannot be asked again;
    commands that would ask it are left out.
    """
    facts = [fact for fact in evidence.table.facts if fact.dataset == matrix.dataset]
    askable = bool(facts) and not any(matrix.imported) and not JudgeName.of(facts[0].judge).is_recorded
    only = len(names_of(matrix, "judge")) * len(names_of(matrix, "eval_prompt")) == 1
    replaces = any(
        answer.label == "replace" and answer.verdict is not None and answer.verdict.text.startswith("yes")
        for answer in answers
    )
    other = _other(evidence, best)
    positions = evidence.options.positions
    return commands(runs, gaps, best, askable=askable, only=only, replaces=replaces, positions=positions, other=other)


def _other(evidence: Evidence, best: Margin | None) -> str | None:
    """Name of the second-best judge: the one with the highest tau among the judges other than that of `best`, without
    controls. None if there is no other judge.
    """
    rows = [
        margin
        for margin in evidence.margins
        if best is not None and margin.dataset == best.dataset and not margin.control and margin.judge != best.judge
    ]
    highest = best_of(rows) if rows else None
    return None if highest is None else highest.judge


def _row(evidence: Evidence, matrix: RatingMatrix, mine: Sequence[Margin]) -> tuple[Choice | None, str]:
    """The pair of judge and Eval-Prompt that the answers are about, and its name with the reason for which it was
    chosen. The pair is None where no judge can be compared with people. `mine` are the pairs on this dataset with their
    correlations.
    """
    judges = [margin for margin in mine if not margin.control] or list(mine)
    if not judges:
        return None, ""
    best = best_of(judges)
    if best is not None:
        choice = chosen(evidence, matrix, best, judges)
        return choice, f"{best.name}{choice.words}"
    # Of labels a mean over criteria may not exist: one that is always the same label has no correlation.
    most_accurate = _most_accurate(evidence, matrix.dataset)
    accurate = (margin for margin in judges if most_accurate is not None and _key(margin) == _subject(most_accurate))
    best = next(accurate, judges[0])
    by = "the first" if most_accurate is None else "the highest balanced accuracy"
    flatters = "" if most_accurate is None else ", which flatters it"
    words = f" ({by} of {len(judges)} rows{flatters})" if len(judges) > 1 else ""
    return Choice(best, len(judges), None, 1, evidence, best), f"{best.name}{words}"


def _most_accurate(evidence: Evidence, dataset: str) -> ConfusionRow | None:
    confusions = evidence.confusions
    rows = [row for row in confusions.main(dataset) if row in confusions.judges] if confusions is not None else []
    defined = [row for row in rows if row.statistics["balanced_accuracy"].value is not None]
    return max(defined, key=lambda row: row.statistics["balanced_accuracy"].value or 0.0) if defined else None


def _key(margin: Margin) -> tuple[str | None, str, str | None]:
    return margin.run, margin.judge, margin.eval_prompt


def _subject(row: ConfusionRow) -> tuple[str | None, str, str | None]:
    return row.subject.run, row.subject.judge, row.subject.eval_prompt


def _about(evidence: Evidence, matrix: RatingMatrix) -> str:
    """One line of text with the numbers of stories, systems, criteria, judges, Eval-Prompts and repeats of a
    dataset.
    """
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


def _many(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
