"""Tests whether a judge's agreement with people meets conditions, for each Eval-Prompt and criterion.

Each must meet every condition: one that holds on average may fail for the criterion that is used, and the best of
several Eval-Prompts may be the best by chance. Labels that no person gave are not accepted as human ratings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from judge.analysis.agreement.alternative_annotator import AltTestRow
from judge.analysis.agreement.replacement_verdict import informed, is_below, passes
from judge.analysis.correlation import margins
from judge.analysis.correlation.margins import CEILING, CONTROL, Margin
from judge.analysis.coverage.by_quality import requested
from judge.analysis.diagnose.kinds import Bounded, bounded, found_without_limit
from judge.analysis.inputs.candidates import match
from judge.analysis.options.signature import joined
from judge.answers.journal import JournalReader
from judge.asking.in_force.catalogue import life_in
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.text_layout import moment
from judge.questions.certificate.file import FORMAT, MEANINGS, Conditions, criteria_of, settings_of
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.quality import Faults
from judge.questions.summary.registered_plan import KeptTo, kept_to
from judge.questions.summary.result import EvidenceOptions
from judge.questions.summary.systems import verdict_of
from judge.ratings.rating_matrix import Cell, RatingMatrix
from judge.ratings.ratings_table import RatingsTable, RunFacts
from judge.version import __version__

# What a certificate does not cover of the run that it is of.


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Criteria and Eval-Prompts of a run that its certificate does not cover, since options left them out."""

    criteria: tuple[str, ...] = ()
    eval_prompts: tuple[str, ...] = ()

    @classmethod
    def between(cls, whole: RatingsTable, part: RatingsTable) -> LeftOut:
        """What `whole` has of the judges in `part`, and `part` has not."""
        judges = set(part.frame["judge"].dropna())
        rows = whole.frame[whole.frame["judge"].isin(judges)]
        criteria, prompts = (
            tuple(str(name) for name in rows[column].dropna().unique() if name not in set(part.frame[column]))
            for column in ("criterion", "eval_prompt")
        )
        return cls(criteria, prompts)

    @property
    def record(self) -> dict[str, list[str]]:
        """As plain data, for the certificate's file."""
        return {"criteria": list(self.criteria), "eval_prompts": list(self.eval_prompts)}

    @property
    def notes(self) -> list[str]:
        """Sentences on what is left out; none where nothing is."""
        kinds = (("criteria", self.criteria), ("Eval-Prompts", self.eval_prompts))
        return [f"left out, and not certified: the {kind} {', '.join(names)}" for kind, names in kinds if names]


@dataclass(frozen=True, slots=True, eq=False)
class CertifiedRow:
    """Results of a judge for one Eval-Prompt and criterion. `icc` is ICC(1,1) over repeats, `coverage` the share of
    requested repeats that have a rating, and `accuracy` the balanced accuracy (None unless ratings are labels).
    `informed`: the judge agrees with people more than every uninformed judge. `bounds` says for each kind of bias
    whether it is shown to be within its limit.
    """

    margin: Margin
    icc: Estimate
    coverage: float
    accuracy: Estimate | None
    replacement: AltTestRow | None
    informed: bool
    faults: Faults
    bounds: tuple[Bounded, ...]

    @property
    def name(self) -> str:
        """Eval-Prompt and criterion, as text for sentences."""
        return f"{self.margin.eval_prompt}, {self.margin.criteria[0]}"


_OWN = "; the option own names the judge's own systems, and no-own states that there is none"


