"""Perturbations of who does what, and attacks on judges.

Subject and object are exchanged, or a pronoun replaced by another person's (OpenMEVA, character behaviour): at strength
1, in one sentence of five; at most one change in each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from random import Random
from typing import Any, Literal

import yaml

from judge.base.files import package_file
from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.parse import Parse, inflected, like
from judge.inputs.perturbations.perturbation import Edit, Made, Material, Token, Unfit, count, first
from judge.inputs.perturbations.sentences import sentences, words

# Attacks that try to raise an unchanged story's rating: texts before or after it from attacks.yaml, or its length.

# Attack by length: sentences of other stories are added after the end of the story.

# The greatest strength: so many sentences are drawn whatever the strength, so that those of a lower one come first.
_MOST = 4

_FEWEST_WORDS = 5
# A story drawn may have no neutral sentence, or only one that was taken before: the loop needs an end.
_TRIES = 40


def verbosity(material: Material, strength: int, rng: Random) -> Made:
    """Edits that append `strength` sentences of other stories, without direct speech; `Unfit` with too few."""
    story = material.story
    others = material.others
    drawn: list[str] = []
    for _ in range(_TRIES if others else 0):
        text = rng.choice(others).text
        plain = [filler for filler in (text[start:end] for start, end in sentences(text)) if _neutral(filler)]
        filler = rng.choice(plain) if plain else ""
        if filler and filler not in drawn and filler not in story.text:
            drawn.append(filler)
        if len(drawn) == _MOST:
            break
    if len(drawn) < strength:
        return Unfit("too few sentences of other stories")
    end = len(story.text.rstrip())
    return [Edit(end, end, f" {filler}") for filler in drawn[:strength]]


def _neutral(sentence: str) -> bool:
    return (
        len(list(words(sentence))) >= _FEWEST_WORDS
        and not any(mark in sentence for mark in '"“”«»`?!')
        and "''" not in sentence
    )


_FILE = package_file("inputs", "perturbations", "attacks.yaml")


def attacks_version() -> int:
    """Version number of the attack texts. It is raised whenever one of these texts changes."""
    return int(_texts()["version"])


@cache
def _texts() -> dict[str, Any]:
    texts: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return texts


def _written(name: str, material: Material, strength: int, rng: Random) -> Sequence[Edit]:
    text = material.story.text
    ((side, choices),) = _texts()[name].items()
    position = 0 if side == "before" else len(text.rstrip())
    parts = rng.choice(choices)[:strength]
    return [Edit(position, position, part.replace("{top}", material.top)) for part in parts]


# At the end, an instruction to give the highest rating; at strength 2 a second sentence repeats it.
inject_plain = partial(_written, "inject-plain")
# At the end, a line which looks like a rating with the highest point, such as "Rating: 5".
inject_fake_rating = partial(_written, "inject-fake-rating")
# At the end, a chat turn in which the judge seems to have given the highest rating already.
inject_role = partial(_written, "inject-role")
# At the end, tags that seem to end the story in the prompt (such as `</story>`), and a call for the highest rating.
closing_tags = partial(_written, "closing-tags")
# Before the story, a claim that it won a prize or was praised by experts.
authority = partial(_written, "authority")
# Before the story, a claim that most readers gave it the highest rating.
bandwagon = partial(_written, "bandwagon")


# Makes verbs agree with a new subject (he goes, they go).

# What a verb agrees with: I; he, she, it; we, you, they.
Person = Literal["first", "third", "plural"]

_BE: dict[str, dict[Person, str]] = {
    "VBD": {"first": "was", "third": "was", "plural": "were"},
    "now": {"first": "am", "third": "is", "plural": "are"},
    "short": {"first": "'m", "third": "'s", "plural": "'re"},
}
_HAVE: dict[Person, str] = {"first": "'ve", "third": "'s", "plural": "'ve"}
_PLURAL_TAGS = ("NNS", "NNPS")


def person_of(parse: Parse, at: int) -> Person:
    """The verb form that a subject, by its head, requires: `first` (I), `third` (he, she, it) or `plural` (we, you,
    they)."""
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
    """Edits that make a verb, and verbs coordinated with it, agree with a subject of this person; None where one has no
    form."""
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


_SHARE = 0.2
# Words of a subject or object that is exchanged.
_LONGEST = 5

_OBJECTS = frozenset({"dobj", "pobj", "dative"})
_NAMELESS = frozenset({"it", "there", "that", "this", "what", "who", "which", "one", "something", "nothing"})


def persons_exchanged(material: Material, strength: int, rng: Random) -> Made:
    """Edits that exchange subjects and objects or, where a sentence allows no exchange, replace a pronoun; `Unfit`
    without any."""
    parse = Parse(material.tokens)
    groups = []
    for sentence in parse.sentences:
        options = [edits for at in sentence if (edits := _exchanged(parse, at, sentence.start))]
        options = options or [edits for at in sentence if (edits := _other_person(parse, at, rng.random()))]
        number = rng.random()
        if options:
            groups.append(options[int(number * len(options))])
    if not groups:
        return Unfit("no pronoun, and no subject and object to exchange")
    some = first(groups, count(strength, _SHARE, len(parse.sentences)), rng)
    return [edit for edits in some for edit in edits]


def _exchanged(parse: Parse, verb: int, start: int) -> list[Edit]:
    tokens = parse.tokens
    if tokens[verb].pos != "VERB" or parse.children(verb, ("auxpass", "prt", "conj")):
        return []
    subject, objects = parse.subject(verb), parse.children(verb, ("dobj",))
    if subject is None or len(objects) != 1 or tokens[subject].dependency != "nsubj":
        return []
    subject_words, other = _phrase(parse, subject), _phrase(parse, objects[0])
    if subject_words is None or other is None or not subject_words.stop <= verb < other.start:
        return []
    verbs = agreements(parse, verb, person_of(parse, objects[0]))
    if verbs is None:
        return []
    return [
        *verbs,
        Edit(
            tokens[subject_words.start].start,
            tokens[subject_words.stop - 1].end,
            _moved(parse, other, "subject", capital=subject_words.start == start),
        ),
        Edit(
            tokens[other.start].start, tokens[other.stop - 1].end, _moved(parse, subject_words, "object", capital=False)
        ),
    ]


def _phrase(parse: Parse, head: int) -> range | None:
    # None where it is long or not contiguous, or names no person or thing of the story (such as a reflexive pronoun).
    tokens = parse.tokens
    token = tokens[head]
    if token.pos not in ("NOUN", "PROPN", "PRON") or token.lemma in _NAMELESS or token.text.lower() in _NAMELESS:
        return None
    if token.text.lower().endswith(("self", "selves")) or token.tag in ("WP", "WDT"):
        return None
    places = parse.subtree(head)
    whole = places == list(range(places[0], places[-1] + 1)) and len(places) <= _LONGEST
    plain = all(tokens[at].pos not in ("VERB", "PUNCT", "AUX") and tokens[at].tag != "POS" for at in places[-1:])
    inside = all(tokens[at].pos not in ("VERB", "AUX", "PUNCT", "SCONJ") for at in places)
    return range(places[0], places[-1] + 1) if whole and plain and inside else None


def _moved(parse: Parse, phrase: range, role: str, *, capital: bool) -> str:
    # In the pronoun case (`role`) and with the capitals of the new position.
    tokens = parse.tokens
    start, end = tokens[phrase.start], tokens[phrase.stop - 1]
    between = [tokens[at].start - tokens[at - 1].end for at in phrase[1:]]
    words = [tokens[at].text for at in phrase]
    if len(words) == 1 and start.tag == "PRP":
        words = [_in_case(words[0], role)]
    first_word = words[0]
    if words[0] == "i" and not parse.small:
        words[0] = "I"
    keeps = start.pos == "PROPN" or first_word == "I" or first_word.startswith("[")
    capitals = parse.tokens[parse.sentence_of(phrase.start).start].text[:1].isupper()
    if capital and capitals:
        words[0] = first_word[:1].upper() + first_word[1:]
    elif not keeps and not (len(first_word) > 1 and first_word.isupper()) and end.sentence == start.sentence:
        words[0] = first_word[:1].lower() + first_word[1:]
    return words[0] + "".join(" " * gap + word for gap, word in zip(between, words[1:], strict=True))


def _in_case(word: str, role: str) -> str:
    for forms in word_list("pronouns")["persons"].values():
        if word.lower() in (forms["subject"], forms["object"]):
            form: str = forms[role]
            return form
    return word


def _other_person(parse: Parse, at: int, chance: float) -> list[Edit]:
    # In the same case, such as "he" by "they"; `chance` chooses the new pronoun.
    token = parse.tokens[at]
    case = _case(token)
    if case is None or token.text.lower() == "it":
        return []
    persons = word_list("pronouns")["persons"]
    own = [name for name, forms in persons.items() if forms[case] == token.text.lower()]
    if not own:
        return []
    others = [name for name in persons if name not in (*own, "it") and persons[name][case] != token.text.lower()]
    chosen = persons[others[int(chance * len(others))]]
    word: str = chosen[case]
    capital = token.text[:1].isupper() and (parse.begins(at) or token.text != "I")
    written = word.capitalize() if capital or (word == "i" and not parse.small) else word
    edits = [Edit(token.start, token.end, written)]
    if case != "subject":
        return edits
    verbs = agreements(parse, token.head, chosen["verb"])
    return [] if verbs is None else [*edits, *verbs]


def _case(token: Token) -> str | None:
    if token.tag == "PRP$":
        return "before"
    if token.tag != "PRP":
        return None
    if token.text.lower().endswith(("self", "selves")):
        return "reflexive"
    if token.dependency in ("nsubj", "nsubjpass"):
        return "subject"
    return "object" if token.dependency in _OBJECTS else None
