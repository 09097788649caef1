"""Krippendorff's alpha at four levels by the package krippendorff, on the HANNA user study and on random tables.

    python -m venv V && V/bin/pip install krippendorff==0.9.0
    V/bin/python tests/golden/krippendorff_alpha.py FOLDER/hanna/user_study.csv > tests/golden/krippendorff_alpha.json

Random tables are drawn here and stored with the results (null = missing).
"""

import csv
import importlib.metadata
import json
import platform
import sys
from pathlib import Path

import krippendorff
import numpy as np

LEVELS = ("nominal", "ordinal", "interval", "ratio")


def alphas(table, levels=LEVELS):
    """Alpha at each level of a table (items, raters)."""
    return {level: float(krippendorff.alpha(table.T, level_of_measurement=level)) for level in levels}


def main(path):
    with Path(path).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    questions = {}
    for column in list(rows[0])[2:]:
        answers = np.array([float(row[column]) for row in rows])
        if np.ptp(answers) > 0:  # a constant column ends in ValueError
            questions[column] = alphas(np.stack([answers[0::3], answers[1::3], answers[2::3]], axis=1))
    rng = np.random.default_rng(2011)
    tables = []
    for items, raters, values, missing in (
        (30, 3, [0, 1], 0.0), (25, 4, [1, 2, 3, 4, 5], 0.3), (60, 6, [1, 2, 5], 0.6), (8, 2, [0, 0.5, 1, 4], 0.0),
        (40, 3, None, 0.1), (10, 3, [-2, -1, 3], 0.2)
    ):
        scale = rng.normal(size=200).round(2) + 4 if values is None else np.array(values)
        table = np.where(rng.random((items, raters)) < 0.5, rng.choice(scale, (items, 1)), rng.choice(scale, (items, raters)))
        table = table.astype(float)
        table[rng.random(table.shape) < missing] = np.nan
        cells = [[None if np.isnan(x) else x for x in row] for row in table.tolist()]
        tables.append({"ratings": cells, "alpha": alphas(table, LEVELS if scale.min() >= 0 else LEVELS[:3])})
    program = f"krippendorff {importlib.metadata.version('krippendorff')}, Python {platform.python_version()}"
    command = "python tests/golden/krippendorff_alpha.py FOLDER/hanna/user_study.csv"
    json.dump({"program": program, "command": command, "user_study": questions, "tables": tables}, sys.stdout)
    print()


main(sys.argv[1])