@dataclass(frozen=True, slots=True)
class Held:
    """One condition: its meaning, whether it holds, and the Eval-Prompts and criteria that fail it, with values."""

    condition: str
    meaning: str
    holds: bool
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """Whether a judge meets the conditions of a certificate, and the results for each Eval-Prompt and criterion.
    `issued` is its date; `answered` are the dates of the run's first request and last answer (None for imported
    ratings). `left_out` names what the run holds and the certificate does not cover. `plan` was registered; None
    without one.
    """

    fact: RunFacts
    matrix: RatingMatrix
    rows: tuple[CertifiedRow, ...]
    conditions: tuple[Held, ...]
    manifest: Mapping[str, Any] = field(repr=False)
    signature: str
    notes: tuple[str, ...]
    issued: date
    answered: tuple[str | None, str | None]
    left_out: LeftOut
    plan: KeptTo | None

    @property
    def holds(self) -> bool:
        return all(condition.holds for condition in self.conditions)

    @property
    def record(self) -> dict[str, Any]:
        """The certificate as plain data, as stored in its file."""
        definition = (self.manifest.get("in_force") or {}).get("definition") or {}
        prompts = dict.fromkeys(row.margin.eval_prompt for row in self.rows)
        names = {row.margin.criteria[0] for row in self.rows}
        life = life_in(self.manifest)
        hashes = definition.get("eval_prompts") or {}
        return {
            "format": FORMAT,
            "version": __version__,
            "holds": self.holds,
            "judge": {
                "name": self.fact.judge,
                "identity": (self.manifest.get("in_force") or {}).get("identity"),
                "revision": self.fact.revision,
                "judge_key": definition.get("judge_key"),
            },
            "settings": settings_of(definition),
            "eval_prompts": {name: hashes.get(name) for name in prompts},
            "criteria": criteria_of(criterion for criterion in self.fact.criteria if criterion.name in names),
            "left_out": self.left_out.record,
            "plan": None if self.plan is None else self.plan.record,
            "repeats": self.fact.repeats,
            "dataset": {
                "name": self.matrix.dataset,
                "hash": definition.get("dataset_hash"),
                "stories": self.matrix.n,
                "story_prompts": len(set(self.matrix.story_prompt.tolist())),
                "systems": len(self.matrix.systems),
            },
            "people": _people(self.matrix, self.fact),
            "conditions": [
                {
                    "condition": condition.condition,
                    "means": condition.meaning,
                    "holds": condition.holds,
                    "failed": list(condition.failed),
                }
                for condition in self.conditions
            ],
            "rows": [_row_record(row) for row in self.rows],
            "model_life": None if life is None else life.record(),
            "dates": {
                "made": self.issued.isoformat(),
                "first_answer": self.answered[0],
                "last_answer": self.answered[1],
            },
            "signature": self.signature,
            "notes": list(self.notes),
        }


def certify(evidence: Evidence, conditions: Conditions, today: date, left_out: LeftOut | None = None) -> Certificate:
    """Certificate of the judge in `evidence`, dated `today`; `left_out` is what of the run is not there. Raises
    SpecError unless there is one judge, run and dataset, and human ratings.
    """
    fact, matrix = _only(evidence)
    own = [margin for margin in margins.by_criterion(evidence.correlations) if margin.dataset == matrix.dataset]
    if not own:
        raise SpecError(
            f"nobody's ratings of {matrix.dataset} are known on a criterion of this judge: there is nothing to certify",
            hint="a dataset with people's ratings is needed",
        )
    rows = tuple(_rows(evidence, matrix, own))
    folder = ResultFolder(fact.path)
    parts = evidence.correlations.signature_parts
    about = [(row.margin.judge, row.margin.eval_prompt) for row in rows]
    plan = kept_to([fact], matrix, about, evidence.options)
    return Certificate(
        fact=fact,
        matrix=matrix,
        rows=rows,
        conditions=tuple(_held(conditions, rows, fact)),
        manifest=read_manifest(folder.manifest),
        signature=joined((*parts[:-1], evidence.options.signature_part, *parts[-1:])),
        notes=(*([plan.sentence] if plan else []), *evidence.correlations.notes, *_stated(evidence.options)),
        issued=today,
        answered=_answered(folder),
        left_out=left_out or LeftOut(),
        plan=plan,
    )


def _only(evidence: Evidence) -> tuple[RunFacts, RatingMatrix]:
    asked = [(cell.run, cell.judge) for matrix in evidence.matrices for cell in matrix.cells]
    pairs = list(dict.fromkeys(asked))
    if not pairs:
        raise SpecError("no judge was asked: there is nothing to certify")
    names = list(dict.fromkeys(judge for _, judge in pairs))
    if len(names) > 1:
        raise SpecError(f"a certificate is of one judge, and there are {len(names)}: {', '.join(names)}")
    if len(pairs) > 1 or len(evidence.matrices) > 1:
        raise SpecError("a certificate is of one result folder, and there are several", hint="name one RUN")
    run, judge = pairs[0]
    fact = next(fact for fact in evidence.table.facts if fact.run == run)
    # A file of several judges has one name of its own.
    return fact if fact.judge == judge else replace(fact, judge=judge), evidence.matrices[0]


