"""The family of intraclass correlations (ICC), with F tests and F intervals; negative values are not set to 0.

Impossible values are undefined, and their likely cause is given (`scale_use.likely_cause`): values above 1; values
below -1 / (k - 1), the minimum for k columns; and a reliability of means whose whole interval is below 0. A negative
ICC of single ratings is kept, since it is a correlation. `from_0` sets the reliabilities of means that are below 0 to
0.

Formulas: McGraw & Wong 1996, Psychological Methods 1(1), tables 4 and 7 (with their correction), in the notation of
Shrout & Fleiss 1979. Mean squares for n stories rated k times: MSB between stories, MSW within stories, MSJ between
raters (columns), MSE residual.

========  =======================  ==========================================================================
form      also called              when
========  =======================  ==========================================================================
ICC(1,1)  one-way random           columns have no meaning (raters unknown, or different for each story)
ICC(2,1)  ICC(A,1), agreement      the same raters rated every story and are a sample of raters
ICC(3,1)  ICC(C,1), consistency    as (2,1), but differences in leniency do not count
ICC(.,k)  average of k             reliability of the mean of the k ratings
========  =======================  ==========================================================================

For repeats of one judge, which are exchangeable, (1,.) and (2,.) differ only by chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from judge.base.arrays import Floats
from judge.base.estimate import Estimate
from judge.stats.bias.scale_use import likely_cause
from judge.stats.resampling.bootstrap import OfSums

FORMS = ("ICC(1,1)", "ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)")
ONE_WAY = FORMS[:2]
_NOISE = 1e-12


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """Mean squares of a table of n stories by k columns (repeats or raters; two-way layout without interaction).

    Several tables have one value each, in arrays."""

    between: Floats
    within: Floats
    columns: Floats
    residual: Floats
    n: int
    k: int


@dataclass(frozen=True, slots=True)
class IccRow:
    """One form of ICC: its estimate with F interval, and the F test (`f`, `p`) that stories do not differ."""

    form: str
    estimate: Estimate
    f: float | None = None
    df1: int | None = None
    df2: int | None = None
    p: float | None = None


@dataclass(frozen=True, slots=True)
class IccFamily:
    """All six forms of ICC for one table of `n` complete stories; `incomplete` ones lack a rating."""

    rows: tuple[IccRow, ...]
    n: int
    k: int
    incomplete: int

    def __getitem__(self, form: str) -> IccRow:
        return next(row for row in self.rows if row.form == form)


def mean_squares(ratings: Floats) -> MeanSquares:
    """Mean squares, in squared points, of complete `ratings` (..., n stories, k repeats or raters); n >= 2 and k >= 2.

    Sums of squares below 1e-12 of the total are rounding errors and are set to 0, so that equal repeats give exactly
    MSW = 0."""
    n, k = ratings.shape[-2:]
    centred = ratings - ratings.mean(axis=(-2, -1), keepdims=True)
    rows = centred.mean(axis=-1, keepdims=True)
    columns = centred.mean(axis=-2, keepdims=True)
    total = (centred**2).sum(axis=(-2, -1))
    ss_between = k * (rows**2).sum(axis=(-2, -1))
    ss_within = ((centred - rows) ** 2).sum(axis=(-2, -1))
    ss_columns = n * (columns**2).sum(axis=(-2, -1))
    ss_residual = ((centred - rows - columns) ** 2).sum(axis=(-2, -1))
    clean = [np.where(ss <= _NOISE * total, 0.0, ss) for ss in (ss_between, ss_within, ss_columns, ss_residual)]
    return MeanSquares(
        between=clean[0] / (n - 1),
        within=clean[1] / (n * (k - 1)),
        columns=clean[2] / (k - 1),
        residual=clean[3] / ((n - 1) * (k - 1)),
        n=n,
        k=k,
    )


def values(ms: MeanSquares) -> dict[str, Floats]:
    """The six forms of ICC from mean squares `ms`; NaN where the denominator is 0 (McGraw & Wong 1996, table 4)."""
    return _forms(ms.between, ms.within, ms.columns, ms.residual, ms.n, ms.k)


def _forms(b: Floats, w: Floats, j: Floats, e: Floats, n: int | Floats, k: int) -> dict[str, Floats]:
    with np.errstate(invalid="ignore", divide="ignore"):
        values_by_form = {
            "ICC(1,1)": (b - w) / (b + (k - 1) * w),
            "ICC(1,k)": (b - w) / b,
            "ICC(2,1)": (b - e) / (b + (k - 1) * e + k * (j - e) / n),
            "ICC(2,k)": (b - e) / (b + (j - e) / n),
            "ICC(3,1)": (b - e) / (b + (k - 1) * e),
            "ICC(3,k)": (b - e) / b,
        }
    return {form: np.where(np.isfinite(value), value, np.nan) for form, value in values_by_form.items()}


def resampled(ratings: Floats) -> OfSums:
    """A function from weights of stories, (b, n), to the six forms of ICC in each resample, (b, 6), ordered as `FORMS`.

    `ratings` (n stories, k columns) are as in `family`; incomplete stories are not used. NaN where a form is undefined
    in a resample: its denominator is 0, or the resample has fewer than 2 stories."""
    complete = np.asarray(~np.isnan(ratings).any(axis=1))[:, None]
    k = ratings.shape[1]
    middle = float(ratings[complete[:, 0]].mean()) if complete.any() else 0.0
    centred = np.where(complete, ratings - middle, 0.0)
    mean = centred.mean(axis=1)
    spread = ((centred - mean[:, None]) ** 2).sum(axis=1)
    parts = np.column_stack([complete, mean, mean**2, spread, centred])

    def forms(sums: Floats) -> Floats:
        # Mean squares are sums over stories, weighted by how often each was drawn.
        n = sums[:, 0]
        with np.errstate(invalid="ignore", divide="ignore"):
            grand, columns = sums[:, 1] / n, sums[:, 4:] / n[:, None]
            between = k * (sums[:, 2] - n * grand**2)
            of_columns = n * ((columns - grand[:, None]) ** 2).sum(axis=1)
            squares = [between, sums[:, 3], of_columns, sums[:, 3] - of_columns]
            total = between + sums[:, 3]
            clean = [np.where(ss <= _NOISE * total, 0.0, ss) for ss in squares]
            degrees = (n - 1, n * (k - 1), np.full(n.shape, k - 1.0), (n - 1) * (k - 1))
            b, w, j, e = (np.where((n >= 2) & (k >= 2), ss / df, np.nan) for ss, df in zip(clean, degrees, strict=True))
        values_by_form = _forms(b, w, j, e, n, k)
        return np.stack([values_by_form[form] for form in FORMS], axis=1)

    return OfSums(parts, forms)


def family(
    ratings: Floats,
    *,
    confidence: float = 0.95,
    columns: str = "repeats",
    names: Sequence[str] = (),
    raters: Floats | None = None,
) -> IccFamily:
    """All forms of ICC of `ratings` (n stories, k repeats or raters); incomplete stories are left out and counted.

    `confidence` is the coverage of the F intervals, and `columns` the word for columns in reasons. `names` of the
    columns, if these are persons or judges, let the reason of an impossible ICC name raters who seem to have used the
    scale in reverse; `raters` (stories, len(names)) are the ratings by person, if the columns are positions, not
    persons.

    Undefined for n < 2, k < 2, ratings that are all equal (0/0), and impossible values. If all repeats are equal F is
    infinite: the value is then 1, without an interval."""
    complete = ratings[~np.isnan(ratings).any(axis=1)] if ratings.size else ratings
    n, k = complete.shape
    incomplete = ratings.shape[0] - n
    reason = _reason(complete, columns)
    if reason:
        rows = tuple(IccRow(form, Estimate.undefined(reason, n=n)) for form in FORMS)
        return IccFamily(rows, n=n, k=k, incomplete=incomplete)
    ms = mean_squares(complete)
    values_by_form = {form: float(value) for form, value in values(ms).items()}
    ends = _intervals(ms, values_by_form, confidence)
    rows = tuple(_row(form, values_by_form[form], ends[form], ms, confidence) for form in FORMS)
    if any(_impossible(row, k) for row in rows):
        cause = likely_cause(complete if raters is None else raters, names)
        rows = tuple(_undefined(row, cause, k) if _impossible(row, k) else row for row in rows)
    return IccFamily(rows, n=n, k=k, incomplete=incomplete)


def from_0(family: IccFamily) -> IccFamily:
    """A `family` as a table prints it: a reliability of means (value or end of its interval) below 0 becomes 0.

    `method` says so. The formula has no lower bound: where stories' means hardly differ it may give -200."""
    return replace(family, rows=tuple(_from_0(row) if row.form.endswith(",k)") else row for row in family.rows))


