"""The table of flagged contradictions, with the measured precision of the rules."""

from __future__ import annotations

from collections.abc import Iterator

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.explanations.quality.contradicting import read_flags
from judge.explanations.quality.contradicting.contradictions import AUDITED, Contradictions
from judge.stats.shares.proportion import wilson

_WRAP = 70
_FRESH: dict[read_flags.Sample, str] = {
    "experts": "of people's explanations, of which words tell too little, so that the rule is not used on such texts",
    "other deals": "of the same judges' answers that are flagged with other seeds alone",
}


def table(contradictions: Contradictions) -> Table:
    """The table of texts flagged as disagreeing with their rating, the clearest first, with counts and the measured
    precision of the rules.
    """
    columns = [
        Column("judge", "judge"),
        Column("eval_prompt", "eval prompt"),
        Column("criterion", "criterion"),
        Column("story", "story"),
        Column("repeat", "repeat"),
        Column("rating", "rating", digits=1),
        Column("suggested", "text suggests", digits=1),
        Column("rule", "by"),
        Column("text", "text", text=True, wrap=_WRAP),
    ]
    rows = [{column.key: getattr(flag, column.key) for column in columns} for flag in contradictions.flagged]
    kept = [column for column in columns if not rows or any(row[column.key] is not None for row in rows)]
    title = "Answers whose reason contradicts their rating"
    return Table(title, kept, rows, contradictions.signature, tuple(_notes(contradictions)))


def _notes(contradictions: Contradictions) -> Iterator[str]:
    count = f"{len(contradictions.flagged)} of {contradictions.texts}"
    yield f"flagged: {count} rated texts ({_percent(contradictions.share)} %)"
    for rule, right, read in AUDITED:
        share = _percent(wilson(right, read))
        sample_words = (
            "of five judges' answers to TTCW on which the rule was set, which flatters it: read a flag before it counts"
        )
        contradicted = f"{right} of {read} flagged answers contradicted their rating when read ({share} %)"
        yield f"precision of the rule on {rule}: {contradicted}, {sample_words}"
    for sample, sample_words in _FRESH.items():
        right, read = read_flags.precision(sample)
        share = _percent(wilson(right, read))
        yield f"on texts that it was not set on it is lower: {right} of {read} ({share} %) {sample_words}"
    if any(flag.rule == "guideline" for flag in contradictions.flagged):
        yield "the rule on guidelines was not audited: no answer of the studies at hand was flagged by it"
    if contradictions.side_accuracy.value is not None:
        yield f"words predict the correct side of the scale for {_percent(contradictions.side_accuracy)} % of the texts"
    yield "words: predicted from the words of texts about other story-prompts; guideline: quotes that of another point"
    yield from contradictions.notes


def _percent(share: Estimate) -> str:
    if share.value is None or share.low is None or share.high is None:
        return "undefined"
    return f"{100 * share.value:.1f} [{100 * share.low:.1f}, {100 * share.high:.1f}]"