def _rows(evidence: Evidence, matrix: RatingMatrix, own: Sequence[Margin]) -> Iterator[CertifiedRow]:
    for prompt in dict.fromkeys(entry.eval_prompt for entry in own):
        mine = [entry for entry in own if entry.eval_prompt == prompt]
        _, tests = verdict_of(evidence, mine[0])
        by_criterion = {test.subject.criterion: test for test in tests}
        diagnosis, partners = evidence.diagnosis(mine[0]), match(matrix).partner
        for margin in mine:
            (criterion,) = margin.criteria
            at = matrix.cells.index(Cell(margin.run, margin.judge, prompt, criterion))
            test = by_criterion.get(criterion)
            partner = partners[at]
            theirs = [] if partner is None else [matrix.criteria[partner]]
            faults = Faults.of(diagnosis, matrix.dataset, margin.run, [criterion, *theirs])
            yield CertifiedRow(
                margin=margin,
                icc=_icc(evidence, margin),
                coverage=_coverage(matrix, at, partner),
                accuracy=_accuracy(evidence, margin),
                replacement=test,
                informed=test is not None and informed(test),
                faults=faults,
                bounds=tuple(bounded(faults.tests)),
            )


def _stated(options: EvidenceOptions) -> Iterator[str]:
    # No data show this.
    if options.own:
        yield f"the judge's own systems, as was stated: {', '.join(options.own)}"
    if options.no_own:
        yield "no system is the judge's own, as was stated"


def _coverage(matrix: RatingMatrix, cell: int, partner: int | None) -> float:
    """Share of the requested repeats that have a rating; 0 for a cell that was asked of no story."""
    asked = matrix.asked[cell] if partner is None else requested(matrix, cell, partner)
    return float(matrix.valid[cell].sum() / max(1.0, float(asked.sum())))


def _icc(evidence: Evidence, margin: Margin) -> Estimate:
    key = (margin.run, margin.judge, margin.eval_prompt, margin.criteria[0])
    for cell in evidence.consistency.judged:
        if (cell.run, cell.judge, cell.eval_prompt, cell.criterion) == key:
            return cell.estimate("ICC(1,1)") or Estimate.undefined("ICC(1,1) is not computed")
    return Estimate.undefined("there are no repeats")


def _accuracy(evidence: Evidence, margin: Margin) -> Estimate | None:
    confusions = evidence.confusions
    key = (margin.run, margin.judge, margin.eval_prompt, margin.criteria[0])
    for row in confusions.judges if confusions is not None else ():
        subject = row.subject
        if (subject.run, subject.judge, subject.eval_prompt, subject.criterion) == key:
            return row.statistics["balanced_accuracy"]
    return None


def _held(conditions: Conditions, rows: Sequence[CertifiedRow], fact: RunFacts) -> Iterator[Held]:
    people = "persons rated the stories, and a language model was asked"
    if fact.labels_note:
        yield Held("people", people, holds=False, failed=(f"no person rated these stories: {fact.labels_note}",))
    elif fact.control or JudgeName.of(fact.judge).is_scripted:
        yield Held("people", people, holds=False, failed=(f"{fact.judge} is no language model",))
    else:
        yield Held("people", people, holds=True)
    for floor in conditions.floors:
        failed = [why for row in rows if (why := _below(row, floor.name, floor.value)) is not None]
        yield Held(floor.words, MEANINGS[floor.name], not failed, tuple(failed))
    for name in conditions.requirements:
        failed = [why for row in rows if (why := _unmet(row, name)) is not None]
        yield Held(name, MEANINGS[name], not failed, tuple(failed))


def _below(row: CertifiedRow, name: str, least: float) -> str | None:
    """Why a row does not reach a minimum; tau, ICC and accuracy need the lower end of their interval to."""
    if name == "coverage":
        return None if row.coverage >= least else f"{row.name}: {row.coverage:.4f}"
    if name == "accuracy":
        estimate = row.accuracy or Estimate.undefined("a criterion of numbers has no balanced accuracy")
    else:
        estimate = row.margin.value if name == "tau" else row.icc
    if estimate.value is None:
        return f"{row.name}: {estimate.reason}"
    if estimate.low is None:
        return f"{row.name}: {estimate.value:.3f} without an interval"
    return None if estimate.low >= least else f"{row.name}: {estimate.value:.3f}, interval from {estimate.low:.3f}"


