"""Result of comparing an old and a new judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from judge.analysis.options.agreement_options import SuccessionOptions
from judge.analysis.options.signature import Signed
from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain, titled
from judge.base.wording import Advice
from judge.stats.estimation.means import Equivalence

Decision = Literal["equivalent", "better", "worse", "undecided", "no test"]
ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Needed:
    """Number of additional stories that would decide an undecided test with the required power, at the observed
    difference or at 0. None if the test is decided or was not possible, or if no number would decide it."""

    if_as_seen: int | None
    if_none: int | None


@dataclass(frozen=True, slots=True)
class Crosswalk:
    """A curve that converts the new judge's ratings to the old judge's scale. `points` are (new, predicted old)
    ratings, fitted on all stories; `rmse` is in points of the scale, cross-validated over story-prompts."""

    kind: Literal["linear", "isotonic"]
    points: tuple[tuple[float, float], ...]
    rmse: Estimate


@dataclass(frozen=True, slots=True)
class Changed:
    """Shares of stories whose verdict (the rating rounded to a point, or whether it reaches a cut) differs from the old
    judge's: by the new judge's ratings (`raw`), by these after isotonic conversion (`crossed`), and between two single
    answers of the old judge to the same query (`own`)."""

    raw: Estimate
    crossed: Estimate
    own: Estimate


@dataclass(frozen=True, slots=True)
class Heir:
    """Comparison of the old and new judge on one criterion with one Eval-Prompt, on the stories that both rated.
    `tau_old` and `tau_new` with people are undefined without human ratings. `agreement` tests their difference, new
    minus old, with a jackknife over story-prompts; `level` that of mean ratings, in points. `alike` is the tau between
    the two judges, `raw` their root mean squared difference. `needed` would decide `agreement`, `needed_level` `level`.
    """

    dataset: str
    criterion: str
    eval_prompt: str
    stories: int
    story_prompts: int
    tau_old: Estimate
    tau_new: Estimate
    agreement: Equivalence
    level: Equivalence
    alike: Estimate
    raw: Estimate
    needed: Needed
    needed_level: Needed
    crosswalks: tuple[Crosswalk, ...]
    changed: Changed

    @property
    def decision(self) -> Decision:
        """Whether the new judge agrees with people as well as the old one."""
        return decided(self.agreement)

    @property
    def level_decision(self) -> Decision:
        """Whether mean ratings are equal; ``better`` = the new judge rates higher, ``worse`` = lower."""
        return decided(self.level)


def decided(test: Equivalence) -> Decision:
    """``equivalent``: both one-sided tests are significant. ``better``: the interval of the difference lies above the
    upper bound. ``worse``: it lies below the lower. ``undecided``: none of these. ``no test``: no p or interval."""
    if test.p is None or test.difference.low is None or test.difference.high is None:
        return "no test"
    if test.p <= ALPHA:
        return "equivalent"
    if test.difference.low > test.bounds[1]:
        return "better"
    return "worse" if test.difference.high < test.bounds[0] else "undecided"


@dataclass(frozen=True, slots=True)
class Story:
    """A story whose verdict changes if the new judge's rating, `crossed` to the old scale, replaces the old."""

    dataset: str
    story: str
    system: str
    criterion: str
    eval_prompt: str
    old: float
    new: float
    crossed: float


