"""The alternative annotator test by its authors' notebook.

    git clone https://github.com/nitaytech/AltTest CHECKOUT                     (13eada2)
    save the cells of CHECKOUT/alt_test_example.ipynb that define alt_test as FOLDER/alt.py, and let it return, after
    winning_rate and advantage_prob, p_values and advantage_probs too
    python tests/golden/alternative_annotator.py FOLDER HANNA_SCORE_FILE > tests/golden/alternative_annotator.json

Data: the released HANNA score file, ten machine systems, the three
positions standing in for persons; judges at Eval-Prompt 1. `sparse` leaves out position (story number mod 3) of every
story, so that each story has two. Ratings are rounded to 9 decimals.
"""

import csv
import json
import sys

import numpy as np
import scipy

sys.path.insert(0, sys.argv[1])
from alt import alt_test

csv.field_size_limit(sys.maxsize)
with open(sys.argv[2], encoding="utf-8", newline="") as stream:
    rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
out = {"program": f"AltTest 13eada2 alt_test_example.ipynb, scipy {scipy.__version__}", "cells": []}
for judge, short, epsilon, measure, sparse in (
    ("Beluga-13B", "RE", 0.0, "neg_rmse", False),
    ("ChatGPT", "SU", 0.1, "neg_rmse", False),
    ("Llama-13B", "EM", 0.2, "neg_rmse", True),
    ("Mistral-7B", "CH", 0.1, "accuracy", True),
):
    scores = np.round(np.concatenate([json.loads(row[f"{judge} {short} 1"]) for row in rows]), 9)
    if measure == "accuracy":
        scores = np.round(scores)
    people = {}
    for i in (1, 2, 3):
        given = np.concatenate([json.loads(row[f"Human {i} {short}"]) for row in rows])
        people[i] = {k: float(v) for k, v in enumerate(given) if not (sparse and k % 3 == i - 1)}
    rate, rho, p, advantages = alt_test(dict(enumerate(scores.tolist())), people, measure, epsilon)
    cell = {"judge": judge, "criterion": short, "epsilon": epsilon, "measure": measure, "sparse": sparse}
    out["cells"].append(cell | {"rate": rate, "rho": rho, "p": [float(v) for v in p], "advantages": advantages})
json.dump(out, sys.stdout, indent=1)
print()
