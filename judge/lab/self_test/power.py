"""Power and false-alarm rate of each diagnostic on simulated judges with known faults."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import orjson

from judge.base.printing.tables import Column, Table
from judge.lab.self_test.simulate import FAULTS, HONEST, OWN, PROMPTS, RATERS, REPEATS, SYSTEMS, write_folder
from judge.version import __version__

ALPHA, POWER = 0.05, 0.9
SEEDS = 1000
FAMILY = 0.01
"""How often some diagnostic may fail by luck where all find their fault in `POWER` and a false one in `ALPHA`."""

Found = dict[tuple[str, str], tuple[int, int]]
"""(judge, diagnostic) -> tests that exist, tests with p < alpha, in one simulated study."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of one diagnostic over all simulated studies.

    Attributes
    ----------
    diagnostic, judge, fault : str
        The diagnostic, the simulated judge with the fault that it must find, and the size of the fault.
    tests : int
        Number of tests on that judge.
    power : float
        Share of these tests that find the fault.
    false_alarms : float
        Share of significant tests on the honest judge, a simulated judge without faults.
    least, limit : float
        Lowest `power` and highest `false_alarms` with which the diagnostic passes.
    """

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
        """Whether the diagnostic passes: its power is at least `least`, and its false-alarm rate at most `limit`."""
        return self.power >= self.least and self.false_alarms <= self.limit


def limits(studies: int, checks: int) -> tuple[float, float]:
    """Lowest power and highest false-alarm rate with which a diagnostic passes the self-test.

    They allow for chance: a diagnostic is sound if its true power is .9 and its true false-alarm rate .05. The limits
    are binomial quantiles for this number of studies, at the level `FAMILY` / `checks`, where `checks` is the number of
    rates that are compared with a limit (Bonferroni). With sound diagnostics, a self-test therefore fails with a
    probability of at most `FAMILY` = .01. A study has one test, or one per criterion. Counting one test per study is
    conservative, since a mean over criteria varies no more than a single test.
    """
    from scipy.stats import binom

    tail = FAMILY / checks
    return float(binom.ppf(tail, studies, POWER)) / studies, float(binom.isf(tail, studies, ALPHA)) / studies


def measure(
    seeds: int = SEEDS, *, first_seed: int, workers: int = 1, done: Callable[[int], None] | None = None
) -> list[Outcome]:
    """Power and false-alarm rate of each diagnostic on `seeds` simulated studies, each analysed with `judge diagnose`.

    Power is the share of tests (criteria x studies) that find the fault of a faulty judge. False alarms are counted on
    the honest judge, which has no fault. The limits of both rates hold for all diagnostics together (see `limits`).
    `first_seed` is the seed of the first study, and `workers` the number of processes. `done` is called with the number
    of studies finished.
    """
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
    """Printed table of each diagnostic's power and false-alarm rate on simulated studies, with their limits."""
    columns = [
        Column("diagnostic", "diagnostic"),
        Column("fault", "planted fault"),
        Column("power", "found %", digits=1, factor=100),
        Column("least", "at least %", digits=1, factor=100),
        Column("false_alarms", "false alarms %", digits=1, factor=100),
        Column("limit", "at most %", digits=1, factor=100),
        Column("tests", "tests"),
        Column("state", "state"),
    ]
    rows = [
        {
            "diagnostic": outcome.diagnostic,
            "fault": outcome.fault,
            "power": outcome.power,
            "least": outcome.least,
            "false_alarms": outcome.false_alarms,
            "limit": outcome.limit,
            "tests": outcome.tests,
            "state": "ok" if outcome.passed else "failed",
        }
        for outcome in outcomes
    ]
    stories = PROMPTS * SYSTEMS
    notes = (
        (
            f"{seeds} simulated studies of {stories} stories ({SYSTEMS} systems x {PROMPTS} story-prompts), {RATERS} "
            f"raters, {REPEATS} repeats, each by the steps of judge diagnose; alpha {ALPHA:g}"
        ),
        (
            f"at least, at most: if every diagnostic finds its fault in {100 * POWER:.0f} % and a false one in an "
            f"honest judge in {100 * ALPHA:g} %, all {2 * len(outcomes)} limits are kept in {100 * (1 - FAMILY):g} % "
            "of such self-tests (binomial, Bonferroni)"
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
    """Counts of one simulated study: for each (judge, diagnostic), the number of tests and of significant tests.

    The steps are those of `judge diagnose`: read the simulated result folder, compute the tables, and print them as
    JSON.
    """
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