@dataclass(frozen=True, slots=True, eq=False)
class Succession(Signed):
    """Comparison of an old and a new judge by criterion and Eval-Prompt, and the `stories` whose verdict changes."""

    old: str
    new: str
    heirs: tuple[Heir, ...]
    stories: tuple[Story, ...]
    options: SuccessionOptions

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each dataset, criterion and Eval-Prompt, with both equivalence tests and their decisions, the
        number of additional stories that would decide them, and the shares of stories whose verdict would change."""
        return self.signed([dict(_flat(heir)) for heir in self.heirs])


def _flat(heir: Heir) -> Iterator[tuple[str, object]]:
    yield from (("dataset", heir.dataset), ("criterion", heir.criterion), ("eval_prompt", heir.eval_prompt))
    yield from (("stories", heir.stories), ("story_prompts", heir.story_prompts))
    yield from (("tau_old", heir.tau_old.value), ("tau_new", heir.tau_new.value))
    for name, test, decision, needed in (
        ("tau", heir.agreement, heir.decision, heir.needed),
        ("level", heir.level, heir.level_decision, heir.needed_level),
    ):
        d = test.difference
        yield from ((f"{name}_difference", d.value), (f"{name}_low", d.low), (f"{name}_high", d.high))
        yield from ((f"{name}_p", test.p), (f"{name}_decision", decision), (f"{name}_reason", d.reason))
        yield from ((f"{name}_more_if_as_seen", needed.if_as_seen), (f"{name}_more_if_none", needed.if_none))
    yield from (("alike", heir.alike.value), ("rmse", heir.raw.value))
    yield from ((f"rmse_{walk.kind}", walk.rmse.value) for walk in heir.crosswalks)
    yield from (("changed", heir.changed.raw.value), ("changed_crossed", heir.changed.crossed.value))
    yield from (("changed_own", heir.changed.own.value),)


# Prints whether a new judge may replace an old one: first sentences, then tables.

_SAYS: Mapping[Decision, str] = {
    "equivalent": "as well as the old judge, within ±{margin:g} of tau x100",
    "better": "better than the old judge by more than {margin:g} of tau x100",
    "worse": "worse than the old judge by more than {margin:g} of tau x100",
    "undecided": "it is not decided",
    "no test": "there is no test",
}


def tables(result: Succession) -> list[Table]:
    """The answers in sentences, the two equivalence tests (agreement with people, mean ratings), the crosswalks, and
    the stories whose verdict changes."""
    return [_sentences(result), _tests(result), _crosswalks(result), _stories(result)]


def _sentences(result: Succession) -> Table:
    rows = [{"asks": asks, "sentence": sentence} for asks, sentence in sentences(result)]
    columns = [Column("asks", "question", wrap=24), Column("sentence", "answer", wrap=96)]
    title = f"May {result.new} replace {result.old}?"
    return Table(title, columns, rows, result.signature, result.notes)


def sentences(result: Succession) -> Iterator[tuple[str, str]]:
    """Pairs of a question and its answer."""
    yield "may it replace it?", " ".join(_verdict(result))
    yield "on the same level?", " ".join(_level(result))
    if more := list(_more(result)):
        yield "how many more stories?", " ".join(more)
    yield "which verdicts change?", _changes(result)


def _verdict(result: Succession) -> Iterator[str]:
    """The overall answer is yes only if every test shows equivalence."""
    by: dict[Decision, list[Heir]] = {}
    for heir in result.heirs:
        by.setdefault(heir.decision, []).append(heir)
    tested = [heir for heir in result.heirs if heir.decision != "no test"]
    if not tested:
        yield f"It cannot be said of agreement with people: {_reason(result.heirs)}."
        return
    if by.get("worse"):
        yield "No."
    elif len(by.get("equivalent", ())) == len(result.heirs):
        yield "Yes, on everything that was tested."
    elif by.get("undecided") or by.get("no test"):
        yield "Not shown."
    else:
        yield "It agrees better with people, so earlier results cannot be set beside its own."
    for decision in ("equivalent", "better", "worse", "undecided", "no test"):
        some = by.get(decision, [])
        if some:
            words = _SAYS[decision].format(margin=100 * result.options.margin)
            why = f" ({_reason(some)})" if decision == "no test" else ""
            yield f"{_where(some, result.heirs)}: {words}{why}."
    yield from _leaning(by.get("undecided", []), result)


def _leaning(undecided: Sequence[Heir], result: Succession) -> Iterator[str]:
    """Comparisons whose 90 % interval excludes 0: it is clear who agrees better, but not by how much."""
    for word, sign in (("less", -1), ("more", 1)):
        some = []
        for heir in undecided:
            d = heir.agreement.difference
            end = d.high if sign < 0 else d.low
            if end is not None and sign * end > 0:
                some.append(heir)
        if some:
            yield f"{_where(some, result.heirs)} it agrees {word} with people than the old one; how much is open."


def _level(result: Succession) -> Iterator[str]:
    points = result.options.points
    by: dict[Decision, list[Heir]] = {}
    for heir in result.heirs:
        by.setdefault(heir.level_decision, []).append(heir)
    words: Mapping[Decision, str] = {
        "equivalent": f"mean ratings are equal within ±{points:g} points",
        "better": f"the new judge rates higher by more than {points:g} points: use the crosswalk",
        "worse": f"the new judge rates lower by more than {points:g} points: use the crosswalk",
        "undecided": f"whether mean ratings are equal within ±{points:g} points is not decided",
        "no test": "there is no test of mean ratings",
    }
    for decision, sentence in words.items():
        if some := by.get(decision, []):
            yield f"{_where(some, result.heirs)}: {sentence}."


def _more(result: Succession) -> Iterator[str]:
    """How many more stories would decide, if the judges agree equally well, and if they differ as observed."""
    power = f"{100 * result.options.power:.0f} %"
    some = [heir for heir in result.heirs if heir.decision == "undecided"]
    if not some:
        return
    seen, none = ([getattr(heir.needed, name) for heir in some] for name in ("if_as_seen", "if_none"))
    most = max((count for count in none if count is not None), default=None)
    if most is not None:
        yield f"If the two agree equally well with people, {most:,} more stories show it everywhere with {power}."
    counts = [count for count in seen if count is not None]
    if counts:
        beyond = len(some) - len(counts)
        rest = f", and no number on {beyond} (the difference seen is the margin)" if beyond else ""
        yield f"If the differences are those seen here, {max(counts):,} more decide it with {power}{rest}."


def _changes(result: Succession) -> str:
    raw, crossed, own = (
        _mean([getattr(heir.changed, name) for heir in result.heirs]) for name in ("raw", "crossed", "own")
    )
    if raw is None:
        return "No story was rated by both."
    verdict = "whether they reach the cut" if result.options.cut is not None else "the nearest point of the scale"
    text = f"{100 * raw:.0f} % of verdicts ({verdict}) differ as the new judge rates"
    if crossed is not None:
        text += f", {100 * crossed:.0f} % through the isotonic crosswalk, out of fold"
    if own is not None:
        text += (
            f". For comparison, two single answers by the old judge to one query give different verdicts in "
            f"{100 * own:.0f} % (the shares before are of means over repeats, which vary less)"
        )
    return text + "."


def _mean(some: Sequence[Estimate]) -> float | None:
    defined = [(estimate.value, estimate.n) for estimate in some if estimate.value is not None]
    total = sum(n for _, n in defined)
    return sum(value * n for value, n in defined) / total if total else None


def _where(some: Sequence[Heir], every: Sequence[Heir]) -> str:
    if len(some) == len(every) and len(every) > 1:
        return f"On all {len(every)}"
    several = len({heir.eval_prompt for heir in every}) > 1
    names = dict.fromkeys(f"{heir.criterion} {heir.eval_prompt}" if several else heir.criterion for heir in some)
    return f"On {', '.join(names)}"


def _reason(some: Sequence[Heir]) -> str:
    reasons = dict.fromkeys(str(heir.agreement.difference.reason or "undefined") for heir in some)
    return "; ".join(reasons)


def _heir_cells(heir: Heir) -> dict[str, object]:
    return cells_of(heir, "dataset", "criterion", "eval_prompt")


def _heir_columns(result: Succession) -> list[Column]:
    several = len({heir.dataset for heir in result.heirs}) > 1
    first = [Column("dataset", "dataset")] if several else []
    return [*first, *plain("criterion", "eval_prompt")]


def _tests(result: Succession) -> Table:
    rows = [
        _heir_cells(heir)
        | {
            "stories": heir.stories,
            "tau_old": heir.tau_old.value,
            "tau_new": heir.tau_new.value,
            "tau": heir.agreement.difference,
            "tau_p": heir.agreement.p,
            "decision": heir.decision,
            "more": _needed(heir.needed),
            "level": heir.level.difference,
            "level_p": heir.level.p,
            "level_decision": {"better": "higher", "worse": "lower"}.get(heir.level_decision, heir.level_decision),
        }
        for heir in result.heirs
    ]
    columns = [
        *_heir_columns(result),
        Column("stories", "stories"),
        *hundredths(tau_old="tau old x100", tau_new="new", tau="new - old [90 %]"),
        Column("tau_p", "p", digits=3, p="two one-sided"),
        *titled(decision="agreement with people", more="more stories", level="mean rating, new - old [90 %]"),
        Column("level_p", "p", digits=3, p="two one-sided"),
        Column("level_decision", "level"),
    ]
    options = result.options
    notes = [
        f"equivalent: two one-sided t tests at {ALPHA:g} over story-prompts show it to lie within the margin",
        f"margin: ±{100 * options.margin:g} of tau x100, ±{options.points:g} points",
        "better, worse, higher, lower: the 90 % interval lies beyond the margin",
        "all criteria together are shown where each is, without a correction (intersection-union test: Berger 1982)",
        "more stories: that decide it, if the difference is as seen / if there is none; —: no number",
        Advice(
            "what would not matter is yours to say: {margin}, {points}", margin=options.margin, points=options.points
        ),
    ]
    return Table("Is the new judge equivalent to the old one?", columns, rows, result.signature, notes)


def _needed(needed: Needed) -> str | None:
    if needed.if_as_seen is None and needed.if_none is None:
        return None
    return " / ".join("—" if count is None else f"{count:,}" for count in (needed.if_as_seen, needed.if_none))


def _crosswalks(result: Succession) -> Table:
    rows = [
        _heir_cells(heir)
        | {
            "kind": walk.kind,
            "points": "  ".join(f"{x:g}→{y:.2f}" for x, y in walk.points) or None,
            "raw": heir.raw,
            "rmse": walk.rmse,
            "alike": heir.alike,
        }
        for heir in result.heirs
        for walk in heir.crosswalks
    ]
    columns = [
        *_heir_columns(result),
        *titled(kind="crosswalk", points="new rating → old judge's", raw="RMSE without", rmse="RMSE through it"),
        Column("alike", "tau new with old x100", digits=1, factor=100),
    ]
    notes = [
        "a crosswalk predicts the old judge's rating from the new one's; where they agree little it draws to the mean",
        "RMSE through it: out of fold, by folds of story-prompts, in points",
    ]
    return Table("Crosswalk of scales", columns, rows, result.signature, notes)


def _stories(result: Succession) -> Table:
    top = result.options.changes
    rows = [
        cells_of(story, "dataset", "story", "system", "criterion", "eval_prompt", "old", "new", "crossed")
        for story in result.stories[:top]
    ]
    columns = [
        *plain("story", "system"),
        *_heir_columns(result),
        *plain("old", "new"),
        Column("crossed", "new, through the crosswalk"),
    ]
    count = len(result.stories)
    more = Advice("{changes} shows more", changes=min(count, 10 * top)) if count > top else ""
    notes = [note for note in (f"{count:,} verdicts change in all, {min(top, count):,} are shown", more) if note]
    return Table("Stories whose verdict changes most", columns, rows, result.signature, notes)
