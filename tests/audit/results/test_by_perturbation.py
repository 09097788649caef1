"""An audit of stories that were changed on purpose: drawn with their origins, shown blind, reported apart."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.explanations.audit.answer_matrix import answered
from judge.explanations.audit.options import SampleOptions
from judge.explanations.audit.population import read_population
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.report import report
from judge.explanations.audit.sampling import sample
from judge.explanations.audit.store import AuditStore, snapshot
from judge.show.web.audit_annotators import annotation_task

DONE = ("none", "typos.1", "negation.1")
Said = Callable[[AuditStore, str, int, int], None]


@pytest.fixture
def stressed(tmp_path: Path) -> Path:
    """Explanations of eight stories, each as it was and changed in two ways."""
    file = tmp_path / "said.jsonl"
    rows = [
        {
            "text": f"It holds together around lamp {i}, version {place}.",
            "story": f"lamp-{i}@{done}",
            "story_text": f"Lamp {i} went out at {place}.",
            "criterion": "Coherence",
            "dataset": "stress",
        }
        for i in range(8)
        for place, done in enumerate(DONE)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_untouched_and_changed_stories_are_drawn_alike_and_reported_apart(stressed: Path, tmp_path: Path) -> None:
    made = sample(read_population(stressed), SampleOptions(n=12, by=("perturbation",), spread=()))
    assert Counter(one.facts.stratum for one in made.subjects) == {"untouched": 4, "typos": 4, "negation": 4}
    assert "by:perturbation" in made.sampling["signature"]
    with AuditStore.create(tmp_path / "audit.sqlite", made.subjects, sampling=made.sampling) as store:
        wrong = {c.key: 0 for c in store.categories}
        for item in store.items():
            damaged = item.subject.facts.stratum == "negation"
            store.answer("Ada", item.id, wrong | {next(iter(wrong)): int(damaged)}, seconds=1.0)
        found = report(snapshot(store))
        (strata,) = [one for one in found.strata if one.variable == "perturbation"]
        first = found.errors[0].category.key
        rates = {one.level: one.rates[first].value for one in strata.levels}
        assert rates == {"negation": 1.0, "typos": 0.0, "untouched": 0.0}
        assert any("perturbation" in table.title.lower() for table in audit_tables(found))
        # Versions of one story are one cluster.
        origins = {str(item.subject.story).partition("@")[0] for item in store.items()}
        assert len(set(answered(snapshot(store)).story)) == len(origins) < len(store.items())


def test_annotators_are_not_told_what_was_changed(stressed: Path, tmp_path: Path) -> None:
    made = sample(read_population(stressed), SampleOptions(n=24, by=("perturbation",), spread=()))
    with AuditStore.create(tmp_path / "audit.sqlite", made.subjects, sampling=made.sampling) as store:
        shown = json.dumps(annotation_task(store, "Ada"), default=str)
    for word in ("typos", "negation", "untouched", "@none", "perturbation"):
        assert word not in shown


def test_ordinary_stories_have_no_perturbation(tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    rows = [{"text": f"Fine {i}.", "story": f"s{i}@home", "criterion": "Coherence"} for i in range(4)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert set(read_population(file).level("perturbation")) == {"none"}
