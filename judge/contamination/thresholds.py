"""Thresholds from which a text counts as seen, chosen by a rule on a labelled set, and valid for one model only.
``youden`` maximises the true-positive rate minus the false-positive rate. ``fpr=0.05`` is the lowest threshold at which
at most that share of the unseen texts count as seen. A number is used as the threshold itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from judge.backends.protocol import ScorerFacts
from judge.base.errors import OptionError, SpecError
from judge.base.estimate import Estimate
from judge.base.wording import Advice, Note
from judge.contamination.options import AucOptions
from judge.contamination.scores_file import ScoresFile, different_model, with_thresholds
from judge.stats.estimation.proportions import corrected_share, effective_size, wilson_of_share
from judge.stats.ordering import discrimination
from judge.stats.ordering.discrimination import score_interval
from judge.stats.resampling import bootstrap
from judge.stats.resampling.bootstrap import Resamples

# False-positive share of a threshold, with its uncertainty, corrected for having chosen the threshold on the same
# texts. The share of this set's own unseen texts that reach the threshold is therefore lower than the share of other
# unseen texts: a little lower if the rule fixes the share (`fpr=0.05`), much lower if the rule looks for the best
# threshold (`youden`). This difference (optimism) is estimated by bootstrap resamples of the set (of whole books, if
# books are named). In each resample the rule chooses a threshold again; the optimism is the share in texts that were
# not drawn minus the share in texts that were (Efron 1983, JASA 78, out of the bag, which errs to the high side). The
# standard deviation over resamples is the standard error of the share and includes the uncertainty of the threshold.
# The effective number of independent texts follows from it. A share of stories above the threshold is evidence only
# if it exceeds this baseline by more than the errors of both; `prevalence.corrected_share` computes by how much, with
# the stories of one story-prompt as a cluster.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int64]
# From scores and labels to a threshold, or None where the rule has none on them.
Choose = Callable[[Floats, Flags], float | None]

# Enough for a standard error (Efron & Tibshirani 1993, p. 52); no percentile is taken of them.
RESAMPLES = 200
NO_RATES = Note(
    "undefined: the scores file has no rates of unseen texts",
    Advice("score the stories again with {calibration}"),
    joint="; ",
)


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected shares of texts outside the labelled set that reach a threshold, with effective sample sizes.
    `unseen_groups` is the number of books with unseen texts, or of unseen texts if books are not named."""

    false_positive_expected: float
    true_positive_expected: float
    unseen_effective: float
    seen_effective: float
    unseen_groups: float


def expected_rates(values: Floats, label: Flags, group: Sequence[str | None], choose: Choose) -> Expected | None:
    """Expected error rates, outside the labelled set, of the threshold that `choose` finds on it.

    `values` (no NaN) and `label` (True = seen) have shape (texts,). If any text's book (`group`) is None, every text is
    its own group. None if the rule finds no threshold, or if more than half of the bootstrap resamples give none (or
    lack seen or unseen texts)."""
    named = all(book is not None for book in group)
    names = [str(book) if named else f"{i:09d}" for i, book in enumerate(group)]
    code = np.unique(names, return_inverse=True)[1].astype(np.int64)
    threshold = choose(values, label)
    shares = [shares for shares in _resampled(values, label, code, choose) if shares is not None]
    if threshold is None or len(shares) < RESAMPLES / 2:
        return None
    whole, inside, outside = np.array(shares).transpose(1, 0, 2)
    out: dict[str, float] = {}
    for side, (name, rate, own) in enumerate((("unseen", "false_positive", ~label), ("seen", "true_positive", label))):
        apparent = float((values[own] >= threshold).mean())
        share = float(np.clip(apparent + np.nanmean(outside[:, side] - inside[:, side]), 0.0, 1.0))
        spread, error = share * (1 - share), float((whole[:, side] - inside[:, side]).std())
        texts, books = float(own.sum()), float(np.unique(code[own]).size)
        out[f"{rate}_expected"] = share
        out[f"{name}_effective"] = books if min(spread, error) < 1e-9 else min(texts, spread / error**2)
    return Expected(unseen_groups=float(np.unique(code[~label]).size), **out)


