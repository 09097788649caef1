"""What these tests need: spaCy with its model, inflected forms, WordNet."""

from __future__ import annotations

import pytest

from judge.inputs.datasets.locate import wordnet_folder
from judge.inputs.perturbations import parse as tagging
from judge.inputs.perturbations.parse import Tagger
from judge.inputs.wordnet import WordNet
from tests.conftest import missing


@pytest.fixture(scope="session")
def tagger() -> Tagger:
    lost = tagging.available()
    if lost is not None:
        missing("stress", f"{lost} (make test-stress)")
    return Tagger()


@pytest.fixture(scope="session")
def wordnet() -> WordNet:
    place = wordnet_folder()
    if place is None:
        missing("stress", "WordNet 3.0 is not on this machine (make test-stress)")
    return WordNet(place)
