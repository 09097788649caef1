"""Tables of a study: its design, and the report."""

from __future__ import annotations

from typing import Any

from judge.base.printing.tables import Column, Table, plain
from judge.lab.people.report import ENOUGH, AgreementFound, PeopleReport
from judge.lab.people.study import Drawn, minutes
from judge.version import __version__


def design_table(drawn: Drawn) -> Table:
    """One row a rater: what is read, and about how long that takes."""
    rows = []
    for i, (entries, took) in enumerate(zip(drawn.lists, minutes(drawn), strict=True), start=1):
        uses = [entry.use for entry in entries]
        words = sum(len(drawn.texts[entry.text - 1].text.split()) for entry in entries)
        row = {use: uses.count(use) for use in ("rating", "repeat", "check", "practice")}
        rows.append({"rater": f"r{i:02d}", **row, "words": words, "minutes": round(took)})
    fewest, most = drawn.design.shared
    ratings = int(drawn.design.table.sum()) * len(drawn.criteria)
    hours = sum(minutes(drawn)) / 60
    criteria = ", ".join(criterion.name for criterion in drawn.criteria)
    notes = [
        f"{ratings} ratings of {len(drawn.stories)} stories on {criteria}: about {hours:.1f} hours in all",
        f"two raters share {fewest} to {most} stories, and all are connected",
        *drawn.notes,
    ]
    options = drawn.options
    line = (
        f"{drawn.dataset}:{len(drawn.stories)}|raters:{options.raters}|per story:{options.per_story}|"
        f"core:{len(drawn.design.core)}|seed{options.seed}|v{__version__}"
    )
    columns = plain("rater", ("rating", "stories"), ("repeat", "repeats"), ("check", "checks"), "practice", "words")
    return Table("Who rates what", [*columns, *plain("minutes")], rows, line, notes)


def report_tables(result: PeopleReport) -> list[Table]:
    """Agreement first, then a row for each rater."""
    return [_agreement_table(result), _raters_table(result)]


def _agreement_table(result: PeopleReport) -> Table:
    study, doubted = result.study, [one.name for one in result.raters if one.doubted]
    kept = {row.criterion: row for row in result.kept}
    rows = [_agreement_row(row, kept.get(row.criterion), result) for row in result.everybody]
    columns = [Column("criterion", "criterion", main=True), Column("ratings", "ratings")]
    columns += [Column("single", "ICC(A,1)"), Column("average", "ICC(A,k)"), Column("alpha", "alpha")]
    if kept:
        columns += [Column("kept_single", "kept: ICC(A,1)"), Column("kept_average", "kept: ICC(A,k)")]
    if result.unseen:
        columns.append(Column("unseen", "kept, other stories"))
    notes = [f"{study.given} of {study.asked} ratings so far ({study.given / max(study.asked, 1):.0%})"]
    if kept:
        notes += [
            f"kept: without {', '.join(doubted)} ({result.lost} ratings); nobody is left out of an export by this",
            "left out for disagreeing with others too: agreement of the kept is an upper bound",
        ]
        if result.unseen:
            notes.append("kept, other stories: ICC(A,1) on halves of the stories that did not choose the kept")
    else:
        notes.append(f"nobody is in doubt by the rule {result.options.rule}")
    if study.late:
        notes.append(f"{study.late} answers from a second tab or device came too late to count, and are kept")
    if study.withdrawn:
        erased = sum(study.withdrawn.values())
        notes.append(f"{len(study.withdrawn)} have left the study; {erased} of their answers were blanked")
    return Table("How well people agree", columns, rows, result.signature, notes)


def _agreement_row(row: AgreementFound, kept: AgreementFound | None, result: PeopleReport) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "criterion": row.criterion,
        "ratings": row.ratings,
        "single": row.single,
        "average": row.average,
        "alpha": row.alpha,
    }
    if kept is not None:
        shown |= {"kept_single": kept.single, "kept_average": kept.average}
        shown["unseen"] = result.unseen.get(row.criterion)
    return shown


def _raters_table(result: PeopleReport) -> Table:
    rows = []
    for one in result.raters:
        doubts = ["six signs"] * one.doubted + ["five"] * one.doubted_independently
        row: dict[str, Any] = {"rater": one.name, "done": f"{one.done}/{one.asked}", "skipped": one.skipped}
        row |= {"minutes": round(one.minutes), "wpm": one.words_per_minute, **one.signs, "sum": one.total}
        row |= {"order": f"{one.checks[0]}/{one.checks[1]}", "doubt": "; ".join(doubts) or None}
        rows.append(row)
    cut, independent = result.judged.cut, result.judged.cut_independent
    share = f"{result.options.false:.0%} of simulated attentive raters of this design"
    notes = [
        f"in doubt: a sum of six signs below {cut:.1f} (five, without agreement: {independent:.1f}), as for {share}",
        "agreement: correlation with the others' mean; repeats: points between two readings",
        "identical: share of stories with one number on all criteria; spread: standard deviation, points",
        "damaged: points by which a damaged story was rated lower; in order: checks in which it was",
        "nobody is left out automatically; repeated and damaged stories are no ground to refuse pay",
    ]
    if result.usual < ENOUGH:
        few = f"raters have {result.usual} stories each: below {ENOUGH} there is too little to say of most"
        notes.append(f"{few} (of careless raters, half to three quarters were found at 12 in simulations)")
    if all(one.words_per_minute is None for one in result.raters):
        notes.append("no times are known (packs, or fewer than five stories): fewer careless raters can be found")
    if result.options.rule == "openmeva":
        notes.append(
            "rule openmeva: a whole story below 4 or a damaged one above 2 in any check; the study's own file (MANS) "
            "holds no such ratings, so the rule can be tried on one's own data alone"
        )
    columns = [*plain("rater", ("doubt", "in doubt by"), "done", "minutes"), Column("wpm", "words/min", digits=0)]
    columns += plain("agreement", "repeats", "damaged", ("order", "in order"), "spread", "identical")
    columns += [Column("sum", "sum", digits=1), Column("skipped", "skipped")]
    return Table("Who rated how", columns, rows, result.signature, notes)
