"""Perturbations that need no tagger: what holds of every text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.records import Story
from judge.inputs.perturbations.perturbation import CATALOGUE, MADE, Edit, Material, Unfit, applied, maker, rng_of
from judge.inputs.perturbations.sentences import PLACEHOLDER, pieces, sentences
from judge.lab.stress.making import versions, wanted

NAMES = ("lexical-repetition", "sentence-shuffle", "typos")
_WORDS = "the old [MALE] man [FEMALE] n't did 's went He was very tired , `` '' I U.S. 1,000 [WP]"
_WORD = st.sampled_from(_WORDS.split())
_TEXTS = st.lists(st.lists(_WORD, min_size=1, max_size=9), min_size=1, max_size=8).map(
    lambda some: " ".join(" ".join(words) + " ." for words in some)
)


def material(text: str, name: str = "s") -> Material:
    return Material(Story(name, "p", "x", text))


@settings(max_examples=50)
@given(st.one_of(_TEXTS, st.text(max_size=200)), st.integers(0, 3))
@pytest.mark.parametrize("name", NAMES)
def test_versions_differ_and_leave_all_else_as_it_was(name: str, text: str, seed: int) -> None:
    before: frozenset[Edit] = frozenset()
    for version in versions(material(text), wanted([name], [1, 2, 4]), seed):
        if version.story is None:
            assert version.reason
            continue
        edits = frozenset(version.edits)
        assert version.story.text == applied(text, version.edits) != text
        assert before < edits
        before = edits
        bounds = [place for edit in edits for place in (edit.start, edit.end)]
        assert not any(found.start() < at < found.end() for found in PLACEHOLDER.finditer(text) for at in bounds)


@settings(max_examples=50)
@given(_TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_made_depends_on_seed_name_and_story_alone(name: str, text: str) -> None:
    alone = [v.edits for v in versions(material(text), wanted([name], [1]), 1)]
    among = [v for v in versions(material(text), wanted(list(NAMES), [1, 2, 4]), 1) if v.facts.name == name]
    assert alone == [v.edits for v in among if v.strength == 1]
    assert rng_of(1, name, "a").random() != rng_of(1, name, "b").random() != rng_of(2, name, "b").random()


def test_a_repetition_is_of_words_or_of_a_sentence() -> None:
    text = "He walked to the old house . Then he slept ."
    made = {
        version.story.text
        for seed in range(60)
        for version in versions(material(text), wanted(["lexical-repetition"], [1]), seed)
        if version.story
    }
    assert "He walked to the old house . He walked to the old house . Then he slept ." in made
    assert "He walked to the old and walked to the old house . Then he slept ." in made
    assert not any(" the and " in one for one in made)


def test_typos_spare_first_letters_short_words_and_placeholders() -> None:
    text = "[FEMALE] an it wonderful . [FEMALE] is on"
    for seed in range(40):
        (version,) = versions(material(text), wanted(["typos"], [1]), seed)
        assert version.story is not None
        assert re.fullmatch(r"\[FEMALE\] an it w\w+ \. \[FEMALE\] is on", version.story.text)


def test_a_story_that_does_not_lend_itself_has_its_reason() -> None:
    made = maker("sentence-shuffle")(material("One sentence."), 1, rng_of(1, "sentence-shuffle", "s"))
    assert made == Unfit("one sentence alone")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("he left . `` why ? '' she asked . ok .", ["he left .", "`` why ? ''", "she asked .", "ok ."]),
        ('He left. "Why?" she asked. Mr. Jones smiled.', ["He left.", '"Why?" she asked.', "Mr. Jones smiled."]),
        ("So it is . . . over !\nYes", ["So it is . . .", "over !", "Yes"]),
        ("", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[slice(*place)] for place in sentences(text)] == expected


@given(st.text(max_size=120))
def test_tokens_and_sentences_stand_where_they_say(text: str) -> None:
    assert "".join(text[slice(*piece)] for piece in pieces(text)).replace(" ", "") or not text.strip()
    ends = [0, *(place for found in sentences(text) for place in found)]
    assert ends == sorted(ends)
    assert all(not text[one:other].strip() for one, other in zip(ends[::2], [*ends[1::2], len(text)], strict=True))


def test_contractions_and_placeholders_are_tokens() -> None:
    text = "[MALE] did n't say don't , he 's 10.30 <newline> U.S. `` no ''"
    assert [text[slice(*piece)] for piece in pieces(text)][:9] == [
        "[MALE]", "did", "n't", "say", "do", "n't", ",", "he", "'s",
    ]  # fmt: skip


def test_what_is_made_is_in_the_catalogue() -> None:
    assert set(MADE) <= set(CATALOGUE)