def _resampled(values: Floats, label: Flags, code: Codes, choose: Choose) -> Iterator[list[list[float]] | None]:
    # Yields [share of unseen texts, share of seen texts] for all, for the drawn, and for the texts not drawn.
    rng, books = np.random.default_rng(1), int(code.max()) + 1
    for _ in range(RESAMPLES):
        times = rng.multinomial(books, np.full(books, 1 / books))[code]
        drawn = np.repeat(np.arange(code.size), times)
        if len(set(label[drawn].tolist())) < 2:
            yield None
            continue
        threshold = choose(values[drawn], label[drawn])
        if threshold is None:
            yield None
            continue
        reached = values >= threshold
        sides = (~label, label)
        yield [
            [float(reached[side].mean()) for side in sides],
            [float(np.average(reached[side], weights=times[side])) for side in sides],
            [_share(reached[side & (times == 0)]) for side in sides],
        ]


def _share(reached: Flags) -> float:
    return float(reached.mean()) if reached.size else float("nan")


def of_unseen(expected: Expected | None, texts: int) -> Estimate:
    """Expected share of unseen texts that reach the threshold (false positives); undefined without expected rates.

    The interval is Wilson's, with the effective number of independent texts as n, and with a quantile of Student's t
    (degrees of freedom: number of books, or of texts if books are not named, minus 1) in place of the normal quantile.
    `texts` is the number of unseen texts in the labelled set."""
    if expected is None:
        return Estimate.undefined(NO_RATES)
    share, effective = expected.false_positive_expected, expected.unseen_effective
    low, high = wilson_of_share(share, effective, _t(expected.unseen_groups))
    # Rounding may put the lower end of a share of 0 above it.
    return Estimate(share, n=texts, low=min(low, share), high=high, method=f"Wilson, effective n {effective:.1f}, 95 %")


def corrected(called: Flags, cluster: Codes, expected: Expected | None) -> Estimate:
    """Share of seen stories, corrected for the threshold's error rates, whose uncertainty the interval includes.
    `called` (reach the threshold) and `cluster` (story-prompts) have shape (stories,). Undefined without `expected`."""
    if expected is None:
        return Estimate.undefined(NO_RATES)
    if not called.size:
        return Estimate.undefined("a share of nothing")
    size = effective_size(called.astype(np.float64), cluster)
    unseen, seen = expected.unseen_effective, expected.seen_effective
    estimate = corrected_share(
        float(called.mean()) * size,
        size,
        hits=expected.true_positive_expected * seen,
        positives=seen,
        rejections=(1 - expected.false_positive_expected) * unseen,
        negatives=unseen,
        z=_t(min(float(np.unique(cluster).size), expected.unseen_groups)),
    )
    return replace(estimate, n=int(called.size))


def _t(groups: float) -> float:
    return float(special.stdtrit(max(1.0, groups - 1), 0.975))


# AUC of a score with its interval, and the bootstrap resamples of true-positive rates. Both take the texts of a book
# together, or single texts if books are not named.


def draw(scores: ScoresFile, options: AucOptions) -> Resamples:
    """Resamples of a labelled set: of books if every text's is known (texts of one are not independent), else of
    texts."""
    rng, books = np.random.default_rng(options.seed), books_of(scores)
    if books is None:
        return bootstrap.draw(np.arange(len(scores.rows), dtype=np.int64), options.resamples, rng, "boot-texts")
    return bootstrap.draw(books, options.resamples, rng, "boot-books")


def books_of(scores: ScoresFile) -> Codes | None:
    """Code of each text's book, shape (texts,); None if the book of any text is not known."""
    groups = [row.group for row in scores.rows]
    if any(group is None for group in groups):
        return None
    return np.unique([str(group) for group in groups], return_inverse=True)[1].astype(np.int64)


