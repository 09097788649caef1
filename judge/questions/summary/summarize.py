"""The summary of a ratings table: the judge and Eval-Prompt with the highest tau, and the answers in reading order."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judge.analysis.correlation.margins import Margin, best_of
from judge.analysis.inputs.label_criteria import scale_of
from judge.analysis.labels import ConfusionRow
from judge.analysis.raters import Raters
from judge.base.credentials.providers import JudgeName
from judge.contamination.check import Dated, dated
from judge.questions.summary import people, preferences, quality, rules, systems
from judge.questions.summary.evidence import Choice, Evidence, chosen, names_of
from judge.questions.summary.preferences import Compared
from judge.questions.summary.quality import Seen
from judge.questions.summary.registered_plan import kept_to
from judge.questions.summary.result import Answer, Missing, OfDataset, Summary
from judge.questions.summary.rules import FEW_SYSTEMS, WIDE
from judge.ratings.rating_matrix import RatingMatrix

# Gaps in the evidence of a summary: a list of conditions, and a function that checks which of them hold.

# Share of missing ratings above which the loss is a gap.
MUCH = 0.05


@dataclass(frozen=True, slots=True)
class Condition:
    """One entry of the list of possible gaps in the evidence: its name, and when it applies."""

    name: str
    when: str


# In the order in which they are told; docs/summary.md holds the same.
CONDITIONS = (
    Condition("people", "nobody's ratings of the stories are known"),
    Condition("labels", "labels by construction stand in for people's ratings"),
    Condition("judge", "no language model was asked: the judge is a control, or its answers are scripted"),
    Condition("raters", "who gave which rating is not known: neither one more person nor the alternative annotator "
              "test stands beside the judge"),
    Condition("annotators", "raters are known, and there are no two with 30 stories each that another rated too"),
    Condition("unasked", "planned repeats have no answer"),
    Condition("lost", f"more than {100 * MUCH:.0f} % of the row's repeats have no rating"),
    Condition("repeats", "ICC does not exist: one repeat, or means of repeats"),
    Condition("prompts", "one Eval-Prompt was tried"),
    Condition("stories", f"the 95 % interval of tau reaches more than {100 * WIDE:.0f} points (x100) to a side"),
    Condition("systems", f"there are fewer than {FEW_SYSTEMS} systems"),
    Condition("held-out", "the row was picked as the highest of several on these same stories"),
    Condition("settings", "a setting was refused or ignored, or nothing is known of it"),
    Condition("seen", "contamination was not measured, by a check or by scores"),
)  # fmt: skip


def missing(
    evidence: Evidence, matrix: RatingMatrix, best: Margin | None, answers: Sequence[Answer], seen: Seen | None
) -> tuple[Missing, ...]:
    """Gaps in the evidence for the summary of one dataset, such as no ratings by people, each with what is missing."""
    return tuple(_found(evidence, matrix, best, answers, seen))


def _found(
    evidence: Evidence, matrix: RatingMatrix, best: Margin | None, answers: Sequence[Answer], seen: Seen | None
) -> Iterator[Missing]:
    raters = evidence.raters_of(matrix.dataset)
    verdicts = {answer.label: answer.verdict.text for answer in answers if answer.verdict is not None}
    if not matrix.criteria:
        yield Missing("people", "people's ratings of these stories")
    elif raters.labels_note:
        yield Missing("labels", "people's ratings: these are labels by construction")
    facts = [fact for fact in evidence.table.facts if fact.dataset == matrix.dataset]
    if facts and all(fact.control or fact.judge.startswith("scripted/") for fact in facts):
        yield Missing("judge", "a language model")
    elif matrix.criteria and not raters.labels_note:
        yield from _annotators(matrix, verdicts)
    yield from _answers(matrix, best)
    if verdicts.get("itself") == "not known":
        yield Missing("repeats", "repeats")
    if len(names_of(matrix, "eval_prompt")) < 2:
        yield Missing("prompts", "a second Eval-Prompt")
    if best is not None:
        yield from _precision(matrix, best, sum(margin.dataset == matrix.dataset for margin in evidence.margins))
    if matrix.criteria and len(matrix.systems) < FEW_SYSTEMS:
        yield Missing("systems", f"systems: {len(matrix.systems)} are weak evidence about a ranking")
    if any(fact.not_in_force for fact in facts):
        yield Missing("settings", "which settings the server obeyed")
    if seen is None and not (facts and all(fact.control for fact in facts)):
        yield Missing("seen", "whether it has seen the stories")


def _annotators(matrix: RatingMatrix, verdicts: Mapping[str, str]) -> Iterator[Missing]:
    if not all(matrix.by_rater(j).known for j in range(len(matrix.criteria))):
        yield Missing("raters", "who gave which rating")
    elif verdicts.get("replace") == "cannot be tested":
        yield Missing("annotators", "two people who rated 30 stories each, to test whether it may replace one")


def _answers(matrix: RatingMatrix, best: Margin | None) -> Iterator[Missing]:
    asked = rated = unasked = 0
    for i, cell in enumerate(matrix.cells):
        unasked += matrix.missing[i].get("not_answered", 0)
        if best is None or (cell.run, cell.judge, cell.eval_prompt) == (best.run, best.judge, best.eval_prompt):
            asked, rated = asked + int(matrix.asked[i].sum()), rated + int(matrix.valid[i].sum())
    if unasked:
        yield Missing("unasked", f"answers to {unasked:,} planned repeats")
    if asked and (asked - rated) / asked > MUCH:
        yield Missing("lost", f"ratings of {100 * (asked - rated) / asked:.0f} % of its repeats")


def _precision(matrix: RatingMatrix, best: Margin, rows: int) -> Iterator[Missing]:
    value = best.value
    if value.value is not None and value.low is not None and value.high is not None:
        half = (value.high - value.low) / 2
        if half > WIDE:
            now = len(np.unique(matrix.story_prompt))
            wanted = int(np.ceil(now * (half / WIDE) ** 2))
            yield Missing("stories", f"stories: tau is known to ±{100 * half:.1f}; about {wanted:,} story-prompts in "
                          f"place of {now:,} would make it ±{100 * WIDE:.0f}")  # fmt: skip
    if rows > 1:
        yield Missing("held-out", "the same judge and prompt on other stories")


# Suggested next commands: first commands that fill gaps in the evidence, then commands that show more results.

# Commands on a screen: more would push answers off its 40 lines.
MOST = 5


def commands(
    runs: Sequence[str],
    gaps: Sequence[Missing],
    best: Margin | None,
    *,
    askable: bool,
    only: bool,
    replaces: bool,
    positions: bool = False,
    other: str | None = None,
) -> tuple[str, ...]:
    """Suggested next commands, at most 5 (`MOST`), the most needed first. `askable`: the judge can be asked again.
    `only`: there is only one judge x Eval-Prompt, which then need not be named. `replaces`: the judge may replace an
    annotator. `positions`: columns of ratings were taken as raters. `other` is the second-best judge.
    """
    run, first_run = shlex.join(runs), shlex.quote(runs[0])
    closing = {
        "seen": f"judge contamination check {first_run}",
        "stories": f"judge plan {first_run}",
    }
    if askable:
        closing |= {
            "unasked": f"judge run {first_run} --retry",
            "lost": f"judge run {first_run} --retry --unparsed",
            "prompts": f"judge run {first_run} --set 'eval_prompts=[ep1, ep3]'",
            "repeats": f"judge run {first_run} --set repeats=3",
        }
    closers = [closing[gap.name] for gap in gaps if gap.name in closing]
    looking = [f"judge report {run}"]
    # What rests on an assumption comes late; a floor that is chosen after looking is not suggested at all.
    if any(gap.name == "raters" for gap in gaps) and not positions:
        looking.insert(0, f"judge summary {run} --set positions=true")
    if best is not None and not best.control and replaces:
        own = "" if only else _narrowed(best)
        looking.insert(0, f"judge certify {run}{own} --require replace -o certificate.json")
    if best is not None and other is not None and len(runs) == 1:
        looking.insert(0, f"judge compare {first_run} --by judge")
    room = MOST - len(looking)
    if closing["seen"] in closers[room:]:  # of a reader's questions the one that no other command answers
        closers.insert(room - 1, closing["seen"])
    return (*closers[:room], *looking)


def compared_commands(runs: Sequence[str]) -> tuple[str, ...]:
    run = shlex.join(runs)
    return (f"judge rank {run}", f"judge report {run}")


def _narrowed(best: Margin) -> str:
    return f" --judge {shlex.quote(best.judge)} --eval-prompt {shlex.quote(best.eval_prompt)}"


def summarize(evidence: Evidence, runs: Sequence[str], seen: Seen | None = None) -> Summary:
    """Summary of runs that rate stories, one screen for each dataset; `runs` are their names in suggested commands,
    `seen` the evidence from contamination scores.
    """
    rows = [_row(evidence, matrix) for matrix in evidence.matrices]
    screens = tuple(
        _of_dataset(evidence, matrix, row, runs, seen) for matrix, row in zip(evidence.matrices, rows, strict=True)
    )
    picked = dict.fromkeys(choice.signature_part for choice, _ in rows if choice is not None)
    parts = evidence.ranked.signature_parts if evidence.has_people else evidence.coverage.signature_parts
    # The program's version stays the last part.
    own = (*filter(None, picked), evidence.options.signature_part)
    return Summary(screens, tuple(caveats(evidence)), signature_parts=(*parts[:-1], *own, *parts[-1:]), notes=())


def compared(runs_compared: Compared, runs: Sequence[str]) -> Summary:
    """Summary of runs that compare stories, on one screen; `runs` are their names in suggested commands."""
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
    """What should be read before any figure, such as that no person rated the stories of a dataset."""
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


def _of_dataset(
    evidence: Evidence, matrix: RatingMatrix, found: tuple[Choice | None, str], runs: Sequence[str], seen: Seen | None
) -> OfDataset:
    choice, picked = found
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
        systems.answer(choice.evidence, claimed, _faults(wrong, better), choice.contenders),
        *rules.variants(evidence, matrix, best),
        people.people(choice.evidence, claimed),
        *rules.labels(evidence, best),
        systems.systems(evidence, matrix, best),
        *filter(None, (better, rules.stories(claimed, matrix))),
        *quality.itself(evidence, matrix, best),
        quality.lost(evidence, matrix, best),
        wrong,
        quality.seen(seen, _dates(best), control=best.control),
        *_plan(evidence, matrix, best),
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


def _plan(evidence: Evidence, matrix: RatingMatrix, best: Margin) -> Iterator[Answer]:
    about = [(best.judge, best.eval_prompt)]
    found = kept_to(evidence.table.facts, matrix, about, evidence.options)
    if found is not None:
        verdict = rules.of_plan(len(found.changes))
        yield Answer("Does it keep to its plan?", (found.sentence,), verdict, label="plan")


def _faults(*answers: Answer | None) -> str:
    texts = [answer.verdict.text for answer in answers if answer is not None and answer.verdict is not None]
    return ", ".join(text for text in texts if rules.names_a_fault(text))


def _dates(best: Margin) -> Dated | None:
    """Dates (months) of the judge's model and the stories; None for what is not from a model."""
    if best.control or JudgeName.of(best.judge).is_scripted:
        return None
    return dated(best.judge, best.dataset)