def _from_0(row: IccRow) -> IccRow:
    estimate = row.estimate
    parts = (estimate.value, estimate.low, estimate.high)
    if not any(part is not None and part < 0 for part in parts):
        return row
    value, low, high = (None if part is None else max(0.0, part) for part in parts)
    method = f"{estimate.method}, below 0 set to 0" if estimate.method else estimate.method
    return replace(row, estimate=replace(estimate, value=value, low=low, high=high, method=method))


def _impossible(row: IccRow, k: int) -> bool:
    value, high = row.estimate.value, row.estimate.high
    if value is None:
        return False
    if value > 1 + 1e-9:
        return True
    if row.form.endswith(",k)"):
        return high is not None and high < 0
    return value < -1 / (k - 1) - 1e-9


def _undefined(row: IccRow, cause: str, k: int) -> IccRow:
    value = row.estimate.value or 0.0
    low = (
        "a reliability is not below 0" if row.form.endswith(",k)") else f"an ICC of {k} is not below {-1 / (k - 1):.2f}"
    )
    bound = "no ICC is above 1" if value > 1 else low
    reason = f"undefined: the formula gives {value:.2f}, and {bound}; {cause}"
    return replace(row, estimate=Estimate.undefined(reason, n=row.estimate.n))


def _reason(complete: Floats, columns: str) -> str | None:
    n, k = complete.shape
    if k < 2:
        return f"undefined with fewer than 2 {columns}"
    if n < 2:
        return "undefined with fewer than 2 complete stories"
    if float(np.ptp(complete)) < 1e-9:
        return "undefined because all ratings are equal (0/0)"
    return None


