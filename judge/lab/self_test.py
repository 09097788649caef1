"""Self-test of the diagnostics on simulated judges with known faults, with the same steps as `judge diagnose`."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.base.records import Criterion
from judge.ratings.ratings_table import COLUMNS
from judge.version import __version__

# Power and false-alarm rate of each diagnostic on simulated judges with known faults.

# Simulates judges with known faults on stories of known quality, and writes them as a result folder.

Floats = NDArray[np.float64]

CRITERIA = ("Coherence", "Engagement", "Surprise")
PROMPTS, SYSTEMS, RATERS, REPEATS = 50, 10, 3, 3
# The system that stands for the judges' own.
OWN = "house-writer"

HONEST = "honest"
# Standard deviation of one person's, and of one repeat's, error, in points.
ERROR = 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Stories:
    """Simulated stories: true `quality` in points, (criteria, stories), and `length`, log in standard deviations."""

    quality: Floats
    length: Floats
    system: NDArray[np.int64]
    story_prompt: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a simulated judge, of a `size` in words; `diagnostic` must find it ("" = honest judge). `think`
    changes opinions before they become ratings, `say` changes the ratings; None = no change."""

    diagnostic: str
    size: str
    think: Callable[[Floats, Stories, np.random.Generator], Floats] | None = None
    say: Callable[[Floats, Stories, np.random.Generator], Floats] | None = None


