"""acc_eq with tie calibration, and soft pairwise accuracy, by Google's own program.

    git clone https://github.com/google-research/mt-metrics-eval CHECKOUT      (0b82d96; pce.py: 1b47eab)
    python tests/golden/mt_metrics_eval.py CHECKOUT/mt_metrics_eval HANNA_SCORE_FILE > tests/golden/mt_metrics_eval.json

Data: the released HANNA score file, ten machine systems, 96 story-prompts; people's means against Beluga-13B and
ChatGPT, Eval-Prompt 1, and, so that people tie enough for an epsilon above 0, people's means in steps of 2 against
Beluga-13B. Judges' scores are in sixtieths of a point, whole numbers: the program compares floats exactly.
"""

import csv
import json
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import pce
import tau_optimization

csv.field_size_limit(sys.maxsize)
with open(sys.argv[2], encoding="utf-8", newline="") as stream:
    rows = [row for row in csv.DictReader(stream) if row["Model"] != "Human"]
names = {"RE": "Relevance", "CX": "Complexity"}
out = {"program": "mt-metrics-eval 0b82d96 tau_optimization.py, 1b47eab pce.py, numpy " + np.__version__, "cells": []}
for judge, step in (("Beluga-13B", None), ("ChatGPT", None), ("Beluga-13B", 2)):
    for short, name in names.items():
        people = np.round([json.loads(row[name]) for row in rows], 9)
        people = people if step is None else np.round(people / step)
        scores = np.round(60 * np.array([json.loads(row[f"{judge} {short} 1"]) for row in rows]))
        acc = tau_optimization.TauSufficientStats.acc_23
        item = tau_optimization.tau_optimization(scores.T, people.T, acc)
        overall = tau_optimization.tau_optimization(scores.ravel(), people.ravel(), acc)
        p = [pce.compute_pairwise_p_values(side, num_permutations=20000) for side in (people, scores)]
        out["cells"].append(
            {
                "judge": judge,
                "criterion": name,
                "people_in_steps_of": step,
                "by_item": {"plain": item.taus[0], "acc": item.best_tau, "epsilon": float(item.best_threshold)},
                "overall": {"plain": overall.taus[0], "acc": overall.best_tau, "epsilon": float(overall.best_threshold)},
                "spa": float(pce.compute_one_minus_pce(*p)),
            }
        )
json.dump(out, sys.stdout, indent=1)
print()
