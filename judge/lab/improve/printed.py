"""An improvement in sentences, on a screen of at most 40 lines, and as tables."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table, hundredths, printable, titled
from judge.base.printing.text_layout import columns, dollars
from judge.lab.improve.result import Improvement
from judge.lab.improve.verdict import Verdict
from judge.stats.estimation.prompt_gain import Gain, story_prompts_for

WIDTH, HEIGHT = 100, 40
_LABEL, _LEAST = 10, 40
_NAMED = 4
_WORDS = {
    "improved": "IMPROVED",
    "worse": "WORSE",
    "cannot tell": "CANNOT TELL",
    "not tested": "NOT TESTED",
}


def points(value: float | None) -> str:
    """A tau or gain x100, with one decimal and, above 0, no sign."""
    return "—" if value is None else f"{100 * value:.1f}".replace("-", "−")


def signed(value: float | None) -> str:
    """A gain x100 with its sign."""
    return "—" if value is None else f"{100 * value:+.1f}".replace("-", "−")


def interval(gain: Gain) -> str:
    """A gain with its interval, or the reason why there is none."""
    estimate = gain.estimate
    if estimate.value is None:
        return f"undefined ({estimate.reason})"
    if estimate.low is None or estimate.high is None:
        return f"{signed(estimate.value)} ({estimate.reason})"
    return f"{signed(estimate.value)} [{points(estimate.low)}, {points(estimate.high)}]"


def sentences(found: Improvement) -> list[tuple[str, str]]:
    """Label and sentence of each answer, the verdict first; gains are of tau x100."""
    told = [*_verdict(found)] if found.verdict is not None else [*_untested(found)]
    return [*told, *_race(found), *_before(found)]


def sentence(found: Improvement) -> str:
    """The first answer."""
    return sentences(found)[0][1]


def _untested(found: Improvement) -> Iterator[tuple[str, str]]:
    if not found.asked:
        yield "verdict", f"NOTHING WAS ASKED. This is the plan; {_start(found)}."
        return
    yield (
        "verdict",
        (
            "NOT TESTED. No candidate scored above the original on the story-prompts that choose: the test part was "
            f"not asked, and stays unused. Keep {found.base}."
        ),
    )


def _start(found: Improvement) -> str:
    return "without a budget of 0 it begins" if found.before.dollars is None else "a budget in dollars starts it"


def _verdict(found: Improvement) -> Iterator[tuple[str, str]]:
    verdict = found.verdict
    if verdict is None:
        return
    gain, level = verdict.gain, f"{100 * verdict.gain.confidence:.4g} %"
    used = "" if verdict.use == 1 else f" This is use {verdict.use} of these test story-prompts, hence {level}."
    winner = found.delivered if len(set(found.winners)) == 1 else "the prompts that the halves chose"
    several = len(set(found.winners)) > 1
    end = {
        "improved": f"{winner} {'improve' if several else 'improves'} on {found.base}",
        "worse": f"{winner} {'are' if several else 'is'} worse than {found.base}",
        "cannot tell": f"that {winner} {'improve' if several else 'improves'} on {found.base} is not shown",
    }[verdict.word if verdict.word != "not tested" else "cannot tell"]
    smallest = (
        f" A gain below {points(gain.smallest)} is missed more often than one time in five." if gain.smallest else ""
    )
    fault = f" The gain does not count: {verdict.fault}." if verdict.fault else ""
    yield (
        "verdict",
        (
            f"{_WORDS[verdict.word]}. {end[:1].upper()}{end[1:]}: {interval(gain)} over the mean of two fresh "
            f"askings of the original, {level} interval over {gain.clusters} story-prompts.{used}{fault}"
            f"{smallest if verdict.word != 'improved' else ''}"
        ),
    )
    yield "wording", _wording(verdict)
    yield "promised", _promised(verdict)
    if found.split.design == "swap":
        yield "halves", _halves(found)
    yield "repeats", _repeats(found, verdict)
    if found.price is not None:
        yield "cost", _cost(found)
    yield "moved", _moved(verdict)
    if verdict.without:
        low = min(verdict.without, key=lambda name: verdict.without[name])
        high = max(verdict.without, key=lambda name: verdict.without[name])
        yield (
            "systems",
            (
                f"Without {low} the gain is {signed(verdict.without[low])}, without {high} "
                f"{signed(verdict.without[high])}."
            ),
        )


def _wording(verdict: Verdict) -> str:
    if verdict.wording is None:
        return "MORE THAN REWORDING: CANNOT TELL. No paraphrase could be asked with."
    word = "YES" if verdict.more_than_rewording else "CANNOT TELL"
    return (
        f"MORE THAN REWORDING: {word}. {interval(verdict.wording)} over the paraphrase of the original that won a "
        "race of its own."
    )


def _promised(verdict: Verdict) -> str:
    value = verdict.gain.estimate.value
    rest = 0.0 if value is None else verdict.promised - value
    lost = f", {points(rest)} less" if rest > 0 else ""
    noise = (
        "" if verdict.noise is None else f" Asked twice, the original differs from itself by {signed(verdict.noise)}."
    )
    return f"The race promised {signed(verdict.promised)}, the test gave {signed(value)}{lost}.{noise}"


def _halves(found: Improvement) -> str:
    names = [name or "none" for name in found.winners]
    if len(set(names)) == 1:
        return f"Both halves chose {names[0]}."
    return (
        f"The halves chose {' and '.join(names)}: the gain is that of choosing in this way, and not of one prompt. "
        f"{found.delivered} scored higher over all that was asked."
    )


def _repeats(found: Improvement, verdict: Verdict) -> str:
    if verdict.repeats is None:
        return "No number of repeats of the original is seen to give the same."
    if verdict.repeats <= found.repeats:
        return f"The original reaches the same with {found.repeats} repeats, as asked."
    return f"About {verdict.repeats:.0f} repeats of the original in place of {found.repeats} would give the same tau."


def _cost(found: Improvement) -> str:
    price = found.price
    if price is None or price.original is None or price.winner is None:
        return "What the prompts cost is not known."
    gain = None if found.verdict is None else found.verdict.gain.estimate.value
    each = price.per_point(gain)
    per = "" if each is None else f"; {dollars(each)} for each point of tau x100 gained"
    return (
        f"1,000 stories cost {dollars(price.original)} with the original, {dollars(price.winner)} with the winner{per}."
    )


def _moved(verdict: Verdict) -> str:
    said = [
        f"{each.trait} {each.original:.2f} → {each.winner:.2f}".replace("-", "−")
        for each in verdict.moved
        if each.original is not None and each.winner is not None
    ]
    if verdict.error is not None:
        raw, first, second = verdict.error
        said.append(f"error in points {raw:.2f}, recalibrated {first:.2f} → {second:.2f}")
    return f"{'; '.join(said)}. Thresholds set for the original are void."


def _race(found: Improvement) -> Iterator[tuple[str, str]]:
    if not found.races:
        return
    for number, race in enumerate(found.races):
        name = race.winners[0]
        half = f"Half {'ab'[number]}: " if len(found.races) > 1 else ""
        first, last = race.rounds[0].scores, race.rounds[-1].scores
        promised = "" if name is None else f"; {name} came first with {signed(race.promised(name))} over the original"
        kept = len(last) - 1
        yield "race", f"{half}{len(first) - 1} prompts, {kept} in the last of {_rounds(len(race.rounds))}{promised}."
    if found.twice is not None:
        yield "twice", f"Twice the repeats of the original add {signed(found.twice)} there."
    if found.lost or found.faults:
        lost = [f"{each.name} ({each.loss}: {each.why})" for each in found.lost]
        lost += [f"{name} ({why})" for name, why in (found.faults or {}).items()]
        more = f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        yield "lost", f"Not asked with, or out: {'; '.join(lost[:_NAMED])}{more}."
    if found.spent is not None:
        yield "spent", f"{dollars(found.spent)} in all."
    if found.definition is not None:
        yield "files", f"{found.definition} uses the new prompt; {found.page or found.folder} has everything."


def _repeats_of(count: int) -> str:
    return "1 repeat" if count == 1 else f"{count} repeats"


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"


def _before(found: Improvement) -> Iterator[tuple[str, str]]:
    before, split = found.before, found.split
    if before.people is None:
        yield "people", f"How well one more person agrees is not known: {before.reason}."
    else:
        yield "people", f"One more person reaches tau x100 {points(before.people)} with the mean of the others."
    parts = [len(split.train), *(len(part) for part in split.chooses)]
    if split.design == "split":
        shape = f"{parts[0]} write, {parts[1]} choose, {split.story_prompts} test"
    else:
        shape = f"{parts[0]} write, {' and '.join(map(str, parts[1:]))} choose for each other (swap)"
    known = "as measured in this run" if before.measured else "as is usual"
    factor = 1.1 if split.design == "swap" else 1.0
    wanted = story_prompts_for(0.05, before.spread, factor)
    yield (
        "can show",
        (
            f"{len(split.keys)} story-prompts: {shape}. A gain of {points(before.smallest)} is found in four tests of "
            f"five (spread {before.spread:.2f}, {known}); a gain of 5 takes {wanted} story-prompts of test."
        ),
    )
    cost = "" if before.dollars is None else f", about {dollars(before.dollars)}"
    if not found.asked:
        yield (
            "asks",
            (
                f"About {before.requests:,} requests{cost}: {_repeats_of(found.race_repeats)} in the race, "
                f"{found.repeats} "
                "in the test."
            ),
        )


def screen(found: Improvement) -> str:
    """The answers as text of at most 40 lines."""
    width = min(WIDTH, max(_LEAST, columns() or WIDTH))
    about = f"{found.judge}, Eval-Prompt {found.base}, {', '.join(found.criteria)}"
    lines = textwrap.wrap(printable(about), width)
    for label, said in sentences(found):
        lines += _labelled(label, said, width)
    for note in found.notes:
        lines += textwrap.wrap(f"· {printable(note)}", width, subsequent_indent="  ")
    if len(lines) > HEIGHT:
        lines = [*lines[: HEIGHT - 1], f"Left out: {len(lines) - HEIGHT + 1} lines, which the page has."]
    return "\n".join(lines) + "\n"


def _labelled(label: str, said: str, width: int) -> list[str]:
    wrapped = textwrap.wrap(printable(said), width - _LABEL) or [""]
    return [f"{label if number == 0 else '':<{_LABEL}}{line}" for number, line in enumerate(wrapped)]


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
    verdict = found.verdict
    if verdict is not None:
        gains = [{"criterion": name, "gain": each.estimate} for name, each in verdict.criteria.items()]
        gains.append({"criterion": "mean over criteria", "gain": verdict.gain.estimate})
        if verdict.wording is not None:
            gains.append({"criterion": "over the best paraphrase", "gain": verdict.wording.estimate})
        made.append(
            Table("Gain on test, tau x100", [*titled(criterion="criterion"), *hundredths(gain="gain")], gains, "")
        )
        moved = [{"trait": each.trait, "original": each.original, "winner": each.winner} for each in verdict.moved]
        numbers = [Column("original", "original", digits=2), Column("winner", "winner", digits=2)]
        made.append(Table("What else moved", [*titled(trait="trait"), *numbers], moved, ""))
        without = [{"system": name, "gain": value} for name, value in verdict.without.items()]
        if without:
            made.append(
                Table("Gain without a system, x100", [*titled(system="system"), *hundredths(gain="gain")], without, "")
            )
    made[-1] = Table(made[-1].title, made[-1].columns, made[-1].rows, signature(found), made[-1].notes)
    return made


def _candidates(found: Improvement) -> Table:
    rows = []
    for number, race in enumerate(found.races):
        names = dict.fromkeys(name for each in race.rounds for name in each.scores)
        for name in names:
            rounds = [each.scores[name] for each in race.rounds if name in each.scores]
            proposal = found.proposal(name)
            value = rounds[-1]
            missing = value != value
            rows.append(
                {
                    "part": "ab"[number] if len(found.races) > 1 else "select",
                    "candidate": name,
                    "origin": proposal.origin if proposal else "the Eval-Prompt of the run",
                    "rounds": len(rounds),
                    "tau": Estimate.undefined((found.faults or {}).get(name, "undefined")) if missing else value,
                    "won": "won" if name in race.winners else "",
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
