"""Quotations and names: what is one, and where it stands."""

from __future__ import annotations

import pandas as pd
import pytest

from judge.explanations.corpus.corpus import stories_of
from judge.explanations.quality.quoted_evidence import Library, evidence, normalised, quoting
from judge.inputs.criteria import load_criteria

EMPATHY = load_criteria("hanna").pick("Empathy")
STORY = "It was a dark night. “Don’t go in there,” Anna said.  The dog, Rex—old and LOUD—barked."


@pytest.fixture(scope="module")
def library() -> Library:
    rows = [
        ("toy", "s1", "A meeting with Mr. Blackwood at midnight", "Human", STORY, "Nobody saw Captain Flint that day."),
        ("toy", "s2", None, None, None, None),
    ]
    return Library(stories_of(rows), EMPATHY)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('She says "open the door" twice.', ["open the door"]),
        ("She says “open the door” and ‘it was a dark night’.", ["open the door", "it was a dark night"]),
        ("He says 'don't go in there' loudly; it's the dog's bone.", ["don't go in there"]),
        ('The "plot" is "fine".', []),
        ("``It was dark'' is «a dark night».", ["It was dark", "a dark night"]),
        ('A 5" nail and nothing else', []),
        ("No quotation here, it's plain.", []),
    ],
)
def test_quotations(text: str, found: list[str]) -> None:
    assert list(quoting(text).spans) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The story follows Mark Zuckerberg and Freddy Krueger's ghost in New York.", None),
        ("However, nothing. Then Anna sings.\n- Rex barks\n3. Rex sits", ["Anna"]),
        ("A case for Empathy, since empathy is weak.", []),
        ('He met "Anna Karenina" once.', []),
        ("I think that I'd say so, I would.", []),
        ("It is Anna, and again Anna's voice.", ["Anna"]),
        ("1) Anna 2) Rex", []),
    ],
)
def test_names_are_capitalised_words_inside_sentences(text: str, found: list[str] | None) -> None:
    assert quoting(text).names == (["Mark Zuckerberg", "Freddy Krueger", "New York"] if found is None else found)


def test_text_is_compared_without_case_marks_and_typography() -> None:
    assert normalised("Don’t GO in—there, Anna’s  dog!") == "don't go in there anna dog"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('It says "it was a DARK night".', "story"),
        ('It says "Dont go".', "nowhere"),
        ("It says “don't go in there”.", "story"),
        ('It says "it was ... Rex, old and loud".', "story"),
        ('It says "it was ... old and quiet".', "nowhere"),
        ('It says "meeting with Mr Blackwood".', "story-prompt"),
        ('It says "nobody saw Captain Flint".', "reference"),
        ('It says "ark night".', "nowhere"),
    ],
)
def test_where_a_quotation_stands(library: Library, text: str, place: str) -> None:
    ((_, found),) = evidence(quoting(text), library.of("toy", "s1", "Empathy")).quotes
    assert found == place


def test_a_quoted_guideline_is_the_tasks_and_no_claim(library: Library) -> None:
    text = f'The guideline "{EMPATHY[0].guidelines[2].rstrip(".")}" fits.'
    ((_, found),) = evidence(quoting(text), library.of("toy", "s1", "Empathy")).quotes
    assert found == "task"
    ((_, without),) = evidence(quoting(text), library.of("toy", "s1", "unknown")).quotes
    assert without == "nowhere"


def test_where_names_stand(library: Library) -> None:
    found = evidence(quoting("We meet Anna, Blackwood, Flint and Ishmael."), library.of("toy", "s1", "Empathy"))
    assert found.names == (
        ("Anna", "story"),
        ("Blackwood", "story-prompt"),
        ("Flint", "reference"),
        ("Ishmael", "nowhere"),
    )
    assert (found.count("names", "story"), found.count("quotes", "story")) == (1, 0)


def test_words_of_the_task_are_no_names(library: Library) -> None:
    text = "As the Eval-Prompt says, its Rating on Empathy, by the Empathy Guidelines, is low for Ishmael-Ray."
    sources = library.of("toy", "s1", "Empathy")
    assert evidence(quoting(text), sources).names == (("Ishmael-Ray", "nowhere"),)
    # So are the other criteria's names, whichever criterion the text is on.
    other = Library(stories_of([("toy", "s1", None, None, STORY, None)]), load_criteria("hanna").criteria)
    found = evidence(quoting("It has no Surprise for Anna."), other.of("toy", "s1", "Empathy"))
    assert found.names == (("Anna", "story"),)


def test_what_the_library_knows(library: Library) -> None:
    assert library.knows("toy", "s1")
    assert not library.knows("toy", "s2")
    assert not library.knows("toy", "s3")
    assert evidence(quoting('He says "it was dark".'), library.of("toy", "s3", "")).count("quotes", "nowhere") == 1
    assert not Library(stories_of([]), ()).knows("toy", "s1")
    assert isinstance(stories_of([]), pd.DataFrame)
