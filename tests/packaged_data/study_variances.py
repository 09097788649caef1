"""Writes `judge/analysis/planning/study_variances.json` from the studies' released files. Never runs while planning.

    python -m tests.packaged_data.study_variances --data FOLDER

FOLDER holds `hanna/hanna_metric_scores_llm.csv`; MANS is found as the program finds it (JUDGE_DATA). Of HANNA there
are figures for each judge and criterion, over its four Eval-Prompts and without the Human system; of MANS, where no
judge's ratings are released, those of the control, out of fold.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import by_criterion, comparable, match
from judge.analysis.inputs.control import control_predictions
from judge.analysis.inputs.rating_sources import ratings_of
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.agreement_options import PlanOptions
from judge.analysis.options.selection import Selection
from judge.analysis.planning.figures import FILE, Figures, figures_of, plain
from judge.base.files import package_file
from judge.exchange.imported_folder import write_folder
from judge.exchange.released import read_scores
from judge.inputs.datasets import open_dataset
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import read
from judge.stats.estimation.sample_size import RANGE

OPTIONS = PlanOptions(positions=True)
HUMAN = "Human"
DIGITS = 3


def hanna(folder: Path) -> Iterator[Figures]:
    """Each judge of an imported score file, over its Eval-Prompts."""
    table = read([folder], parser="ours", explanations=False)
    for judge in table.frame["judge"].dropna().unique():
        own = narrowed(table, Selection.of(None, [judge], None, people=(), pass_rate=False, panel=None))
        (matrix,) = build(own, drop_systems=(HUMAN,))
        found, _ = comparable([matrix], None, None)
        for name in dict.fromkeys(one.subject.criterion for _, one in found):
            cells = [one for _, one in found if one.subject.criterion == name]
            yield figures_of(matrix, name, cells, frozenset(), OPTIONS)


def control(name: str) -> Iterator[Figures]:
    """The control on a dataset of people's ratings alone."""
    (matrix,) = build(ratings_of(open_dataset(name)))
    for group in by_criterion(matrix, match(matrix), control_predictions, Remarks()):
        assert group.control is not None
        yield figures_of(matrix, matrix.criteria[group.criterion], [group.control], frozenset(), OPTIONS)


def ranges(figures: Sequence[dict[str, Any]]) -> dict[str, list[float]]:
    """10, 50 and 90 % of each single figure over judges and criteria."""
    out = {}
    for key in ("tau", "spread", "difference", "icc"):
        known = [one[key] for one in figures if one[key] is not None]
        if known:
            values = np.quantile(known, [RANGE[0], 0.5, RANGE[1]])
            out[key] = [round(float(value), DIGITS) for value in values]
    return out


def entry(words: str, source: str, notes: Sequence[str], figures: Iterator[Figures]) -> dict[str, Any]:
    """One study as it is written."""
    found = [plain(one) for one in figures]
    return {"words": words, "source": source, "notes": list(notes), "ranges": ranges(found), "figures": found}


def studies(data: Path, place: Path) -> dict[str, Any]:
    """Everything, with `place` for the imported score file."""
    write_folder(place, read_scores(data / "hanna" / "hanna_metric_scores_llm.csv", None))
    made = {
        "hanna": entry(
            "the variances of the HANNA study",
            "own computation from the released score file of the HANNA benchmark: 10 systems x 96 story-prompts, three "
            "ratings by people, five judges with four Eval-Prompts each",
            [
                "HANNA's ratings by judges are means of three repeats: of single repeats these figures tell nothing",
                "HANNA's people are positions, not known persons: what they say of replacing one is rough",
            ],
            hanna(place),
        )
    }
    for name, texts in (("mans_roc", "ROC stories"), ("mans_wp", "WritingPrompts stories")):
        made[name] = entry(
            f"the variances of OpenMEVA's MANS ({texts})",
            f"own computation from OpenMEVA's MANS ({texts}): 5 systems x 200 story-prompts, five ratings by people, "
            "and the control out of fold, as no judge's ratings are released",
            ["a control's tau scatters as a judge's; MANS tells nothing of judges' repeats and Eval-Prompts"],
            control(name),
        )
    return made


def text(made: dict[str, Any]) -> str:
    """The file: one line a judge and criterion, so that people can read it."""
    parts = []
    for name, study in made.items():
        head = {key: value for key, value in study.items() if key != "figures"}
        lines = ",\n".join(f"   {json.dumps(one)}" for one in study["figures"])
        parts.append(f' "{name}": {json.dumps(head, indent=1, ensure_ascii=False)[:-2]},\n "figures": [\n{lines}\n ]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    folder = parser.parse_args().data
    with tempfile.TemporaryDirectory() as scratch:
        package_file(*FILE).write_text(text(studies(folder, Path(scratch) / "hanna")), encoding="utf-8")
