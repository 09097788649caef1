"""OpenMEVA's human stories: how many lend themselves, and what holds of every version made of them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from judge.inputs.datasets import open_dataset
from judge.inputs.perturbations.perturbation import Edit
from judge.inputs.perturbations.sentences import PLACEHOLDER
from judge.lab.stress.making import MakeOptions, Perturbed, of_set, versions, wanted
from judge.lab.stress.session import Workshop

BARS = {
    "lexical-repetition": (200, 200),
    "negation": (200, 200),
    "sentence-shuffle": (200, 200),
    "synonyms": (200, 200),
    "antonym": (190, 198),
    "unrelated-words": (198, 200),
    "temporal": (100, 175),
    "character": (65, 180),
    "punctuation": (115, 195),
    "contractions": (45, 150),
    "typos": (198, 198),
    "causal": (18, 60),
}
"""At least so many of 200 ROC and 200 WP stories, seed 1."""

_WRONG = re.compile(
    r"\b(?:an [bcdfgjklmnpqrstvwxz]\w|(?:he|she) (?:are|were|have|am)|they (?:is|was|has|am)|i (?:is|are|were|has)"
    r"|(\w+) not not)\b"
)


@pytest.fixture(scope="module", params=["mans_roc", "mans_wp"])
def found(
    request: pytest.FixtureRequest,
    studies: Path,
    tagger: object,
    wordnet: object,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[Perturbed]]:
    """All versions of the dataset's human stories by the story's id, under the dataset's name."""
    options = MakeOptions(wanted=wanted(of_set("openmeva"), [1, 2, 4]), references=True)
    workshop = Workshop(open_dataset(request.param), options, tmp_path_factory.mktemp("made") / "stress.jsonl")
    kept = {m.story.text: list(versions(m, options.wanted, options.seed)) for m in workshop.materials()}
    assert len(kept) == 200
    kept["which"] = request.param  # type: ignore[assignment]
    return kept


def test_coverage(found: dict[str, list[Perturbed]]) -> None:
    at = ("mans_roc", "mans_wp").index(str(found["which"]))
    made = Counter(
        v.facts.name for name, some in found.items() if name != "which" for v in some if v.story and v.strength == 1
    )
    assert {name: made[name] for name, bars in BARS.items() if made[name] < bars[at]} == {}


def test_versions_are_whole(found: dict[str, list[Perturbed]]) -> None:
    wrong: Counter[str] = Counter()
    for origin, some in found.items():
        if origin == "which":
            continue
        before: dict[str, frozenset[Edit]] = {}
        held = Counter(match.group() for match in PLACEHOLDER.finditer(origin))
        for version in some:
            if version.story is None:
                continue
            edits, text = frozenset(version.edits), version.story.text
            assert text != origin
            assert before.get(version.facts.name, frozenset()) < edits
            before[version.facts.name] = edits
            bounds = {place for edit in edits for place in (edit.start, edit.end)}
            assert not any(m.start() < place < m.end() for m in PLACEHOLDER.finditer(origin) for place in bounds)
            if version.facts.name not in ("lexical-repetition", "unrelated-sentence"):
                assert Counter(match.group() for match in PLACEHOLDER.finditer(text)) == held
            if set(_WRONG.findall(text)) - set(_WRONG.findall(origin)):
                wrong[version.facts.name] += 1
    assert sum(wrong.values()) <= 5, wrong
