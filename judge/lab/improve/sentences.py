"""An improvement in sentences: the verdict first, then what stands beside it. Gains are of tau x100."""

from __future__ import annotations

from collections.abc import Iterator

from judge.base.printing.text_layout import dollars
from judge.lab.improve.material import MORE, ORIGINAL
from judge.lab.improve.result import Improvement
from judge.lab.improve.verdict import Verdict
from judge.stats.estimation.prompt_gain import Gain, story_prompts_for

_NAMED = 4
_ORDER = ("improved", "worse", "cannot tell")


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
        begins = "without a budget of 0 it begins" if found.before.dollars is None else "a budget in dollars starts it"
        yield "verdict", f"NOTHING WAS ASKED. This is the plan; {begins}."
        return
    yield (
        "verdict",
        (
            "NOT TESTED. Neither a candidate nor more repeats scored above the original on the story-prompts that "
            f"choose: the test part was not asked, and stays unused. Keep {found.base}."
        ),
    )


def _verdict(found: Improvement) -> Iterator[tuple[str, str]]:
    verdict = found.verdict
    if verdict is None:
        return
    gain, level = verdict.gain, f"{100 * verdict.gain.confidence:.4g} %"
    used = "" if verdict.use == 1 else f" This is use {verdict.use} of these test story-prompts, hence {level}."
    smallest = (
        f" A gain below {points(gain.smallest)} is missed more often than one time in five." if gain.smallest else ""
    )
    fault = f" The gain does not count: {verdict.fault}." if verdict.fault else ""
    yield (
        "verdict",
        (
            f"{verdict.word.upper()}. {_said(found, verdict)}: {interval(gain)} over the mean of two fresh "
            f"askings of the original, {level} interval over {gain.clusters} story-prompts.{used}{fault}"
            f"{smallest if verdict.word != 'improved' else ''}"
        ),
    )
    if len(verdict.criteria) > 1:
        yield "criteria", _criteria(verdict)
    yield "wording", _wording(found, verdict)
    yield "promised", _promised(verdict)
    if found.split.design == "swap":
        yield "halves", _halves(found)
    yield "repeats", _repeats(found, verdict)
    if found.price is not None:
        yield "cost", _cost(found)
    yield "moved", _moved(verdict)
    if verdict.without:
        ordered = sorted(verdict.without, key=lambda name: verdict.without[name])
        said = [f"without {name} {signed(verdict.without[name])}" for name in (ordered[0], ordered[-1])]
        yield "systems", f"The gain is {' and '.join(said)}."


def _said(found: Improvement, verdict: Verdict) -> str:
    """Of what the verdict speaks, and what it says of it."""
    names = set(found.winners)
    several = len(names) > 1 or names == {MORE}
    if names == {MORE}:
        winner = f"{2 * found.repeats} repeats of {found.base} in place of {found.repeats}"
    else:
        winner = "the prompts that the halves chose" if several else str(found.delivered)
    improves = f"{winner} {'improve' if several else 'improves'} on {'it' if names == {MORE} else found.base}"
    if verdict.word == "worse":
        said = f"{winner} {'are' if several else 'is'} worse than {found.base}"
    else:
        said = improves if verdict.word == "improved" else f"that {improves} is not shown"
    return said[:1].upper() + said[1:]


def _criteria(verdict: Verdict) -> str:
    if not verdict.adjusted:
        return "None is named, as over all of them no gain is shown. The page has their intervals, unadjusted."
    by_word: dict[str, list[str]] = {}
    for name in verdict.criteria:
        by_word.setdefault(verdict.on(name), []).append(name)
    said = [f"{word} on {', '.join(by_word[word])}" for word in sorted(by_word, key=_ORDER.index)]
    return f"By criterion, adjusted over {len(verdict.criteria)} (Holm): {'; '.join(said)}."


def _wording(found: Improvement, verdict: Verdict) -> str:
    if MORE in found.winners:
        return "MORE THAN REWORDING: NOT ASKED. More repeats were chosen, whose wording is the original's."
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
    twice = f"Twice the repeats of the original: {interval(verdict.doubled)} on the same stories."
    if set(found.winners) == {MORE}:
        return f"{twice} Every asking had {_repeats_of(found.repeats)}; two of the original are taken together."
    if verdict.repeats is None:
        return f"{twice} No number of repeats of the original is seen to give the winner's tau."
    if verdict.repeats <= found.repeats:
        return f"{twice} The original reaches the winner's tau with {_repeats_of(found.repeats)}, as asked."
    # Of sub-scores every one is an answer.
    answers = found.repeats * min(len(each.of) for name in found.winners if (each := found.proposal(name or "")))
    equal = f", and it takes {answers} answers: nothing is gained at equal cost" if verdict.repeats <= answers else ""
    return f"{twice} About {verdict.repeats:.0f} in place of {found.repeats} would give the winner's tau{equal}."


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
        name = race.winner
        half = f"Half {'ab'[number]}: " if len(found.races) > 1 else ""
        first, last = (race.rounds[place].keys() - {ORIGINAL, MORE} for place in (0, -1))
        names = [name] if name in (None, MORE) else [name, MORE]
        gains = ", ".join(f"{each} {signed(race.promised(each))}" for each in names if each is not None)
        promised = f"; over the original: {gains}" if gains else ""
        reworded = sum(each.paraphrase and each.name in first for each in found.proposals)
        said = f"{len(first) - reworded} candidates, {reworded} paraphrases and more repeats"
        rounds = len(race.rounds)
        said += " in 1 round" if rounds == 1 else f", {len(last) + 1} left in the last of {rounds} rounds"
        yield "race", f"{half}{said}{promised}."
    if found.lost or found.faults:
        lost = [f"{each.name} ({each.loss}: {each.why})" for each in found.lost]
        lost += [f"{name} ({why})" for name, why in (found.faults or {}).items()]
        more = f"; and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        yield "lost", f"Not asked with, or out: {'; '.join(lost[:_NAMED])}{more}."
    if found.spent is not None:
        yield "spent", f"{dollars(found.spent)} in all."
    if found.definition is not None:
        yield "files", f"{found.definition} uses it; {found.page or found.folder} has everything.{_use(found)}"


def _use(found: Improvement) -> str:
    """How to use what is delivered, where it is not one Eval-Prompt in the original's place."""
    winner = found.proposal(found.delivered or "")
    if winner is None or (not winner.parts and winner.scale is None):
        return ""
    if winner.scale is not None:
        return " Its ratings stay on the new scale, so people's are not in its stories."
    weights = " with the weights in weights.yaml" if winner.weighted else " (judge jury combines them)"
    return f" Its rating is the mean of {len(winner.parts)} Eval-Prompts{weights}."


def _repeats_of(count: int) -> str:
    return "1 repeat" if count == 1 else f"{count} repeats"


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
