"""The main results in a few sentences, made from numbers by rules. The best of several rows is marked as such, since
its selection biases it upwards. A difference whose interval contains 0 may be due to chance. For an undefined number
the reason is given."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from markupsafe import Markup

from judge.analysis import classes
from judge.analysis.agreement import replacement
from judge.analysis.comparison.sentence import leaves_zero_out
from judge.analysis.correlation.margins import CEILING, CONTROL, Bar, Margin, Rival, best_of
from judge.analysis.coverage import counts
from judge.analysis.diagnose.kinds import Finding
from judge.analysis.inputs.candidates import match
from judge.analysis.raters import Raters
from judge.base.credentials.providers import JudgeName
from judge.base.errors import JudgeError
from judge.base.estimate import Estimate
from judge.base.printing import output
from judge.explanations.mapping.stored_map import StoredMap
from judge.inputs.eval_prompts import load_eval_prompt, shipped_eval_prompts
from judge.questions.charts.shared import worded
from judge.questions.summary.quality import Faults, with_itself
from judge.questions.summary.result import Answer
from judge.questions.summary.rules import of_loss
from judge.ratings.rating_matrix import RatingMatrix
from judge.show.pages.verdict_box import summary_boxes
from judge.show.report.blocks import folded, items, prose
from judge.show.report.inputs import ReportInputs
from judge.show.report.sections import agreement
from judge.show.report.sections import audit as audit_words

# Sentences about explanations, from the results that `judge explain` stored.


def looks(inputs: ReportInputs) -> list[StoredMap]:
    """The stored map of each analysis; one of several result folders is stored in each but returned once."""
    maps = [stored_map for stored_map in inputs.explanation_maps if stored_map is not None]
    return list({stored_map.signature: stored_map for stored_map in maps}.values())


def headline(inputs: ReportInputs) -> list[str]:
    """For each analysis, the number of explanations, and how well wording predicts the criterion."""
    folders = [stored_map for stored_map in inputs.explanation_maps if stored_map is not None]
    sentences = []
    for look in looks(inputs):
        texts = sum(len(stored_map.points) for stored_map in folders if stored_map.signature == look.signature)
        sentences.append(f"{texts:,} explanation{' was' if texts == 1 else 's were'} analysed{_told(look.tables)}.")
    return sentences


def _told(tables: Sequence[dict[str, Any]]) -> str:
    rows = [row for table in map(output.table, tables) for row in table.rows]
    pairs = [(_number(row.get("accuracy")), _number(row.get("accuracy_chance"))) for row in rows]
    shares = [(share, by_chance) for share, by_chance in pairs if share is not None and by_chance is not None]
    if not shares:
        return ""
    cells = f", over {len(shares)} rows (judge × Eval-Prompt)" if len(shares) > 1 else ""
    return (
        ": from the wording alone a classifier predicts the criterion of "
        f"{_span([100 * share for share, _ in shares])} % of them, "
        f"and of {_span([100 * by_chance for _, by_chance in shares])} % where it learned from permuted "
        f"criteria{cells}; this shows how far explanations differ by criterion, not whether they are correct"
    )


def _number(cell: Any) -> float | None:
    return cell.value if isinstance(cell, Estimate) else cell


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


# The question that is answered first, where there is something to be said.
WORTH = "What limits these figures?"

_UNFLATTERED = "By the row that other story-prompts choose, with intervals for all rows not told apart"

# Rows of another coverage that are named; the rest are counted.
_RIVALS = 3


def answers(inputs: ReportInputs) -> list[Answer]:
    """Caveats and agreement of labels (if any), agreement with people, missing ratings, consistency, explanations,
    audit."""
    rater_words = inputs.raters.noun
    first = tuple(_caveats(inputs))
    answers_so_far = [Answer(WORTH, first)] if first else []
    for matrix in inputs.matrices:
        best, findings = _of_dataset(inputs, matrix)
        on = f" on {matrix.dataset}" if len(inputs.matrices) > 1 else ""
        claimed = None if best is None else _claimed(inputs, matrix.dataset)
        verdict = None if claimed is None else claimed.verdict
        if claimed is not None and best is not None and len(_rows(inputs, matrix)) > 1:
            findings.append(f"{_UNFLATTERED}: {' '.join(claimed.sentences)}")
        answers_so_far.append(Answer(f"Does the judge agree with {rater_words}{on}?", tuple(findings), verdict))
        labelled = agreement.label_answer(inputs, matrix.dataset, on)
        answers_so_far += [labelled] if labelled is not None else []
    answers_so_far.append(_loss(inputs))
    answers_so_far += _consistency(inputs)
    explained = headline(inputs)
    if explained:
        answers_so_far.append(Answer("What do the explanations say?", tuple(explained)))
    try:
        audited = audit_words.audit_facts(inputs)
    except JudgeError:
        audited = None  # its own section says why
    if audited is not None:
        answers_so_far.append(Answer("What did people find in them?", (audit_words.audit_headline(audited),)))
    return answers_so_far


def _claimed(inputs: ReportInputs, dataset: str) -> Answer | None:
    # The answer is cross-fitted where its row is the highest of several.
    screens = [screen for screen in inputs.summary.datasets if screen.dataset == dataset]
    return next((answer for screen in screens for answer in screen.answers if answer.label == "people"), None)


def sentences(inputs: ReportInputs) -> list[str]:
    """Sentences of all answers in the box at the top of the page, in order."""
    return [sentence for answer in answers(inputs) for sentence in answer.sentences]


def _caveats(inputs: ReportInputs) -> Iterator[str]:
    for matrix in inputs.matrices:
        raters = inputs.raters_of(matrix.dataset)
        if raters.labels_note:
            yield f"No person rated the stories of {matrix.dataset}: {raters.labels_note}."
    for fact in inputs.table.facts:
        if JudgeName.of(fact.judge).is_scripted:
            yield f"{fact.judge} gives scripted answers: figures about it say nothing about any judge."


def _rows(inputs: ReportInputs, matrix: RatingMatrix) -> list[Margin]:
    # The control's rows are left out where a language model was asked.
    mine = [margin for margin in inputs.margins if margin.dataset == matrix.dataset] if inputs.has_people else []
    return [margin for margin in mine if not margin.control] or mine


def _of_dataset(inputs: ReportInputs, matrix: RatingMatrix) -> tuple[Margin | None, list[str]]:
    """The best row and the sentences on it; None where no row has a defined agreement."""
    mine = [margin for margin in inputs.margins if margin.dataset == matrix.dataset] if inputs.has_people else []
    judges = _rows(inputs, matrix)
    best = best_of([margin for margin in judges if margin.value.value is not None])
    findings = list(agreement_sentences(matrix, mine, inputs.raters_of(matrix.dataset)))
    named = match(matrix).sentence if mine else ""
    findings += [named] if named else []
    if best is not None:
        # Right behind the one figure that stands for all people.
        findings = [*findings[:1], *audit_words.audit_sentences(inputs, best), *findings[1:], *_hidden(inputs, best)]
    return best, findings


def _hidden(inputs: ReportInputs, best: Margin) -> Iterator[str]:
    # Up to three correlations of the best row get a sentence each; all others are only counted.
    flagged = [row for row in inputs.classes.flagged if row.subject.dataset == best.dataset]
    key = (best.run, best.judge, best.eval_prompt)
    mine = [row for row in flagged if (row.subject.run, row.subject.judge, row.subject.eval_prompt) == key]
    for row in mine[:_RIVALS]:
        text = classes.sentence(row).replace(" -", " −")
        yield f"On {row.subject.criterion}, {text}."
    if len(flagged) > len(mine[:_RIVALS]):
        more = len(flagged) - len(mine[:_RIVALS])
        yield f"{more} {'further ' if mine else ''}pooled correlations hide what holds within classes (see below)."


def agreement_sentences(matrix: RatingMatrix, margins: Sequence[Margin], raters: Raters) -> Iterator[str]:
    """How well the best row agrees with people, and control and ceiling."""
    one = "no system known" if [*matrix.systems] == ["-"] else "1 system"
    systems = f"{len(matrix.systems)} systems" if len(matrix.systems) > 1 else one
    where = f"{matrix.dataset} ({matrix.n:,} stories, {systems})"
    if not matrix.cells:
        yield f"No judge was run on {where}."
        return
    if not matrix.criteria or not margins:
        yield f"No people's ratings of {where} are known, so agreement with people cannot be estimated."
        return
    judges = [lead for lead in margins if not lead.control]
    if not judges:
        yield (
            f"The only judge run on {where} is the control, which is not a language model: the figures show how "
            "the program works, not how good a judge is."
        )
    shown = judges or margins
    defined = [lead for lead in shown if lead.value.value is not None]
    if not defined:
        yield f"On {where} agreement with {raters.noun} is undefined: {shown[0].value.reason}."
        return
    best = best_of(defined) or defined[0]
    yield from _agreement(where, best, len(shown), raters)
    # What stands beside a row that was picked has the intervals of `judge summary`, which `answers` adds.
    if len(shown) == 1:
        yield from _beside(best, raters)


def _agreement(where: str, best: Margin, rows: int, raters: Raters) -> Iterator[str]:
    number = len(best.criteria)
    over = f"mean over {number} criteria" if number > 1 else best.criteria[0]
    # The interval of a row by itself is too short for one that was picked.
    value = worded(best.value) if rows == 1 else _value(best.value)
    coefficient = f"Kendall's tau‑b ×100 with {raters.noun}, {over}, is {value}"
    if rows == 1:
        yield f"On {where}, {best.name}: {coefficient}."
        return
    most = "higher" if rows == 2 else "highest"
    flattered = f"the {most} of {rows} rows on these same stories, which flatters it"
    if any(rival.ahead for rival in best.rivals):
        own = f"{best.name} has the {most} value on its own stories ({100 * best.share:.0f} %)"
        yield f"On {where} no row is named the closest to {raters.noun}. {own}: {coefficient}. {_common(best.rivals)}."
    else:
        common = f" {_common(best.rivals)}." if best.rivals else ""
        yield f"On {where}, {best.name} follows {raters.noun} closest: {coefficient} ({flattered}).{common}"


def _common(rivals: Sequence[Rival]) -> str:
    # A comparison uses only stories that both rated. Rivals that are ahead come first; three are named.
    shown = sorted(rivals, key=lambda rival: not rival.ahead)[:_RIVALS]
    parts = [
        f"on the {rival.stories:,} that {rival.name}, which rated {100 * rival.share:.0f} % of the stories, has too it "
        f"reaches {worded(rival.best_mean)} and that row {worded(rival.rival_mean)}"
        for rival in shown
    ]
    more = f"; so for {len(rivals) - _RIVALS} more rows" if len(rivals) > _RIVALS else ""
    text = "; ".join(parts) + more
    return text[:1].upper() + text[1:]


def _beside(best: Margin, raters: Raters) -> Iterator[str]:
    control, ceiling = best.bars[CONTROL], best.bars[CEILING]
    if not best.control:
        yield _against(
            best,
            CONTROL,
            f"The control, which reads nothing but the surface of a text, reaches {worded(control)}{best.counted_as_0}",
        )
    if raters.labels_note:
        return  # there are no people of whom one could say how far they agree
    if ceiling.value is None:
        yield f"One more person cannot be set beside it: {ceiling.why.fact}."
    else:
        mine = best.same.get(CEILING)
        same = (
            f"; against the same means the judge ({best.readings} against one reading) reaches {_value(mine)}"
            if mine is not None
            else ""
        )
        yield _against(best, CEILING, f"One more person reaches {worded(ceiling)} with the mean of the others{same}")


def _against(best: Margin, kind: Bar, start: str) -> str:
    over, (above, criteria) = best.over[kind], best.above[kind]
    if best.bars[kind].value is None:
        return f"The control's row is undefined: {best.bars[kind].why.fact}."
    if over.value is None:
        return f"{start}."
    outside = leaves_zero_out(over)
    new = "new story-prompts or other raters" if kind == CEILING and best.other_raters else "new story-prompts"
    if outside is None:
        verdict = "without an interval, this may be chance"
    elif not outside:
        verdict = f"{new} alone could explain this"
    else:
        verdict = f"more than {new} would explain"
    count = f", higher on {above} of {criteria} criteria" if criteria > 1 else ""
    return f"{start}: the judge's value is {_distance(over)}{count}; {verdict}."


def _distance(over: Estimate) -> str:
    value = 100 * (over.value or 0.0)
    ends = ""
    if over.low is not None and over.high is not None:
        low, high = sorted((abs(100 * over.low), abs(100 * over.high)))
        ends = f" [{low:.1f}, {high:.1f}]" if leaves_zero_out(over) else f" (difference {worded(over)})"
    return f"{abs(value):.1f} {'above' if value >= 0 else 'below'}{ends}"


def _loss(inputs: ReportInputs) -> Answer:
    question = "What share of the ratings is missing?"
    if not inputs.coverage.total.rows:
        return Answer(question, ("No request was made to a judge.",))
    (row,) = inputs.coverage.total.rows
    findings = [inputs.raters.worded(words) for words in _lost_by_quality(inputs)]
    came = inputs.coverage.total.came
    first = counts.said(row.rated, row.asked, row.lost, came)
    return Answer(question, (first, *findings), of_loss(row.rated, row.asked, came))


def _lost_by_quality(inputs: ReportInputs) -> Iterator[str]:
    """A sentence for each row that loses stories of a quality, by the tests of "What goes wrong"."""
    named: list[str] = []
    for matrix in inputs.matrices if inputs.has_people else ():
        faults = Faults.of(inputs.diagnosis, matrix.dataset, None).of_loss
        for key in dict.fromkeys(row_of(finding) for finding in faults.found):
            one = Faults(*(tuple(f for f in each if row_of(f) == key) for each in (faults.tests, faults.found)))
            named.append(one.words(who=f"{key[1]} with {key[2]}"))
    yield from named[:_RIVALS]
    if len(named) > _RIVALS:
        yield f"So do {len(named) - _RIVALS} more rows, which lose stories of a quality."


def row_of(finding: Finding) -> tuple[str, str, str]:
    """The row of a judge that a test is about."""
    return finding.cell.run, finding.cell.judge, finding.cell.eval_prompt


def _consistency(inputs: ReportInputs) -> Iterator[Answer]:
    question = "Does the judge agree with itself?"
    rows = [estimate for cell in inputs.consistency.judged if (estimate := cell.estimate("ICC(1,1)"))]
    if rows:
        text, verdict = with_itself(rows, "cells (judge × Eval-Prompt × criterion)")
        yield Answer(question, (text,), verdict)


def _value(estimate: Estimate) -> str:
    return worded(replace(estimate, low=None, high=None))


# The box of verdicts at the top of the report page: the answers of `judge summary`, about one row (a judge with an
# Eval-Prompt) of each dataset. What the other rows say is folded below it.


def _every_row(inputs: ReportInputs) -> Iterator[Markup]:
    """Which of all rows may replace a person: a reader may have come for another than the one in the box."""
    if not inputs.has_people or inputs.raters.labels_note or inputs.checked is not None:
        return
    verdicts = inputs.replacement.verdicts
    if len(verdicts) > 1 and any(each.word != "cannot be tested" for each in verdicts.values()):
        yield prose(f"Of all {len(verdicts)} rows: {replacement.verdict(inputs.replacement)}")


def _asked(inputs: ReportInputs) -> Iterator[str]:
    """Criteria with their definitions, and Eval-Prompts with what they ask for."""
    criteria = {criterion.name: criterion for fact in inputs.facts for criterion in fact.criteria}
    for criterion in criteria.values():
        scale = criterion.scale
        points = ", ".join(scale.labels) if scale.labels else f"{scale.min:g} to {scale.max:g}"
        guided = ", with guidelines" if criterion.guidelines else ""
        yield f"{criterion.name}: {criterion.definition or 'no definition is known'}; {points}{guided}."
    for name in dict.fromkeys(name for fact in inputs.facts for name in fact.eval_prompts):
        ours = name in shipped_eval_prompts()
        yield f"Eval-Prompt {name}: {load_eval_prompt(name).description if ours else 'a prompt of its own'}."


def headline_blocks(inputs: ReportInputs) -> list[Markup]:
    """A box for each dataset of the summary, and the sentences over all rows."""
    others = [answer for answer in answers(inputs) if answer.question != WORTH]
    sentences = [f"{answer.question} {sentence}" for answer in others for sentence in answer.sentences]
    return [
        *summary_boxes(inputs.summary),
        *_every_row(inputs),
        folded("What the judges were asked", items(list(_asked(inputs)))),
        folded("Agreement, losses and consistency over all rows, in sentences", items(sentences)),
    ]
