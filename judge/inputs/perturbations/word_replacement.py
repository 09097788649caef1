"""Words of a story replaced by antonyms, synonyms or sister terms of WordNet, or by words of other stories, inflected
as in the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

from judge.inputs.perturbations.lists import word_list
from judge.inputs.perturbations.parse import Parse, inflected, like, replaced
from judge.inputs.perturbations.perturbation import Made, Material, Token, Unfit, count, first, some_of
from judge.inputs.wordnet import WordNet

PARTS = {"NOUN": "noun", "VERB": "verb", "ADJ": "adj", "ADV": "adv"}
_LIGHT = frozenset({"be", "have", "do", "get", "go", "let", "make", "use"})
_SINGULAR = frozenset({"NN", "VB", "VBP", "JJ", "RB"})
_PART_NAMES = {part: name for name, part in PARTS.items()}
# From a base form and its part of speech to other base forms, the best first.
Choice = Callable[[WordNet, str, str], tuple[str, ...]]


@lru_cache(maxsize=1 << 14)
def opposites(wordnet: WordNet, lemma: str, part: str) -> tuple[str, ...]:
    """Antonyms of a word's two most common meanings, else of the own list. `part` is noun, verb, adj or adv."""
    usual = [
        sense
        for sense in wordnet.senses(lemma, part)[:2]
        if part in ("adj", "adv") or wordnet.rank(lemma, part, sense.offset) is not None
    ]
    antonyms = [word for sense in usual for word in sense.opposites]
    own = word_list("antonyms")["words"].get(f"{lemma}|{_PART_NAMES[part]}")
    return _plain(antonyms, lemma) or ((own,) if own else ())


@lru_cache(maxsize=1 << 14)
def synonyms(wordnet: WordNet, lemma: str, part: str) -> tuple[str, ...]:
    """Words with the most common meaning of `lemma` as theirs, else as their second. The own list comes first. `part`
    is noun, verb, adj or adv."""
    own = word_list("synonyms")["words"].get(f"{lemma}|{_PART_NAMES[part]}")
    if own is not None:
        return (own,)
    candidates: list[str] = []
    for sense in wordnet.senses(lemma, part)[:1]:
        ranks = {word: wordnet.rank(word, part, sense.offset) for word in sense.words}
        if ranks.get(lemma) is None:
            continue
        best = [word for word, rank in ranks.items() if rank == 0 and word != lemma]
        candidates += best or [word for word, rank in ranks.items() if rank == 1]
    # Not "loud" for "loudly": few adverbs have both forms everywhere.
    return tuple(word for word in _plain(candidates, lemma) if lemma.endswith("ly") <= word.endswith("ly"))


@lru_cache(maxsize=1 << 14)
def sisters(wordnet: WordNet, lemma: str, part: str) -> tuple[str, ...]:
    """Co-hyponyms (words for other kinds of the hypernym), by most common meanings. `part` is noun, verb, adj or
    adv."""
    candidates: list[str] = []
    for sense in wordnet.senses(lemma, part)[:1]:
        for above in sense.above[:1]:
            for offset in wordnet.sense_at(part, above).below:
                if offset != sense.offset:
                    other = wordnet.sense_at(part, offset)
                    candidates += [word for word in other.words if wordnet.rank(word, part, offset) == 0]
        candidates = [word for word in candidates if word not in sense.words]
    return _plain(candidates, lemma)


def _plain(candidates: Sequence[str], lemma: str) -> tuple[str, ...]:
    never = word_list("substitution")["never"]
    return tuple(
        word
        for word in dict.fromkeys(candidates)
        if word.isalpha() and word.islower() and word != lemma and word not in never and len(word) > 1
    )


def single_sense(wordnet: WordNet, lemma: str, part: str) -> bool:
    """Whether a synonym is safe: the word is in the own list or has at most two meanings in WordNet's tagged texts."""
    if f"{lemma}|{_PART_NAMES[part]}" in word_list("synonyms")["words"]:
        return True
    tagged = [s for s in wordnet.senses(lemma, part) if wordnet.rank(lemma, part, s.offset) is not None]
    return len(tagged) <= 2


def substitutions(
    parse: Parse, wordnet: WordNet, choice: Choice, parts: Sequence[str] = tuple(PARTS)
) -> list[tuple[int, list[str]]]:
    """(position, replacements in the right inflection) of each word that can be replaced. `choice` gives lemmas for a
    lemma and part of speech, the best first; `parts` are tags such as `NOUN`."""
    left = word_list("substitution")["left"]
    options = []
    for at in parse.words():
        token = parse.tokens[at]
        if token.pos in parts and token.lemma not in left and fits(parse, at):
            forms = [
                form for other in choice(wordnet, token.lemma, PARTS[token.pos]) if (form := form_of(other, token))
            ]
            if forms:
                options.append((at, forms))
    return options


def fits(parse: Parse, at: int) -> bool:
    """Whether the token is not part of a phrasal verb, compound or fixed expression, and can be replaced."""
    token = parse.tokens[at]
    if token.pos == "VERB":
        return token.lemma not in _LIGHT and not parse.children(at, ("prt",)) and token.dependency not in ("aux", "prt")
    compound = token.dependency == "compound" or any(child == at - 1 for child in parse.children(at, ("compound",)))
    return not compound and token.dependency not in ("prt", "neg")


