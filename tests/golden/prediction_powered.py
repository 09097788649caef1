"""Prediction-powered means by the authors' package.

    python -m venv V && V/bin/pip install ppi-python==0.2.3
    V/bin/python tests/golden/prediction_powered.py > tests/golden/prediction_powered.json

Inputs are drawn here and stored with the results: people rate some stories 1-5 in thirds, a judge rates all.
"""

import importlib.metadata
import json
import sys

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

rng = np.random.default_rng(20260)
cases = []
for n, more, noise, slope in ((40, 160, 0.5, 1.0), (100, 900, 1.0, 0.3), (25, 60, 2.0, -0.4), (60, 30, 0.2, 2.5)):
    truth = rng.normal(3, 0.8, n + more)
    people = np.clip(np.round(3 * truth[:n]) / 3, 1, 5)
    judge = np.round(slope * truth + 1 + rng.normal(0, noise, n + more), 1)
    case = {"people": people.tolist(), "both": judge[:n].tolist(), "judge_only": judge[n:].tolist()}
    for name, power in (("tuned", None), ("one", 1.0), ("zero", 0.0)):
        low, high = ppi_mean_ci(people, judge[:n], judge[n:], alpha=0.05, lam=power)
        point = ppi_mean_pointestimate(people, judge[:n], judge[n:], lam=power)
        case[name] = [float(np.squeeze(v)) for v in (point, low, high)]
    cases.append(case)
json.dump({"program": f"ppi-python {importlib.metadata.version('ppi-python')}", "cases": cases}, sys.stdout)
print()