def area(scores: ScoresFile, name: str, label: Flags) -> Estimate:
    """AUC of the score `name` with its score interval; texts without the score are left out. `label` is True for seen
    texts. The texts of one book are a cluster, if the book of every text is known."""
    books = books_of(scores)
    estimate = score_interval(scores.score(name), label, books)
    unit = "texts" if books is None else "books"
    return replace(estimate, method=f"{unit}, {estimate.method}" if estimate.method else None)


# Score -> the setting that must be equal where its threshold is carried over; `words` must be for all of them.
_MOVED_BY = {"recall": "prefix"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labelled set on which a threshold was chosen; `texts` counts those with the score. `false_positive` and
    `true_positive` are shares that reach the threshold; `expected` is for other texts (None = unknown)."""

    name: str
    texts: int
    seen: int
    auc: Estimate
    false_positive: float
    true_positive: float
    expected: Expected | None


@dataclass(frozen=True, slots=True)
class Threshold:
    """Score from which a text counts as seen; `labelled` is None for a number that the user gave."""

    rule: str
    value: float
    labelled: Labelled | None = None

    @property
    def record(self) -> dict[str, Any]:
        labelled = self.labelled
        if labelled is None:
            return {"rule": self.rule, "value": self.value, "set": None}
        return {
            "rule": self.rule,
            "value": self.value,
            "set": labelled.name,
            "texts": labelled.texts,
            "seen": labelled.seen,
            "auc": labelled.auc.value,
            "auc_low": labelled.auc.low,
            "auc_high": labelled.auc.high,
            "auc_method": labelled.auc.method,
            "false_positive": labelled.false_positive,
            "true_positive": labelled.true_positive,
            **({} if labelled.expected is None else asdict(labelled.expected)),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Threshold:
        """The threshold in a header's record; earlier versions' records lack expected rates, which become None."""
        if not record.get("set"):
            return cls(record["rule"], record["value"])
        names = [field.name for field in fields(Expected)]
        has_expected = record.get("false_positive_expected") is not None
        ends = {key: record[f"auc_{key}"] for key in ("low", "high", "method")}
        labelled = Labelled(
            name=record["set"],
            texts=record["texts"],
            seen=record["seen"],
            auc=Estimate(record["auc"], n=record["texts"], **ends),
            false_positive=record["false_positive"],
            true_positive=record["true_positive"],
            expected=Expected(**{name: record[name] for name in names}) if has_expected else None,
        )
        return cls(record["rule"], record["value"], labelled)


def by_rule(scores: ScoresFile, rule: str, name: str) -> Threshold:
    """Threshold of the score `name` by a rule on the labelled set `scores`; a number is the threshold itself. Raises
    SpecError for an unknown rule, and if the labelled set yields no threshold."""
    kind, number = _parsed(rule)
    if kind == "value":
        return Threshold("given", number)
    label = scores.labels
    if label is None:
        raise SpecError(
            Advice("{threshold} needs texts with labels, and {} has none", scores.header["source"], threshold=rule),
            hint=Advice(
                "give {calibration}, made of a labelled set by judge contamination auc {scores_to}",
                calibration="SCORES",
                scores_to="SCORES",
            ),
        )
    values = scores.score(name)
    auc = area(scores, name, label)
    if auc.value is None:
        raise SpecError(f"no threshold for {name} on {scores.header['source']}: {auc.reason}")
    keep = ~np.isnan(values)
    unseen = int((~label[keep]).sum())
    value: float | None
    if kind == "youden":
        value = discrimination.youden(values, label)
    elif unseen * number < 1:
        raise SpecError(Advice("{threshold}: {} unseen texts are too few for that rate", unseen, threshold=rule))
    else:
        value = discrimination.threshold_at_fpr(values, label, number)
        if value is None:
            words = "{threshold}: more than that share of unseen texts has the highest {}"
            raise SpecError(Advice(words, name, threshold=rule))
    groups = [row.group for row, kept in zip(scores.rows, keep, strict=True) if kept]
    called = values[keep] >= value
    labelled = Labelled(
        name=scores.header["source"],
        texts=int(keep.sum()),
        seen=int(label[keep].sum()),
        auc=auc,
        false_positive=float(called[~label[keep]].mean()),
        true_positive=float(called[label[keep]].mean()),
        expected=expected_rates(values[keep], label[keep], groups, _choose(kind, number)),
    )
    return Threshold(rule, value, labelled)


def _choose(kind: str, number: float) -> Callable[[Floats, Flags], float | None]:
    return (
        discrimination.youden
        if kind == "youden"
        else lambda values, label: discrimination.threshold_at_fpr(values, label, number)
    )


def given(scores: ScoresFile, value: float, name: str) -> ScoresFile:
    """The scores file with the number `value` as the threshold of the score `name`."""
    scores.score(name)
    return with_thresholds(scores, {name: by_rule(scores, repr(value), name).record})


def is_number(rule: str) -> bool:
    """Whether a rule for thresholds is a plain number. A number can be the threshold of one score only."""
    return _parsed(rule)[0] == "value"


def all_by_rule(scores: ScoresFile, rule: str) -> ScoresFile:
    """The scores file with a threshold for each score, or the reason why there is none. Raises SpecError if the rule is
    unknown or if no score has a threshold."""
    _parsed(rule)
    thresholds, without = {}, {}
    for name in scores.names:
        try:
            thresholds[name] = by_rule(scores, rule, name).record
        except SpecError as error:
            without[name] = error
    if not thresholds:
        raise next(iter(without.values()))
    return with_thresholds(scores, thresholds, {name: error.sentence for name, error in without.items()})


def carried_over(scores: ScoresFile, calibration: ScoresFile, rule: str) -> ScoresFile:
    """The stories' scores with the thresholds that a rule chooses on the labelled set `calibration`. Raises SpecError
    if models or text lengths differ."""
    refuse_other_model(scores.judge, scores.facts, calibration)
    ours, theirs = scores.header["settings"], calibration.header["settings"]
    if ours.get("words") != theirs.get("words"):
        lengths = "thresholds do not carry over between lengths: {words} in the labelled set, {} here"
        raise SpecError(
            Advice(lengths, ours.get("words"), words=theirs.get("words")),
            hint=Advice("score both with the same {words}"),
        )
    chosen = all_by_rule(calibration, rule)
    usable = {}
    without = {name: why for name, why in chosen.header["without_threshold"].items() if name in scores.names}
    for name in scores.names:
        if name in chosen.header["thresholds"] and _same(name, scores, calibration):
            usable[name] = chosen.header["thresholds"][name]
        elif name not in without:
            without[name] = f"no threshold for {name}: {calibration.header['source']} was not scored so"
    return with_thresholds(scores, usable, without)


def refuse_other_model(judge: str, facts: ScorerFacts, calibration: ScoresFile) -> None:
    """Raise SpecError if another model scored the labelled set: a threshold is valid for one model only."""
    if reason := different_model(facts, calibration.facts):
        raise SpecError(
            f"a threshold does not carry over to another model: {reason}",
            hint=Advice(
                "score the labelled set with this one: judge contamination auc FILE {model} {scores_to} ...",
                model=judge,
            ),
        )


def _same(name: str, ours: ScoresFile, theirs: ScoresFile) -> bool:
    """Whether the settings allow to carry a threshold over: the same reference model, or prefix for ReCaLL."""
    if name.startswith("reference_"):
        return bool(ours.header["reference"] == theirs.header["reference"])
    setting = _MOVED_BY.get(name)
    return setting is None or ours.header["settings"].get(setting) == theirs.header["settings"].get(setting)


def of_score(scores: ScoresFile, name: str) -> Threshold | None:
    """The threshold of the score `name` in a scores file's header, or None."""
    record: Mapping[str, Any] | None = scores.header["thresholds"].get(name)
    return None if record is None else Threshold.of(record)


def _parsed(rule: str) -> tuple[str, float]:
    strange = OptionError("threshold", rule, "is not a rule; allowed: youden, fpr=0.05 (any share), or a number")
    if rule == "youden":
        return "youden", 0.0
    kind, _, number = rule.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        raise strange from None
    if not kind and np.isfinite(value):
        return "value", value
    if kind == "fpr" and 0 < value < 1:
        return "fpr", value
    raise strange
