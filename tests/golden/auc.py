"""Areas under ROC curves with DeLong's variance by another program.

    python -m venv V && V/bin/pip install confidenceinterval==1.0.5
    V/bin/python tests/golden/auc.py > tests/golden/auc.json

Inputs are drawn here and stored with the results: ratings with many ties, and without.
"""

import importlib.metadata
import json
import sys

import numpy as np
from confidenceinterval.delong import delong_roc_variance

rng = np.random.default_rng(7)
cases = []
for m, k, digits in ((30, 50, 0), (12, 200, 1), (8, 9, 6)):
    rating = np.round(np.concatenate([rng.normal(3.4, 1, m), rng.normal(2.9, 1.2, k)]), digits)
    label = np.arange(m + k) < m
    area, variance = delong_roc_variance(label.astype(int), rating)
    cases.append({"rating": rating.tolist(), "positives": m, "auc": float(area), "variance": float(variance)})
json.dump({"program": f"confidenceinterval {importlib.metadata.version('confidenceinterval')}", "cases": cases}, sys.stdout)
print()
