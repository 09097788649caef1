"""Tables of a study: its design, and the report."""

from __future__ import annotations

from typing import Any

from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.lab.people.compared import ComparedReport
from judge.lab.people.report import ENOUGH, AgreementFound, PeopleReport
from judge.lab.people.store import Study
from judge.lab.people.study import Drawn, minutes, words
from judge.version import __version__


def design_table(drawn: Drawn) -> Table:
    """One row a rater: what is read, and about how long that takes."""
    rows = []
    for i, (entries, took) in enumerate(zip(drawn.lists, minutes(drawn), strict=True), start=1):
        uses = [entry.use for entry in entries]
        row = {use: uses.count(use) for use in ("rating", "repeat", "check", "practice")}
        rows.append({"rater": f"r{i:02d}", **row, "words": words(drawn, entries), "minutes": round(took)})
    fewest, most = drawn.design.shared
    ratings = int(drawn.design.table.sum()) * len(drawn.criteria)
    hours = sum(minutes(drawn)) / 60
    criteria = ", ".join(criterion.name for criterion in drawn.criteria)
    options = drawn.options
    noun, what = ("comparisons", "pairs") if options.ask == "pairs" else ("ratings", "stories")
    notes = [
        f"{ratings} {noun} of {len(drawn.stories)} stories on {criteria}: about {hours:.1f} hours in all",
        f"two raters share {fewest} to {most} {what}, and all are connected",
        *drawn.notes,
    ]
    line = (
        f"{drawn.dataset}:{len(drawn.stories)}|raters:{options.raters}|each:{options.per_story}|"
        f"core:{len(drawn.design.core)}|seed{options.seed}|v{__version__}"
    )
    columns = plain("rater", ("rating", what), ("repeat", "repeats"), ("check", "checks"), "practice", "words")
    return Table("Who rates what", [*columns, *plain("minutes")], rows, line, notes)


def report_tables(result: PeopleReport) -> list[Table]:
    """Agreement first, of people and of judges, then a row for each rater."""
    return [_agreement_table(result), *([_judges_table(result)] if result.judges else []), _raters_table(result)]


def _judges_table(result: PeopleReport) -> Table:
    doubted = any(one.doubted for one in result.raters)
    rows = [{"judge": one.judge, "stories": one.everybody.n, "all": one.everybody} for one in result.judges]
    columns = [*plain("judge", "stories"), Column("all", "everybody", factor=100, digits=1)]
    notes = ["Kendall's tau-b x100 with people's means, mean over criteria; 95 % over story-prompts"]
    if doubted:
        rows = [row | {"kept": one.kept} for row, one in zip(rows, result.judges, strict=True)]
        columns.append(Column("kept", "kept", factor=100, digits=1))
        notes.append("whom one leaves out for disagreeing moves this too: choose before looking at it")
    return Table("How well the judge agrees with people", columns, rows, result.signature, notes)


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
    notes += _standing(study)
    return Table("How well people agree", columns, rows, result.signature, notes)


def _standing(study: Study) -> list[str]:
    """What came too late, who left, and what of an answer is no rating."""
    notes = []
    if study.late:
        notes.append(
            f"{study.late} answers came too late to count, and are kept: from a second tab or device, or after the "
            "study was closed"
        )
    if day := study.meta.get("closed"):
        notes.append(f"closed on {day}: answers that come now are kept, and do not count")
    last = study.meta.get("export")
    if last and study.sequence > last["sequence"]:
        more = study.sequence - last["sequence"]
        notes.append(f"{more} answers came after the last export ({last['file']}, {last['date']}): export again")
    if study.withdrawn:
        erased = sum(study.withdrawn.values())
        notes.append(f"{len(study.withdrawn)} have left the study; {erased} of their answers were blanked")
    if unsure := sum(len(one.state.unsure) for one in study.answered if one.entry.use == "rating"):
        notes.append(f"{unsure} answers are “cannot tell”: no ratings, and left out of every number")
    return notes


def _agreement_row(row: AgreementFound, kept: AgreementFound | None, result: PeopleReport) -> dict[str, Any]:
    shown = cells_of(row, "criterion", "ratings", "single", "average", "alpha")
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


def compared_tables(result: ComparedReport) -> list[Table]:
    """Agreement on each criterion first, then a row for each rater."""
    study = result.study
    rows = [
        cells_of(one, "criterion", "comparisons", "pairs", "alpha", "left", "ties", "both_bad")
        for one in result.criteria
    ]
    columns = [*plain("criterion", "comparisons", "pairs", "alpha"), *_shares(left="left", ties="ties")]
    notes = [
        f"{study.given} of {study.asked} comparisons so far ({study.given / max(study.asked, 1):.0%})",
        "alpha: Krippendorff's, nominal (one story, the other, a tie), each pair both ways; left: of left and right",
        "an export takes both bad for a tie; judge rank FILE says which systems win",
        *_standing(study),
    ]
    people = [
        cells_of(one, "name", "agreement", "left", "neither", "skipped", minutes=round(one.minutes))
        | {key: "/".join(map(str, getattr(one, key))) for key in ("done", "repeats", "checks")}
        for one in result.raters
    ]
    shown = [*plain(("name", "rater"), "done", "minutes"), *_shares(agreement="agrees")]
    shown += plain(("repeats", "same again"), ("checks", "whole preferred"))
    shown += [*_shares(left="left", neither="neither"), *plain("skipped")]
    more = [
        "agrees: share of others' preferences of the same pair and criterion that are the same",
        "same again: with sides exchanged; whole preferred: over the same story, damaged",
        "nobody is named as doubtful: for comparisons no cut was tried in simulations",
        "repeated and damaged stories are no ground to refuse pay",
    ]
    return [
        Table("How well people agree", [*columns, *_shares(both_bad="both bad")], rows, result.signature, notes),
        Table("Who compared how", shown, people, result.signature, more),
    ]


def _shares(**titles: str) -> list[Column]:
    return [Column(key, f"{title} %", digits=0, factor=100) for key, title in titles.items()]
