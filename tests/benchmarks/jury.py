"""What a jury of HANNA's released judges reaches, beside its bars. Prints; never asserts.

    JUDGE_DATA=... python -m tests.benchmarks.jury

Four judges under four Eval-Prompts and six criteria (96 columns), ten systems (960 stories); Kendall's tau-b x100 with
the mean of people's ratings, mean of five foldings by story-prompt, everything fitted and chosen inside folds.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from judge.analysis.jury.jury import jury
from judge.analysis.jury.result import CONTROL, IN_SAMPLE, JURY, MEAN, SINGLE
from judge.analysis.options.table_options import JuryOptions
from judge.exchange.imported_folder import write_folder
from judge.exchange.released import read_scores
from judge.ratings.ratings_table import RatingsTable, read
from tests.packaged_data.surface_model import HANNA_FEATURES

CRITERIA = {"Relevance": "RE", "Coherence": "CH", "Empathy": "EM", "Surprise": "SU", "Engagement": "EG"}
CRITERIA |= {"Complexity": "CX"}
MEMBERS = ("Beluga-13B", "Llama-13B", "Mistral-7B", "ChatGPT")
BARS = dict(zip(CRITERIA, (27, 31, 29, 23, 31, 37), strict=True))
BARS_WITH_FEATURES = dict(zip(CRITERIA, (29, 33, 29, 25, 34, 41), strict=True))
ROWS = {
    JURY: "jury",
    MEAN: "plain mean",
    SINGLE: "best single, in training",
    IN_SAMPLE: "best single, in sample",
    CONTROL: "control",
}


def released(scores: Path, folder: Path, *, keep_out_of_scale: bool) -> RatingsTable:
    """The released score file as a table, with the eight features that the control's shipped HANNA models read."""
    write_folder(folder, read_scores(scores, keep_out_of_scale=keep_out_of_scale))
    table = read([folder])
    others = [name for name in table.stories.columns[4:] if name not in HANNA_FEATURES]
    return replace(table, stories=table.stories.drop(columns=others))


def taus(table: RatingsTable, options: JuryOptions) -> dict[str, dict[str, float]]:
    """Kind of row -> criterion -> tau-b x100, mean over foldings."""
    (held,) = jury(table, options).held
    return {kind: {v.criterion: 100 * (v.row(kind).tau.value or float("nan")) for v in held.verdicts} for kind in ROWS}


def show(title: str, found: Mapping[str, Mapping[str, float]], bars: Mapping[str, int] | None) -> None:
    """One table: rows beside each other, criteria across, and whether the jury reaches its bars."""
    print(f"\n{title}")
    print(f"{'':30}" + "".join(f"{short:>7}" for short in CRITERIA.values()))
    for kind, label in ROWS.items():
        print(f"{label:30}" + "".join(f"{found[kind][name]:7.2f}" for name in CRITERIA))
    if bars is not None:
        print(f"{'bar of the jury':30}" + "".join(f"{bars[name]:7}" for name in CRITERIA))
        met = ["met" if found[JURY][name] >= bars[name] else "MISSED" for name in CRITERIA]
        print(f"{'':30}" + "".join(f"{verdict:>7}" for verdict in met))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scores", type=Path, help="hanna_metric_scores_llm.csv; default: under JUDGE_DATA")
    parser.add_argument("--combiner", default="auto")
    parser.add_argument("--foldings", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1, help="of the first folding; the bars are for any seed")
    given = parser.parse_args()
    scores = given.scores or Path(os.environ["JUDGE_DATA"]) / "hanna" / "hanna_metric_scores_llm.csv"
    options = JuryOptions(
        combiner=given.combiner,
        foldings=given.foldings,
        seed=given.seed,
        members=MEMBERS,
        drop_systems=("Human",),
        ci="none",
    )
    with tempfile.TemporaryDirectory() as folder:
        for keep, what in ((True, "as released"), (False, "ratings off the scale left out")):
            table = released(scores, Path(folder) / str(keep), keep_out_of_scale=keep)
            for features in (False, True):
                bars = (BARS_WITH_FEATURES if features else BARS) if keep else None
                start = time.perf_counter()
                found = taus(table, replace(options, with_features=features))
                more = " + 8 surface features" if features else ""
                took = f"{given.foldings} foldings from seed {given.seed}, {time.perf_counter() - start:.0f} s"
                show(f"{given.combiner}: 4 judges x 4 Eval-Prompts{more}, {what}; {took}", found, bars)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
