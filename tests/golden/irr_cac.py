"""AC1, AC2, Fleiss' kappa and Krippendorff's alpha by irrCAC, on the HANNA user study and on random tables.

irrCAC pins scipy 1.12 and pandas below 3, so it needs an environment of its own (Python 3.11):

    python3.11 -m venv V && V/bin/pip install irrCAC==0.4.4
    V/bin/python tests/golden/irr_cac.py FOLDER/hanna/user_study.csv > tests/golden/irr_cac.json

Random tables are drawn here and stored with the results (null = missing). Items with fewer than 2 ratings are taken away
before irrCAC sees them.
"""

import importlib.metadata
import json
import platform
import sys

import numpy as np
import pandas as pd
from irrCAC.raw import CAC

WEIGHTS = ("identity", "linear", "quadratic", "ordinal")


def coefficients(table, weights, categories=None):
    """Every coefficient of one table: value, standard error, ends of the interval, observed and expected agreement."""
    frame = pd.DataFrame(table[(~np.isnan(table)).sum(axis=1) >= 2])
    found = {}
    for name in ("gwet", "fleiss", "krippendorff"):
        if name == "krippendorff" and weights not in ("identity", "quadratic"):
            continue
        cac = CAC(frame.copy(), weights=weights, categories=categories, digits=13)
        est = getattr(cac, name)()["est"]
        low, high = est["confidence_interval"]
        found[name] = {
            "value": float(est["coefficient_value"]),
            "se": float(est["se"]),
            "low": float(low),
            "high": float(high),
            "observed": float(est["pa"]),
            "expected": float(est["pe"]),
        }
    return found


def main(path):
    study = pd.read_csv(path)
    questions = {}
    for column in study.columns[2:]:
        if study[column].nunique() > 1:  # a constant column ends in ZeroDivisionError
            answers = study[column].to_numpy(float)
            table = np.stack([answers[0::3], answers[1::3], answers[2::3]], axis=1)
            questions[column] = coefficients(table, "identity")
    rng = np.random.default_rng(2008)
    tables = []
    for items, raters, points, missing in (
        (30, 3, 2, 0.0), (40, 2, 5, 0.0), (25, 4, 5, 0.3), (60, 6, 3, 0.6), (12, 3, 4, 0.2), (50, 2, 5, 0.15), (5, 3, 3, 0.0)
    ):
        quality = rng.integers(0, points, (items, 1))
        other = rng.integers(0, points, (items, raters))
        table = np.where(rng.random((items, raters)) < 0.6, quality, other) + 1.0
        table[rng.random(table.shape) < missing] = np.nan
        for categories in (None, [*range(1, points + 3)]):
            case = {w: coefficients(table, w, categories) for w in WEIGHTS}
            cells = [[None if np.isnan(x) else x for x in row] for row in table.tolist()]
            tables.append({"ratings": cells, "categories": categories, "coefficients": case})
    program = f"irrCAC {importlib.metadata.version('irrCAC')}, Python {platform.python_version()}"
    command = "python tests/golden/irr_cac.py FOLDER/hanna/user_study.csv"
    json.dump({"program": program, "command": command, "user_study": questions, "tables": tables}, sys.stdout)
    print()


main(sys.argv[1])