def _asked_of(raters: Raters, answer: Answer) -> Answer:
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
    facts = [fact for fact in evidence.table.facts if fact.dataset == matrix.dataset]
    # Judges of imported or recorded ratings cannot be asked again.
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
    rows = [
        margin
        for margin in evidence.margins
        if best is not None and margin.dataset == best.dataset and not margin.control and margin.judge != best.judge
    ]
    highest = best_of(rows) if rows else None
    return None if highest is None else highest.judge


def _row(evidence: Evidence, matrix: RatingMatrix) -> tuple[Choice | None, str]:
    """The judge x Eval-Prompt that the answers are about, and its name with the reason; None without any."""
    mine = [margin for margin in evidence.margins if margin.dataset == matrix.dataset]
    judges = [margin for margin in mine if not margin.control] or list(mine)
    if not judges:
        return None, ""
    if (highest := best_of(judges)) is not None:
        best = evidence.with_bars(highest)
        choice = chosen(evidence, matrix, best, [best if row is highest else row for row in judges])
        return choice, f"{best.name}{choice.words}"
    # Of labels a mean over criteria may not exist: one that is always the same label has no correlation.
    most_accurate = _most_accurate(evidence, matrix.dataset)
    accurate = (margin for margin in judges if most_accurate is not None and _key(margin) == _subject(most_accurate))
    best = evidence.with_bars(next(accurate, judges[0]))
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