def _row(form: str, value: float, ends: tuple[float, float], ms: MeanSquares, confidence: float) -> IccRow:
    n, k = ms.n, ms.k
    one_way = form in ONE_WAY
    error = float(ms.within if one_way else ms.residual)
    df1, df2 = n - 1, n * (k - 1) if one_way else (n - 1) * (k - 1)
    if np.isnan(value):
        why = "undefined because the stories' means are all equal"
        return IccRow(form, Estimate.undefined(why, n=n), df1=df1, df2=df2)
    if error == 0:
        why = "no interval: the repeats of each story leave no error, F is infinite"
        return IccRow(form, Estimate(value=value, n=n, reason=why), df1=df1, df2=df2)
    ratio = float(ms.between) / error
    if not np.isfinite(ends).all() or not ends[0] - 1e-9 <= value <= ends[1] + 1e-9 or ends[1] > 1 + 1e-9:
        estimate = Estimate(value=value, n=n, reason="no interval: F bounds do not exist here")
    else:
        estimate = Estimate(value=value, n=n, low=ends[0], high=ends[1], method=f"F, {100 * confidence:.0f} %")
    return IccRow(form, estimate, f=ratio, df1=df1, df2=df2, p=float(special.fdtrc(df1, df2, ratio)))


def _intervals(ms: MeanSquares, values_by_form: dict[str, float], confidence: float) -> dict[str, tuple[float, float]]:
    """Ends of the F interval of each form; NaN where it does not exist."""
    n, k, upper = ms.n, ms.k, 0.5 + confidence / 2
    out: dict[str, tuple[float, float]] = {}
    with np.errstate(invalid="ignore", divide="ignore"):
        for way, error, df2 in (("1", ms.within, n * (k - 1)), ("3", ms.residual, (n - 1) * (k - 1))):
            ratio = ms.between / error
            low = float(ratio / special.fdtri(n - 1, df2, upper))
            high = float(ratio * special.fdtri(df2, n - 1, upper))
            out[f"ICC({way},1)"] = ((low - 1) / (low + k - 1), (high - 1) / (high + k - 1))
            out[f"ICC({way},k)"] = (1 - np.divide(1, low), 1 - np.divide(1, high))
        low, high = (np.float64(end) for end in _agreement_interval(ms, values_by_form["ICC(2,1)"], upper))
        out["ICC(2,1)"] = (float(low), float(high))
        out["ICC(2,k)"] = (float(low * k / (1 + low * (k - 1))), float(high * k / (1 + high * (k - 1))))
    return out


def _agreement_interval(ms: MeanSquares, icc: float, upper: float) -> tuple[float, float]:
    """F interval of ICC(2,1), with Satterthwaite degrees of freedom (McGraw & Wong 1996, table 7)."""
    n, k = ms.n, ms.k
    # Of numpy, so that in small tables a division by 0 gives no number instead of an error.
    b, j, e = np.float64(ms.between), np.float64(ms.columns), np.float64(ms.residual)
    if e == 0 or np.isnan(icc):
        return float("nan"), float("nan")
    ratio = j / e
    inner = n * (1 + (k - 1) * icc) - k * icc
    numerator = (n - 1) * (k - 1) * (k * icc * ratio + inner) ** 2
    denominator = (n - 1) * k**2 * icc**2 * ratio**2 + inner**2
    v = numerator / denominator
    f_low, f_high = float(special.fdtri(n - 1, v, upper)), float(special.fdtri(v, n - 1, upper))
    spread = k * j + (k * n - k - n) * e
    return n * (b - f_low * e) / (f_low * spread + n * b), n * (f_high * b - e) / (spread + n * f_high * b)