def _unmet(row: CertifiedRow, name: str) -> str | None:
    if name == "replace":
        test = row.replacement
        if test is None or not test.winning_rate.defined:
            return f"{row.name}: {test.winning_rate.reason if test is not None else 'not tested'}"
        rate = test.clustered_rate if test.clustered_rate.defined else test.winning_rate
        if not passes(test):
            return f"{row.name}: winning rate {rate.value:.2f}"
        if not row.informed:
            return f"{row.name}: not shown to agree with people more than every uninformed judge"
        return f"{row.name}: below one more person" if is_below(test) else None
    if name == "control":
        over = row.margin.over[CONTROL]
        if over.value is None or over.low is None:
            return f"{row.name}: {over.reason or 'no interval'}"
        return None if over.low > 0 else f"{row.name}: {over.value:+.3f}, interval from {over.low:+.3f}"
    return _biased(row)


def _biased(row: CertifiedRow) -> str | None:
    """Biases that are not within their limits, a repeated rater, or a person's scale turned round."""
    if not row.bounds:
        return f"{row.name}: cannot be told: no test could be computed"
    failed = [f"{bound.words}{_OWN if bound.asks_for_own else ''}" for bound in row.bounds if not bound.within]
    spoiled = [finding.verdict(2.0) for finding in found_without_limit(row.faults.found)]
    return f"{row.name}: {'; '.join([*spoiled, *failed])}" if spoiled or failed else None


def _row_record(row: CertifiedRow) -> dict[str, Any]:
    test, margin = row.replacement, row.margin
    return {
        "eval_prompt": margin.eval_prompt,
        "criterion": margin.criteria[0],
        "stories": margin.stories,
        "tau": _estimate(margin.value),
        "one_more_person": _estimate(margin.bars[CEILING]),
        "minus_one_more_person": _estimate(margin.over[CEILING]),
        "control": _estimate(margin.bars[CONTROL]),
        "minus_control": _estimate(margin.over[CONTROL]),
        "icc": _estimate(row.icc),
        "coverage": row.coverage,
        "balanced_accuracy": None if row.accuracy is None else _estimate(row.accuracy),
        "replacement": None
        if test is None
        else {
            "winning_rate": _estimate(test.winning_rate),
            "by_story_prompt": _estimate(test.clustered_rate),
            "passes": passes(test) if test.winning_rate.defined else None,
            "above_uninformed": row.informed,
            "epsilon": test.epsilon,
            "people": test.compared,
        },
        "biases": [
            {"test": finding.diagnostic, "finding": finding.verdict(2.0), "effect": _estimate(finding.test.estimate),
             "unit": finding.kind.unit, "p_holm": finding.adjusted} for finding in row.faults.found
        ],
        "bounds": [
            {"test": bound.finding.diagnostic, "limit": bound.finding.kind.limit,
             "unit": bound.finding.kind.limit_unit, "low": None if bound.ends is None else bound.ends[0],
             "high": None if bound.ends is None else bound.ends[1], "state": bound.state, "words": bound.words}
            for bound in row.bounds
        ],
        "tests": len(row.faults.made),
        "tests_that_apply": len(row.faults.tests),
    }  # fmt: skip


def _estimate(estimate: Estimate) -> dict[str, Any]:
    record = {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "n": estimate.n,
        "method": estimate.method,
    }
    return record | {"reason": None if estimate.reason is None else str(estimate.reason)}


def _people(matrix: RatingMatrix, fact: RunFacts) -> dict[str, Any]:
    raters = [matrix.by_rater(j) for j in range(len(matrix.criteria))]
    identified = all(ratings.known for ratings in raters)
    names = {name for ratings in raters for name in ratings.names} if identified else None
    return {
        "raters": None if names is None else len(names),
        "known_one_by_one": identified,
        "rated_stories": int((matrix.raters > 0).any(axis=0).sum()),
        "labels_note": fact.labels_note,
    }


def _answered(folder: ResultFolder) -> tuple[str | None, str | None]:
    if not folder.journal.is_file():
        return None, None
    with JournalReader(folder.journal) as journal:
        totals = journal.totals()
    first, last = (
        None if (day := moment(when)) is None else day.date().isoformat()
        for when in (totals.first_request, totals.last_commit)
    )
    return first, last
