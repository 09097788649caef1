"""Whether a new judge may replace an old one, as people read it: sentences first, then tables. Never computes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judge.analysis.succession.result import ALPHA, Decision, Heir, Needed, Succession
from judge.printing.tables import Column, Table
from judge.stats.estimate import Estimate
from judge.wording import Advice

_SAYS: Mapping[Decision, str] = {
    "equivalent": "as well as the old judge, within ±{margin:g} of tau x100",
    "better": "better than the old judge by more than {margin:g} of tau x100",
    "worse": "worse than the old judge by more than {margin:g} of tau x100",
    "undecided": "it is not decided",
    "no test": "there is no test",
}


def tables(result: Succession) -> list[Table]:
    """The answer in sentences; both tests; crosswalks; stories whose verdict changes."""
    return [_sentences(result), _tests(result), _crosswalks(result), _stories(result)]


def _sentences(result: Succession) -> Table:
    rows = [{"asks": asks, "sentence": sentence} for asks, sentence in sentences(result)]
    columns = [Column("asks", "question", wrap=24), Column("sentence", "answer", wrap=96)]
    title = f"May {result.new} replace {result.old}?"
    return Table(title, columns, rows, result.signature, result.notes)


def sentences(result: Succession) -> Iterator[tuple[str, str]]:
    """Questions with their answers."""
    yield "may it replace it?", " ".join(_verdict(result))
    yield "on the same level?", " ".join(_level(result))
    if more := list(_more(result)):
        yield "how many more stories?", " ".join(more)
    yield "which verdicts change?", _changes(result)


def _verdict(result: Succession) -> Iterator[str]:
    """One answer over everything that was tested: yes only where every test shows it."""
    by: dict[Decision, list[Heir]] = {}
    for one in result.heirs:
        by.setdefault(one.decision, []).append(one)
    tested = [one for one in result.heirs if one.decision != "no test"]
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
    """Of what is undecided: where the 90 % interval leaves 0 out, so that only the size of a difference is open."""
    for word, sign in (("less", -1), ("more", 1)):
        some = []
        for one in undecided:
            d = one.agreement.difference
            end = d.high if sign < 0 else d.low
            if end is not None and sign * end > 0:
                some.append(one)
        if some:
            yield f"{_where(some, result.heirs)} it agrees {word} with people than the old one; how much is open."


def _level(result: Succession) -> Iterator[str]:
    points = result.options.points
    by: dict[Decision, list[Heir]] = {}
    for one in result.heirs:
        by.setdefault(one.level_decision, []).append(one)
    words: Mapping[Decision, str] = {
        "equivalent": f"mean ratings are equal within ±{points:g} points",
        "better": f"the new judge rates higher by more than {points:g} points: use the crosswalk",
        "worse": f"the new judge rates lower by more than {points:g} points: use the crosswalk",
        "undecided": f"whether mean ratings are equal within ±{points:g} points is not decided",
        "no test": "there is no test of mean ratings",
    }
    for decision, said in words.items():
        if some := by.get(decision, []):
            yield f"{_where(some, result.heirs)}: {said}."


def _more(result: Succession) -> Iterator[str]:
    """For what is undecided: stories that would decide it, if differences are as seen, and if there is none."""
    power = f"{100 * result.options.power:.0f} %"
    some = [one for one in result.heirs if one.decision == "undecided"]
    if not some:
        return
    seen, none = ([getattr(one.needed, name) for one in some] for name in ("if_as_seen", "if_none"))
    most = max((count for count in none if count is not None), default=None)
    if most is not None:
        yield f"If the two agree equally well with people, {most:,} more stories show it everywhere with {power}."
    told = [count for count in seen if count is not None]
    if told:
        beyond = len(some) - len(told)
        rest = f", and no number on {beyond} (the difference seen is the margin)" if beyond else ""
        yield f"If the differences are those seen here, {max(told):,} more decide it with {power}{rest}."


def _changes(result: Succession) -> str:
    raw, crossed, own = (
        _mean([getattr(one.changed, name) for one in result.heirs]) for name in ("raw", "crossed", "own")
    )
    if raw is None:
        return "No story was rated by both."
    verdict = "whether they reach the cut" if result.options.cut is not None else "the nearest point of the scale"
    text = f"{100 * raw:.0f} % of verdicts ({verdict}) differ as the new judge rates"
    if crossed is not None:
        text += f", {100 * crossed:.0f} % through the isotonic crosswalk, out of fold"
    if own is not None:
        text += f"; of two answers by the old judge to one query {100 * own:.0f} % differ"
    return text + "."


def _mean(some: Sequence[Estimate]) -> float | None:
    known = [(one.value, one.n) for one in some if one.value is not None]
    total = sum(n for _, n in known)
    return sum(value * n for value, n in known) / total if total else None


def _where(some: Sequence[Heir], every: Sequence[Heir]) -> str:
    """Criteria, with their Eval-Prompts where these differ."""
    if len(some) == len(every) and len(every) > 1:
        return f"On all {len(every)}"
    several = len({one.eval_prompt for one in every}) > 1
    names = dict.fromkeys(f"{one.criterion} {one.eval_prompt}" if several else one.criterion for one in some)
    return f"On {', '.join(names)}"


def _reason(some: Sequence[Heir]) -> str:
    reasons = dict.fromkeys(str(one.agreement.difference.reason or "undefined") for one in some)
    return "; ".join(reasons)


def _place(one: Heir) -> dict[str, object]:
    return {"dataset": one.dataset, "criterion": one.criterion, "eval_prompt": one.eval_prompt}


def _place_columns(result: Succession) -> list[Column]:
    several = len({one.dataset for one in result.heirs}) > 1
    first = [Column("dataset", "dataset")] if several else []
    return [*first, Column("criterion", "criterion"), Column("eval_prompt", "eval prompt")]


def _tests(result: Succession) -> Table:
    rows = [
        _place(one)
        | {
            "stories": one.stories,
            "tau_old": one.tau_old.value,
            "tau_new": one.tau_new.value,
            "tau": one.agreement.difference,
            "tau_p": one.agreement.p,
            "decision": one.decision,
            "more": _needed(one.needed),
            "level": one.level.difference,
            "level_p": one.level.p,
            "level_decision": {"better": "higher", "worse": "lower"}.get(one.level_decision, one.level_decision),
        }
        for one in result.heirs
    ]
    columns = [
        *_place_columns(result),
        Column("stories", "stories"),
        Column("tau_old", "tau old x100", digits=1, factor=100),
        Column("tau_new", "new", digits=1, factor=100),
        Column("tau", "new - old [90 %]", digits=1, factor=100),
        Column("tau_p", "p", digits=3, p="two one-sided"),
        Column("decision", "agreement with people"),
        Column("more", "more stories"),
        Column("level", "mean rating, new - old [90 %]"),
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
        _place(one)
        | {
            "kind": walk.kind,
            "points": "  ".join(f"{x:g}→{y:.2f}" for x, y in walk.points) or None,
            "raw": one.raw,
            "rmse": walk.rmse,
            "alike": one.alike,
        }
        for one in result.heirs
        for walk in one.crosswalks
    ]
    columns = [
        *_place_columns(result),
        Column("kind", "crosswalk"),
        Column("points", "new rating → old judge's"),
        Column("raw", "RMSE without"),
        Column("rmse", "RMSE through it"),
        Column("alike", "tau new with old x100", digits=1, factor=100),
    ]
    notes = [
        "a crosswalk predicts the old judge's rating from the new one's; where they agree little it draws to the mean",
        "RMSE through it: out of fold, by folds of story-prompts, in points",
    ]
    return Table("Crosswalk of scales", columns, rows, result.signature, notes)


def _stories(result: Succession) -> Table:
    top = result.options.top
    rows = [
        {
            "dataset": one.dataset,
            "story": one.story,
            "system": one.system,
            "criterion": one.criterion,
            "eval_prompt": one.eval_prompt,
            "old": one.old,
            "new": one.new,
            "crossed": one.crossed,
        }
        for one in result.stories[:top]
    ]
    columns = [
        Column("story", "story"),
        Column("system", "system"),
        *_place_columns(result),
        Column("old", "old"),
        Column("new", "new"),
        Column("crossed", "new, through the crosswalk"),
    ]
    count = len(result.stories)
    more = Advice("{top} shows more", top=min(count, 10 * top)) if count > top else ""
    notes = [note for note in (f"{count:,} verdicts change in all, {min(top, count):,} are shown", more) if note]
    return Table("Stories whose verdict changes most", columns, rows, result.signature, notes)