def _halo(opinion: Floats, stories: Stories, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    overall = opinion.mean(axis=0, keepdims=True)
    return np.asarray(overall + 0.4 * (opinion - overall), dtype=np.float64)


def _lose(ratings: Floats, stories: Stories, rng: np.random.Generator) -> Floats:
    chance = 0.1 * np.exp(0.6 * (stories.quality - 3.0))[..., None]
    return np.asarray(np.where(rng.random(ratings.shape) < chance, np.nan, ratings), dtype=np.float64)


# An honest judge loses ratings too, whatever the story.
_NO_FAULT = Fault("", "", say=lambda r, _, rng: np.where(rng.random(r.shape) < 0.1, np.nan, r))

# Judge -> its fault.
FAULTS: dict[str, Fault] = {
    "lenient": Fault("leniency", "+0.2 points", think=lambda o, _, __: o + 0.2),
    "lengthy": Fault(
        "length", "+0.3 points per sd of log length", think=lambda o, stories, _: o + 0.3 * stories.length
    ),
    "compressed": Fault("compression", "differences x 0.6", think=lambda o, _, __: 3.0 + 0.6 * (o - 3.0)),
    "stuck": Fault(
        "stuck",
        "15 % of ratings are 4 whatever the story",
        say=lambda r, _, rng: np.where(rng.random(r.shape) < 0.15, 4.0, r),
    ),
    "haloed": Fault("halo", "60 % of what sets criteria apart is lost", think=_halo),
    "partial": Fault(
        "self-preference",
        "+0.5 points for its own system",
        think=lambda o, stories, _: o + 0.5 * (stories.system == 0),
    ),
    "dropping": Fault("loss", "10 % lost, 1.8 times as likely for each point of quality", say=_lose),
}


def write_folder(folder: Path, seed: int) -> None:
    """Write one simulated study as a result folder of imported ratings. It has ratings of people, of an honest judge,
    and of judges with one known fault each."""
    rng = np.random.default_rng(seed)
    stories = _stories(rng)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        writer.writerows(_people(stories, rng))
        for name, fault in {HONEST: _NO_FAULT, **FAULTS}.items():
            writer.writerows(_judge(name, fault, stories, rng))
    words = np.round(np.exp(5.0 + 0.5 * stories.length)).astype(int)
    with (folder / "imported_stories.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["dataset", "story", "words"])
        writer.writerows(["simulated", f"s{i}", int(count)] for i, count in enumerate(words))
    records = [Criterion(name, name[:2].upper(), "").record() for name in CRITERIA]
    (folder / "manifest.json").write_bytes(orjson.dumps({"criteria": records, "notes": [f"simulated, seed {seed}"]}))


def _stories(rng: np.random.Generator) -> Stories:
    n = PROMPTS * SYSTEMS
    system, story_prompt = np.repeat(np.arange(SYSTEMS), PROMPTS), np.tile(np.arange(PROMPTS), SYSTEMS)
    # Criteria have a part of their quality in common, longer stories are better, and systems differ in quality.
    length = rng.standard_normal(n)
    middle = (SYSTEMS - 1) / 2
    shared = 0.5 * rng.standard_normal(n) + 0.3 * length + 0.4 * (system - middle) / middle
    shared = shared + 0.3 * rng.standard_normal(PROMPTS)[story_prompt]
    quality = 3.0 + shared + 0.5 * rng.standard_normal((len(CRITERIA), n))
    return Stories(quality, length, system, story_prompt)


def _people(stories: Stories, rng: np.random.Generator) -> list[list[Any]]:
    ratings = _rounded(stories.quality[..., None] + ERROR * rng.standard_normal((*stories.quality.shape, RATERS)))
    return [
        [*_place(stories, i, None, c), None, "rater", f"w{r}", None, ratings[c, i, r], "ok", "", None]
        for c in range(len(CRITERIA))
        for i in range(ratings.shape[1])
        for r in range(RATERS)
    ]


def _judge(name: str, fault: Fault, stories: Stories, rng: np.random.Generator) -> list[list[Any]]:
    opinion = stories.quality
    if fault.think is not None:
        opinion = fault.think(opinion, stories, rng)
    ratings = _rounded(opinion[..., None] + ERROR * rng.standard_normal((*opinion.shape, REPEATS)))
    if fault.say is not None:
        ratings = fault.say(ratings, stories, rng)
    rows = []
    for c in range(len(CRITERIA)):
        for i in range(ratings.shape[1]):
            for r in range(REPEATS):
                value = ratings[c, i, r]
                end = [None, "no_rating"] if np.isnan(value) else [value, "ok"]
                rows.append([*_place(stories, i, f"simulated/{name}", c), "ep1", "judge", None, r, *end, "", None])
    return rows


def _place(stories: Stories, i: int, judge: str | None, criterion: int) -> list[Any]:
    """First values of a row, from dataset to criterion; `judge` is None for a human rating."""
    system = OWN if stories.system[i] == 0 else f"writer {stories.system[i]}"
    prompt = f"prompt {stories.story_prompt[i]}"
    return ["simulated", judge, "simulated", f"s{i}", prompt, system, CRITERIA[criterion]]


def _rounded(values: Floats) -> Floats:
    return np.asarray(np.clip(np.round(values), 1, 5), dtype=np.float64)


ALPHA, POWER = 0.05, 0.9
SEEDS = 1000
# How often some diagnostic may fail by luck where all find their fault in `POWER` and a false one in `ALPHA`.
FAMILY = 0.01

# (judge, diagnostic) -> tests that exist, tests with p < alpha, in one simulated study.
Found = dict[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one diagnostic over all studies, on the judge with the `fault` that it must find. `power` is the share
    of its `tests` that find the fault; `false_alarms` the share of significant ones on the honest judge. The diagnostic
    passes with at least `least` and at most `limit`."""

    diagnostic: str
    judge: str
    fault: str
    tests: int
    power: float
    false_alarms: float
    least: float
    limit: float

    @property
    def passed(self) -> bool:
        return self.power >= self.least and self.false_alarms <= self.limit


def limits(studies: int, checks: int) -> tuple[float, float]:
    """Lowest power and highest false-alarm rate with which a diagnostic passes the self-test.

    They allow for chance: a diagnostic is sound if its true power is .9 and its true false-alarm rate .05. The limits
    are binomial quantiles for this number of studies, at the level `FAMILY` / `checks`, where `checks` is the number of
    rates that are compared with a limit (Bonferroni). With sound diagnostics, a self-test therefore fails with a
    probability of at most `FAMILY` = .01. Counting one test per study is conservative, since a mean over criteria
    varies no more than a single test."""
    from scipy.stats import binom

    tail = FAMILY / checks
    return float(binom.ppf(tail, studies, POWER)) / studies, float(binom.isf(tail, studies, ALPHA)) / studies


def measure(
    seeds: int = SEEDS, *, first_seed: int, workers: int = 1, done: Callable[[int], None] | None = None
) -> list[Outcome]:
    """Power and false-alarm rate of each diagnostic on `seeds` studies, each analysed with `judge diagnose`. Power is
    the share of tests (criteria x studies) that find the fault. The limits hold for all diagnostics together (see
    `limits`). `workers` are processes. `done` is called with the number of studies finished."""
    total: dict[tuple[str, str], list[int]] = {}
    for turn, hits_of_study in enumerate(_studies(range(first_seed, first_seed + seeds), workers)):
        for key, (tests, hits) in hits_of_study.items():
            counts = total.setdefault(key, [0, 0])
            counts[0] += tests
            counts[1] += hits
        if done is not None:
            done(turn + 1)
    outcomes, checks = [], 2 * len(FAULTS)
    for judge, fault in FAULTS.items():
        tests, hits = total[judge, fault.diagnostic]
        honest, alarms = total[HONEST, fault.diagnostic]
        least, _ = limits(min(seeds, tests), checks)
        _, limit = limits(min(seeds, honest), checks)
        outcome = Outcome(fault.diagnostic, judge, fault.size, tests, hits / tests, alarms / honest, least, limit)
        outcomes.append(outcome)
    return outcomes


def table(outcomes: list[Outcome], seeds: int, first_seed: int) -> Table:
    """Each diagnostic's power and false-alarm rate with their limits."""
    columns = [
        Column("diagnostic", "diagnostic"),
        Column("fault", "planted fault"),
        Column("power", "found %", digits=1, factor=100),
        Column("least", "at least %", digits=1, factor=100),
        Column("false_alarms", "false alarms %", digits=1, factor=100),
        Column("limit", "at most %", digits=1, factor=100),
        *plain("tests", "state"),
    ]
    names = ("diagnostic", "fault", "power", "least", "false_alarms", "limit", "tests")
    rows = [cells_of(outcome, *names, state="ok" if outcome.passed else "failed") for outcome in outcomes]
    stories = PROMPTS * SYSTEMS
    notes = (
        (
            f"{seeds} simulated studies of {stories} stories ({SYSTEMS} systems x {PROMPTS} story-prompts), {RATERS} "
            f"raters, {REPEATS} repeats, each by the steps of judge diagnose; alpha {ALPHA:g}"
        ),
        (
            f"at least, at most: if every diagnostic finds its fault in {100 * POWER:.0f} % and a false one in an "
            f"honest judge in {100 * ALPHA:g} %; then all {2 * len(outcomes)} limits are kept in "
            f"{100 * (1 - FAMILY):g} % of such self-tests (binomial, Bonferroni)"
        ),
    )
    line = f"self-test|studies:{seeds}|seeds:{first_seed}-{first_seed + seeds - 1}|alpha:{ALPHA:g}|v{__version__}"
    return Table("Self-test: power and false alarms of the diagnostics", columns, rows, line, notes)


def _studies(seeds: range, workers: int) -> Iterator[Found]:
    if workers < 2:
        yield from map(study, seeds)
        return
    # Spawned, not forked: numerical libraries keep threads that do not survive a fork.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(study, seeds, chunksize=5)


def study(seed: int) -> Found:
    """Numbers of tests and of significant tests in one simulated study, by (judge, diagnostic). The steps are those of
    `judge diagnose`: read the result folder, compute the tables, and print them as JSON."""
    with tempfile.TemporaryDirectory(prefix="judge-self-test-") as directory:
        folder = Path(directory) / "study"
        write_folder(folder, seed)
        rows = _diagnosed(folder, Path(directory) / "found.json")
    hits_by_key: Found = {}
    for row in rows:
        if row["p"] is not None:
            key = (str(row["judge"]).removeprefix("simulated/"), str(row["diagnostic"]))
            tests, hits = hits_by_key.get(key, (0, 0))
            hits_by_key[key] = (tests + 1, hits + (row["p"] < ALPHA))
    return hits_by_key


def _diagnosed(folder: Path, output: Path) -> list[dict[str, Any]]:
    from judge.analysis.diagnose import diagnose, tables
    from judge.analysis.options.table_options import DiagnoseOptions
    from judge.base.printing.output import emit
    from judge.ratings.ratings_table import read

    diagnosis = diagnose(read([folder]), DiagnoseOptions(own=(OWN,), alpha=ALPHA))
    emit(tables(diagnosis, full=True), "json", output)
    return list(orjson.loads(output.read_bytes())["rows"])


__all__ = ["SEEDS", "Outcome", "measure", "table"]
