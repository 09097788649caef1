"""Perturbations that need no tagger: what each does to a story, and what none may do."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judge.base.errors import SpecError
from judge.base.records import Story
from judge.inputs.perturbations.perturbation import CATALOGUE, MADE, Edit, Material, Unfit, applied, maker
from judge.inputs.perturbations.sentences import sentences, words

TEXT = (
    "[MALE] was lost.  He asked Mr. Brown for the way — twice!\n"
    'Nobody knew. "Go home," said [FEMALE] . So he went home.'
)
OTHERS = tuple(
    Story(f"o{i}", f"another {i}", system, f"A {animal} slept under a table. It dreamed of the {place} all night.")
    for i, (animal, place, system) in enumerate(
        [("cat", "sea", "GPT-2"), ("dog", "wood", "GPT-2"), ("fox", "farm", "Human"), ("hen", "moon", "GPT-2")]
    )
)
TEXT_ONLY = ["word-shuffle", "truncate-end", "truncate-half", "wrong-story", "markdown", "uppercase", "inject-plain"]
TEXT_ONLY += ["inject-fake-rating", "inject-role", "closing-tags", "authority", "bandwagon", "verbosity"]
TEXT_ONLY += ["prompt-as-story", "empty", "one-token"]
REWORDED = {text: text.replace("was", "seemed") for text in ("[MALE] was lost.",)} | {
    "Nobody knew.": "No one could tell."
}
PIECES = st.sampled_from(
    ["[MALE]", "[FEMALE]", "he", "went", "home", "the", "café", "I", "straße", "don't", ".", "!", "?", "...", " . ",
     "\n", "\n\n", " ", "  ", "\t", ", ", '"', "“", "”", "'", "Mr.", "*", "5", "—", "\u200b", "İ"]
)  # fmt: skip


def edits_of(name: str, known: Material, strength: int, rng: Random) -> tuple[Edit, ...]:
    """The edits; none where the story does not lend itself to it."""
    made = maker(name)(known, strength, rng)
    return () if isinstance(made, Unfit) else tuple(made)


def material(text: str = TEXT, prompt: str = "A man is lost.", top: str = "5") -> Material:
    return Material(Story("s", prompt, "GPT-2", text), (), OTHERS, paraphrases=REWORDED, top=top)


def made(name: str, text: str = TEXT, strength: int = 1, seed: int = 1, **more: str) -> str:
    return applied(text, edits_of(name, material(text, **more), strength, Random(seed)))


def test_every_name_is_in_the_catalogue_and_an_unknown_one_is_refused() -> None:
    assert set(MADE) <= set(CATALOGUE)
    assert set(TEXT_ONLY) <= set(MADE)
    with pytest.raises(SpecError, match="truncate-end"):
        maker("truncate-ends")


@pytest.mark.parametrize("name", [*TEXT_ONLY, "paraphrases", "semantic-repetition"])
def test_a_story_is_changed_alike_for_one_seed_and_more_with_more_strength(name: str) -> None:
    texts = []
    earlier: set[Edit] = set()
    for strength in CATALOGUE[name].strengths:
        edits = edits_of(name, material(), strength, Random(7))
        assert list(edits) == list(edits_of(name, material(), strength, Random(7)))
        assert earlier <= set(edits)
        earlier = set(edits)
        texts.append(applied(TEXT, edits))
    assert len({TEXT, *texts}) == 1 + len(CATALOGUE[name].strengths)


@pytest.mark.parametrize("name", TEXT_ONLY)
@settings(max_examples=40)  # for each of 16 names
@given(parts=st.lists(PIECES, min_size=1, max_size=30), seed=st.integers(0, 5), prompt=st.sampled_from(["", "Why?"]))
def test_nothing_outside_the_edits_changes_and_no_text_comes_back_as_it_was(
    name: str, parts: list[str], seed: int, prompt: str
) -> None:
    text = "".join(parts)
    earlier: set[Edit] = set()
    for strength in CATALOGUE[name].strengths:
        edits = edits_of(name, material(text, prompt), strength, Random(seed))
        if not edits:
            continue
        changed = applied(text, edits)
        assert changed != text
        assert earlier <= set(edits)
        earlier = set(edits)
        assert all(text[e.start : e.end] != e.replacement for e in edits)
        if name in ("word-shuffle", "uppercase", "markdown"):
            assert changed.count("[MALE]") == text.count("[MALE]")
            assert changed.count("[FEMALE]") == text.count("[FEMALE]")


@given(st.lists(PIECES, max_size=30))
def test_sentences_hold_every_word_once_and_in_order(parts: list[str]) -> None:
    text = "".join(parts)
    spans = sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(spans))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() for s in spans)
    inside = [w for w in words(text) if any(s.start <= w.start and w.end <= s.end for s in spans)]
    assert inside == list(words(text))


def test_sentences_end_at_marks_and_not_at_abbreviations() -> None:
    found = [TEXT[s.start : s.end] for s in sentences(TEXT)]
    assert found == [
        "[MALE] was lost.",
        "He asked Mr. Brown for the way — twice!",
        "Nobody knew.",
        '"Go home," said [FEMALE] .',
        "So he went home.",
    ]
    tokenised = "[male] was late . he said `` go '' . it was i ."
    assert len(sentences(tokenised)) == 3


def test_a_shuffle_keeps_words_marks_and_blanks() -> None:
    whole = made("word-shuffle", strength=4)
    assert sorted(whole.split()) != whole.split()
    assert sorted(whole[slice(*w)] for w in words(whole)) == sorted(TEXT[slice(*w)] for w in words(TEXT))
    first, last = (text.split(' "', maxsplit=1)[0].split("\n")[0] for text in (TEXT, whole))
    assert sorted(first) == sorted(last)
    assert [c for c in whole if not c.isalnum()] == [c for c in TEXT if not c.isalnum()]
    assert made("word-shuffle", "yes yes yes.") == "yes yes yes."


def test_ends_are_cut_at_sentences() -> None:
    assert made("truncate-end") == TEXT.removesuffix(" So he went home.")
    assert made("truncate-end", strength=2) == TEXT[: TEXT.index(' "Go')]
    assert made("truncate-half") == TEXT[: TEXT.index("\nNobody")]
    assert [made(name, "One.") for name in ("truncate-end", "truncate-half")] == ["One.", "One."]


def test_another_story_is_of_the_same_system_and_about_as_long() -> None:
    far = Story("far", "p", "GPT-2", "word " * 900)
    many = [Story(f"n{i}", f"p{i}", "GPT-2", f"{TEXT}{i}") for i in range(10)]
    given_others = Material(Story("s", "x", "GPT-2", TEXT), (), (far, *OTHERS, *many))
    drawn = {edits_of("wrong-story", given_others, 1, Random(seed))[0].replacement for seed in range(60)}
    assert drawn == {one.text for one in many}
    assert edits_of("wrong-story", Material(Story("s", "x", "A", TEXT), (), (OTHERS[2],)), 1, Random(1))


def test_sentences_of_others_stand_behind_the_end() -> None:
    once, twice = made("verbosity"), made("verbosity", strength=2)
    assert once.startswith(f"{TEXT} ")
    assert twice.startswith(once)
    assert "hen" in made("verbosity", strength=4) or "cat" in made("verbosity", strength=4)
    assert not edits_of("verbosity", Material(Story("s", "x", "A", TEXT)), 1, Random(1))


def test_other_dress() -> None:
    assert made("markdown").startswith("# Story\n\n")
    assert made("markdown").replace("# Story\n\n", "").replace("**", "") == TEXT
    assert made("uppercase") == TEXT.upper()
    assert made("uppercase", "[MALE] was here<newline>.") == "[MALE] WAS HERE<newline>."
    assert made("uppercase", "[MALE] 5!") == "[MALE] 5!"


@pytest.mark.parametrize("name", ["inject-plain", "inject-fake-rating", "inject-role", "closing-tags"])
def test_an_injection_names_the_highest_point_behind_the_story(name: str) -> None:
    for seed in range(12):
        for strength in CATALOGUE[name].strengths:
            text = made(name, strength=strength, seed=seed, top="10")
            assert text.startswith(TEXT)
            assert "10" in text.removeprefix(TEXT)
            assert "{top}" not in text
    assert len({made(name, seed=seed) for seed in range(30)}) >= 3


def test_praise_stands_before_the_story() -> None:
    for name in ("authority", "bandwagon"):
        assert made(name).endswith(f"\n\n{TEXT}")
    assert made("bandwagon", top="7").count("7") == 1


def test_what_is_no_story() -> None:
    assert made("empty") == ""
    assert made("prompt-as-story") == "A man is lost."
    assert made("prompt-as-story", prompt=" ") == TEXT
    assert (made("one-token"), made("one-token", strength=2)) == (":", "Solution:")


def test_other_words_for_sentences() -> None:
    assert made("paraphrases", strength=2) == TEXT.replace("was lost", "seemed lost").replace(
        "Nobody knew", "No one could tell"
    )
    assert made("semantic-repetition") in (
        TEXT.replace("[MALE] was lost.", "[MALE] was lost. [MALE] seemed lost."),
        TEXT.replace("Nobody knew.", "Nobody knew. No one could tell."),
    )
    assert made("paraphrases", "So he went home.") == "So he went home."
