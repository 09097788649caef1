"""An improvement on a screen of at most 40 lines, and as tables."""

from __future__ import annotations

import textwrap
from dataclasses import replace

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, hundredths, printable, titled
from judge.base.printing.text_layout import columns, note_lines
from judge.lab.improve.result import Improvement
from judge.lab.improve.sentences import sentences
from judge.lab.improve.verdict import Verdict

WIDTH, HEIGHT = 100, 40
_LABEL, _LEAST = 10, 40


def screen(found: Improvement) -> str:
    """The answers as text of at most 40 lines."""
    width = min(WIDTH, max(_LEAST, columns() or WIDTH))
    about = f"{found.judge}, Eval-Prompt {found.base}, {', '.join(found.criteria)}"
    lines = textwrap.wrap(printable(about), width)
    for label, said in sentences(found):
        wrapped = textwrap.wrap(printable(said), width - _LABEL, break_on_hyphens=False) or [""]
        lines += [f"{'' if number else label:<{_LABEL}}{line}" for number, line in enumerate(wrapped)]
    lines += note_lines([printable(note) for note in found.notes], width)
    if len(lines) > HEIGHT:
        lines = [*lines[: HEIGHT - 1], f"Left out: {len(lines) - HEIGHT + 1} lines, which the page has."]
    return "\n".join(lines) + "\n"


def signature(found: Improvement) -> str:
    """Data and settings below the tables."""
    split = found.split
    return (
        f"{found.dataset}|improve|ep:{found.base}|judge:{found.judge}|{split.design}|story-prompts:{len(split.keys)}|seed{split.seed}|"
        f"rep:{found.race_repeats}/{found.repeats}|tau:b|level:overall|ci:jackknife-inputs"
    )


def tables(found: Improvement) -> list[Table]:
    """The answers, the candidates, what moved, the gain by criterion and without each system."""
    rows = [{"answer": label, "text": said} for label, said in sentences(found)]
    made = [
        Table(
            "What it comes to", [Column("answer", "answer"), Column("text", "in words", wrap=80)], rows, "", found.notes
        )
    ]
    if found.races:
        made.append(_candidates(found))
    if found.verdict is not None:
        made += _tested(found.verdict)
    made[-1] = replace(made[-1], signature=signature(found))
    return made


def _tested(verdict: Verdict) -> list[Table]:
    p = verdict.adjusted
    gains = [
        {"criterion": name, "gain": each.estimate, "p": p.get(name), "said": verdict.on(name) if p else None}
        for name, each in verdict.criteria.items()
    ]
    others = {"mean over criteria": verdict.gain, "twice the repeats": verdict.doubled}
    others |= {} if verdict.wording is None else {"over the best paraphrase": verdict.wording}
    gains += [{"criterion": name, "gain": each.estimate} for name, each in others.items()]
    columns_of = [*titled(criterion="criterion"), *hundredths(gain="gain")]
    columns_of += [Column("p", "p (Holm)", digits=4), Column("said", "verdict")] if len(verdict.criteria) > 1 else []
    moved = [{"trait": each.trait, "original": each.original, "winner": each.winner} for each in verdict.moved]
    numbers = [Column("original", "original", digits=2), Column("winner", "winner", digits=2)]
    made = [
        Table("Gain on test, tau x100", columns_of, gains, ""),
        Table("What else moved", [*titled(trait="trait"), *numbers], moved, ""),
    ]
    without = [{"system": name, "gain": value} for name, value in verdict.without.items()]
    shown = [*titled(system="system"), *hundredths(gain="gain")]
    return [*made, Table("Gain without a system, x100", shown, without, "")] if without else made


def _candidates(found: Improvement) -> Table:
    rows = []
    for number, race in enumerate(found.races):
        names = dict.fromkeys(name for each in race.rounds for name in each)
        for name in names:
            rounds = [each[name] for each in race.rounds if name in each]
            proposal = found.proposal(name)
            value = rounds[-1]
            missing = value != value
            rows.append(
                {
                    "part": "ab"[number] if len(found.races) > 1 else "select",
                    "candidate": name,
                    "origin": proposal.origin if proposal else "the Eval-Prompt of the run, the mean of two askings",
                    "rounds": len(rounds),
                    "tau": Estimate.undefined((found.faults or {}).get(name, "undefined")) if missing else value,
                    "won": "won" if name in (race.winner, race.winners[1]) else "",
                }
            )
    for each in found.lost:
        rows.append({"part": "", "candidate": each.name, "origin": f"lost ({each.loss}): {each.why}", "rounds": 0})
    columns_of = [
        *titled(part="part", candidate="candidate", rounds="rounds"),
        *hundredths(tau="tau x100 in its last round"),
        *titled(won="", origin="origin"),
    ]
    return Table("Candidates", columns_of, rows, "", ("scores of different rounds are of different story-prompts",))
