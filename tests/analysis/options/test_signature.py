"""No option can be added without standing in the signature or in the list of exemptions."""

from __future__ import annotations

import dataclasses

from judge.analysis.options import signature as module
from judge.analysis.options.agreement_options import (
    AccuracyOptions,
    ConfusionOptions,
    DriftOptions,
    LabelOptions,
    PlanOptions,
    ReplacementOptions,
    SuccessionOptions,
)
from judge.analysis.options.table_options import (
    AspectsOptions,
    CompareOptions,
    ComponentsOptions,
    ConsistencyOptions,
    CorrelationOptions,
    CoverageOptions,
    CriteriaOptions,
    DiagnoseOptions,
    DisagreementsOptions,
    DistributionOptions,
    JuryOptions,
    RankOptions,
    StressOptions,
    SystemsOptions,
)
from judge.ratings.rating_matrix import build

OPTIONS = (
    CoverageOptions,
    ConsistencyOptions,
    DiagnoseOptions,
    ComponentsOptions,
    CorrelationOptions,
    SystemsOptions,
    CriteriaOptions,
    AspectsOptions,
    RankOptions,
    DisagreementsOptions,
    DistributionOptions,
    JuryOptions,
    CompareOptions,
    StressOptions,
)
# Another value for each option. A new option needs one here, and then must change the signature or be exempt.
OTHER = {
    "coefficient": "spearman",
    "level": "system",
    "drop_systems": ("system 1",),
    "readings": "single",
    "against": "Relevance",
    "ci": "none",
    "resamples": 77,
    "seed": 99,
    "control": False,
    "engine": "pingouin",
    "target": 0.9,
    "given": "length",
    "interval_kind": "bca",
    "own": ("system 1",),
    "no_own": True,
    "alpha": 0.01,
    "mean_interval": "as-published",
    "holm_over": "table",
    "between": "repeats",
    "top": 3,
    "combiner": "mean",
    "members": ("openai/m",),
    "min_members": 2,
    "all_criteria": False,
    "with_features": True,
    "calibrate": "isotonic",
    "predict": 0.9,
    "carry_over": 0.25,
    "hold_out": "system",
    "folds": 3,
    "foldings": 2,
    "by": "judge",
    "baseline": "ep1",
    "adjust": "holm",
    "family": "all prompts",
    "swap": "systems",
    "permutations": 77,
    "ties": "half",
    "bootstraps": 77,
    "margin": 0.5,
    "as_published": True,
}
OPTIONS += (AccuracyOptions, ConfusionOptions, LabelOptions, DriftOptions, ReplacementOptions)
OTHER |= {
    "folds": 7,
    "flips": 77,
    "labels": "Relevance > 4",
    "errors": ("Relevance < 2",),
    "equivalence": 0.25,
    "window": 50,
    "stride": 5,
    "epsilon": 0.2,
    "measure": "exact",
    "positions": True,
    "rated": 20,
}
REQUIRED = {LabelOptions: {"labels": "Relevance > 3"}}
OTHER |= {
    "half_width": 0.1,
    "difference": 0.1,
    "reliability": 0.9,
    "power": 0.9,
    "prompts": 2,
    "repeats": 4,
    "rater_price": 0.25,
    "like": "mans_wp",
    "margin": 0.1,
    "points": 0.5,
    "cut": 3.0,
    "changes": 4,
    "old_judge": "openai/old",
    "new_judge": "openai/new",
}
OWN = {(AccuracyOptions, "level"): "by-item", (AccuracyOptions, "ci"): "none"}
FIELDS = [
    (kind, field.name) for kind in (*OPTIONS, PlanOptions, SuccessionOptions) for field in dataclasses.fields(kind)
]


def test_every_option_moves_the_signature_or_is_exempt(make_table) -> None:
    table = make_table(systems=3, prompts=3)
    matrices = build(table)  # the same stories for all, so that only the options differ
    for kind, name in FIELDS:
        of = f"{kind.__name__}.{name}"
        assert name in OTHER, f"{of} is new: give it another value here, and a place in the signature"
        default = kind(**REQUIRED.get(kind, {}))
        changed = dataclasses.replace(default, **{name: OWN.get((kind, name), OTHER[name])})
        assert getattr(changed, name) != getattr(default, name), of
        differs = module.signature(table, matrices, default) != module.signature(table, matrices, changed)
        assert differs != (name in module.EXEMPT), of


def test_the_line_names_every_choice(make_table) -> None:
    table = make_table(lost=lambda s, p, r: "refused" if (s, p, r) == (0, 0, 0) else None)
    options = CorrelationOptions(level="system", drop_systems=("system 3",))
    line = module.signature(table, build(table, drop_systems=options.drop_systems), options)
    start = "toy:36|crit:RE|ep:ep1|judge:openai/m@abc|rep:3|parser:ours/4|tau:b|level:system|drop:system 3|"
    assert line.startswith(start + "true-means|ci:boot-inputs/1000/seed1|unparsed:0.9%|v")


def test_a_control_judge_is_labelled(make_table, make_facts) -> None:
    table = dataclasses.replace(make_table(), facts=(make_facts(judge="surface/1", control=True),))
    assert "|judge:surface/1@abc(control)|" in module.signature(table, build(table))
