"""Makes verbs agree with a new subject (he goes, they go)."""

from __future__ import annotations

from typing import Literal

from judge.inputs.perturbations.edit import Edit
from judge.inputs.perturbations.english.forms import like
from judge.inputs.perturbations.english.inflection import inflected
from judge.inputs.perturbations.english.parse import Parse
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.perturbation import Token

Person = Literal["first", "third", "plural"]
"""What a verb agrees with: I; he, she, it; we, you, they."""

_BE: dict[str, dict[Person, str]] = {
    "VBD": {"first": "was", "third": "was", "plural": "were"},
    "now": {"first": "am", "third": "is", "plural": "are"},
    "short": {"first": "'m", "third": "'s", "plural": "'re"},
}
_HAVE: dict[Person, str] = {"first": "'ve", "third": "'s", "plural": "'ve"}
_PLURAL_TAGS = ("NNS", "NNPS")


def person_of(parse: Parse, at: int) -> Person:
    """The verb form that a subject requires, from the token that is its head: `first` (I), `third` (he, she, it) or
    `plural` (we, you, they).
    """
    token = parse.tokens[at]
    if parse.children(at, ("conj",)) or token.tag in _PLURAL_TAGS:
        return "plural"
    word = token.text.lower()
    for forms in word_list("pronouns")["persons"].values():
        if word in (forms["subject"], forms["object"]):
            person: Person = forms["verb"]
            return person
    return "plural" if word in ("these", "those", "both", "many", "few", "some", "others") else "third"


def agreements(parse: Parse, verb: int, person: Person) -> list[Edit] | None:
    """Edits that make a verb, and verbs coordinated with it, agree with a new subject, whose grammatical person is
    `first` (I), `third` (he, she, it) or `plural`. None where a verb has no suitable form.
    """
    edits = []
    left = [verb]
    while left:
        here = left.pop()
        left += [child for child in parse.children(here, ("conj",)) if parse.subject(child) is None]
        finite = parse.finite(here)
        if finite is None:
            continue
        token = parse.tokens[finite]
        form = _form(token, person)
        if form is None:
            return None
        if form != token.text:
            edits.append(Edit(token.start, token.end, form))
    return edits


def _form(token: Token, person: Person) -> str | None:
    """The finite verb in the form for a person (`first`, `third` or `plural`); None where it has no such form."""
    word = token.text.lower().replace("’", "'")
    if token.lemma == "be" or word in ("'m", "'re") or (word == "'s" and token.lemma != "have"):
        forms = _BE["VBD"] if token.tag == "VBD" else _BE["short"] if word.startswith("'") else _BE["now"]
        return token.text if word in forms.values() and forms[person] == word else like(forms[person], token.text)
    if word.startswith("'"):
        return _HAVE[person] if word in _HAVE.values() else token.text
    if token.tag not in ("VBZ", "VBP"):
        return token.text
    form = inflected(token.lemma, "VBZ" if person == "third" else "VBP")
    return None if form is None else like(form, token.text)