def form_of(lemma: str, token: Token) -> str | None:
    """The lemma with the inflection and capitals of the token; None where it has no such form."""
    if token.tag in ("JJR", "JJS", "RBR", "RBS"):
        form = inflected(lemma, token.tag) if len(lemma) <= 5 else None
    elif token.tag == "NN" and token.text.lower() != token.lemma:
        return None
    else:
        form = inflected(lemma, token.tag)
    if form is not None and not form.isalpha():
        return None
    if token.tag == "NNS" and lemma.endswith("s") and not lemma.endswith("ss"):
        return None
    if form is None or (form == lemma and token.tag not in _SINGULAR and token.tag not in ("NNS", "VBD", "VBN")):
        return None
    return like(form, token.text)


# Words become antonyms in the same inflection (OpenMEVA, consistency): at strength 1, one for every five sentences.

# Counted over sentences: most words have no opposite in WordNet.
_ANTONYM_SHARE = 0.2


def antonyms(material: Material, strength: int, rng: Random) -> Made:
    """Edits to antonyms of words' most common meanings, from WordNet or the program's own list; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    options = substitutions(parse, material.wordnet, opposites)
    if not options:
        return Unfit("no word with an opposite")
    chosen = [replaced(parse.tokens, at, words[int(rng.random() * len(words))]) for at, words in options]
    return some_of(chosen, strength, _ANTONYM_SHARE, len(parse.sentences), rng)


# Replaces nouns and verbs by others of the same category (OpenMEVA, common sense), one of ten at strength 1. The
# paper's neighbours in ConceptNet are not available as a package, so these are WordNet's sister terms (words with the
# same hypernym).

_SISTER_SHARE = 0.1


def sister_terms(material: Material, strength: int, rng: Random) -> Made:
    """Edits to sister terms of words' most common meaning in WordNet; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    there = {token.lemma.rstrip("s") for token in material.tokens}
    options = [
        (at, others)
        for at, words in substitutions(parse, material.wordnet, sisters, ("NOUN", "VERB"))
        if (others := [word for word in words if word.lower().rstrip("s") not in there])
    ]
    if not options:
        return Unfit("no noun or verb with a kin in WordNet")
    entities = sum(token.pos in ("NOUN", "VERB") for token in material.tokens)
    chosen = [replaced(parse.tokens, at, words[int(rng.random() * len(words))]) for at, words in options]
    return some_of(chosen, strength, _SISTER_SHARE, entities, rng)


# Replaces nouns and verbs by those of other stories (OpenMEVA, relatedness), a quarter of them at strength 1.

_UNRELATED_SHARE = 0.25


def unrelated_words(material: Material, strength: int, rng: Random) -> Made:
    """Edits to words of other stories with the same part-of-speech tag that the story lacks; `Unfit` without any."""
    parse = Parse(material.tokens)
    there = {token.lemma for token in material.tokens}
    left = word_list("substitution")["left"]
    by_tag: defaultdict[str, list[str]] = defaultdict(list)
    for word in material.other_words:
        if word.lemma not in there and word.lemma not in left:
            by_tag[word.tag].append(word.text)
    places = [
        at
        for at in parse.words()
        if parse.tokens[at].pos in ("NOUN", "VERB") and parse.tokens[at].lemma not in left and fits(parse, at)
    ]
    chosen = []
    for at in places:
        token, number = parse.tokens[at], rng.random()
        words = by_tag[token.tag]
        if words:
            chosen.append(replaced(parse.tokens, at, like(words[int(number * len(words))], token.text)))
    if not chosen:
        return Unfit("no noun or verb, or none of other stories in its form")
    return some_of(chosen, strength, _UNRELATED_SHARE, len(places), rng)


# Replaces words by synonyms in the same inflection (OpenMEVA, invariance): one of 25 at strength 1.

_SYNONYM_SHARE = 0.04


def usual_synonyms(material: Material, strength: int, rng: Random) -> Made:
    """Edits to synonyms of words' most common meaning, by counts in WordNet's tagged texts; `Unfit` without any."""
    if material.wordnet is None:
        return Unfit("no WordNet")
    parse = Parse(material.tokens)
    options = substitutions(parse, material.wordnet, synonyms)
    if not options:
        return Unfit("no word with a usual synonym")
    chosen = [(at, replaced(parse.tokens, at, words[int(rng.random() * len(words))])) for at, words in options]
    safe = [edits for at, edits in chosen if _safe(material.wordnet, parse, at)]
    others = [edits for at, edits in chosen if not _safe(material.wordnet, parse, at)]
    order = [*first(safe, len(safe), rng), *first(others, len(others), rng)]
    return [edit for edits in order[: count(strength, _SYNONYM_SHARE, len(parse.tokens))] for edit in edits]


def _safe(wordnet: WordNet, parse: Parse, at: int) -> bool:
    # Words with so few meanings that a synonym probably fits are replaced first.
    token = parse.tokens[at]
    return single_sense(wordnet, token.lemma, PARTS[token.pos])
