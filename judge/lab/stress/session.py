"""Generation of a file of perturbed stories from a dataset, and of the facts file with the edits."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from judge.base.errors import DataError, MissingExtraError, OptionError, SpecError
from judge.base.files import draft
from judge.base.fingerprint import digest, fingerprint_file
from judge.base.records import Story
from judge.inputs.datasets import locate
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.native import story_line
from judge.inputs.datasets.files.source_file import read_json
from judge.inputs.perturbations.character import attacks_version
from judge.inputs.perturbations.lists import lists_version
from judge.inputs.perturbations.parse import Tagger
from judge.inputs.perturbations.perturbation import Facts, Material, Need, Token, Words, facts_path, read_name
from judge.inputs.perturbations.sentences import sentences
from judge.inputs.wordnet import WordNet
from judge.lab.stress.making import (
    Coverage,
    MakeOptions,
    Perturbed,
    lacking,
    recorded,
    untouched,
    versions,
    write_end,
    write_head,
    write_version,
)
from judge.lab.stress.rewording import FEWEST_WORDS, FORM, Rewriter
from judge.version import __version__, installed

# Grammar filter for perturbed stories: a classifier named by the user checks the changed sentences. Without a
# classifier no story is filtered. The OpenMEVA study kept sentences that a BERT model trained on CoLA scored .5 or
# more, and did not filter typos.

UNGRAMMATICAL = "a changed sentence is not grammatical to the classifier"
_LEAST = 0.5
_UNASKED = frozenset({"typos"})


def is_filtered(facts: Facts) -> bool:
    """Whether the classifier checks a perturbation: those of discrimination and invariance tests, but not typos."""
    return facts.test in ("discrimination", "invariance") and facts.name not in _UNASKED


class Grammar:
    """A sequence classifier (package transformers) of grammatical sentences; its model is loaded once."""

    def __init__(self, model: str, label: int) -> None:
        self._tokenizer, self._model = _loaded(model)
        count = int(self._model.config.num_labels)
        if not 0 <= label < count:
            raise OptionError("grammar_label", label, f"is none of the model's {count} labels, 0 to {count - 1}")
        self._label = label
        self.identity = f"{_name(model)}, label {label}, >= {_LEAST:g}"
        self._score = lru_cache(maxsize=1 << 14)(self._asked)

    def accepts(self, text: str, origin: str) -> bool:
        """Whether all sentences of `text` that are not in the original text are grammatical."""
        own_sentences = {origin[slice(*span)] for span in sentences(origin)}
        fresh = [text[slice(*span)] for span in sentences(text)]
        return all(self._score(sentence) >= _LEAST for sentence in fresh if sentence not in own_sentences)

    def _asked(self, sentence: str) -> float:
        import torch

        with torch.inference_mode():
            read = self._tokenizer(sentence, return_tensors="pt", truncation=True)
            scores = self._model(**read).logits[0].float()
        return float(torch.softmax(scores, -1)[self._label])


def _name(model: str) -> str:
    """As given or, for a local folder, its name with a hash of its weights."""
    weights = sorted(Path(model).glob("*.safetensors")) if Path(model).is_dir() else []
    return f"{Path(model).name} {fingerprint_file(weights[0])}" if weights else model


def _loaded(model: str) -> tuple[Any, Any]:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("a model of grammar", "hf") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        return tokenizer, transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise SpecError(f"{model} cannot be loaded: {reason}", hint="give a folder of a sentence classifier") from error


# A fixed sample of stories of a dataset with their nouns and verbs, from which perturbations of other stories take
# material.

# Stories kept of each system.
SAMPLE = 128

T = TypeVar("T")

_TAGS = ("NN", "NNS", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ")
_SHORTEST = 3


@dataclass(frozen=True, slots=True, eq=False)
class Others:
    """Sample of a dataset's stories as material for perturbations, with nouns and verbs, by system."""

    stories: Mapping[str, Sequence[Story]]
    words: Mapping[str, Sequence[Words]]

    def stories_for(self, story: Story) -> list[Story]:
        """Material for a story: its system's stories for other story-prompts, or else those of all systems."""
        return _for_others(self.stories, story, lambda other: _other(other.story_prompt, other.id, story))

    def words_for(self, story: Story) -> list[Words]:
        """Nouns and verbs of its system's stories for other story-prompts, or else of all systems'."""
        return _for_others(self.words, story, lambda word: _other(word.story_prompt, "", story))


def _for_others(by_system: Mapping[str, Sequence[T]], story: Story, fits: Callable[[T], bool]) -> list[T]:
    own = [entry for entry in by_system.get(story.system, ()) if fits(entry)]
    return own or [entry for some in by_system.values() for entry in some if fits(entry)]


def _other(story_prompt: str, name: str, story: Story) -> bool:
    return name != story.id and (story_prompt != story.story_prompt or not story_prompt.strip())


def sampled(stories: Iterable[Story], seed: int, tagger: Tagger | None) -> Others:
    """A random sample of at most 128 stories of each system, with words if there is a tagger."""
    heaps: dict[str, list[tuple[int, str, Story]]] = {}
    for story in stories:
        heap = heaps.setdefault(story.system, [])
        entry = (-int.from_bytes(digest(f"{seed}\x00{story.id}", 8), "little"), story.id, story)
        if len(heap) < SAMPLE:
            heapq.heappush(heap, entry)
        elif entry > heap[0]:
            heapq.heapreplace(heap, entry)
    kept = {system: [story for _, _, story in sorted(heap, reverse=True)] for system, heap in sorted(heaps.items())}
    words: dict[str, list[Words]] = {}
    if tagger is not None:
        for system, some in kept.items():
            tagged = tagger.tagged(story.text for story in some)
            words[system] = [
                Words(token.text.lower(), token.lemma, token.tag, story.story_prompt)
                for story, tokens in zip(some, tagged, strict=True)
                for token in tokens
                if _usable(token)
            ]
    return Others(kept, words)


def _usable(token: Token) -> bool:
    return (
        token.tag in _TAGS
        and token.pos in ("NOUN", "VERB")
        and token.text.isalpha()
        and token.text.isascii()
        and len(token.text) >= _SHORTEST
    )


# Paraphrases from a file of back-translations in OpenMEVA's format: a list of `{sentence: {"score": number, "trans":
# text}}`, or one such object.

LEAST, MOST = 0.4, 0.7
_FORM = '{"sentence": {"score": 0.5, "trans": "other words"}}'


class BackTranslations:
    """Back-translations from a file; blanks and letter case are ignored in look-ups."""

    def __init__(self, path: Path) -> None:
        self.path = path
        content = read_json(path)
        self._known: dict[str, str] = {}
        for number, part in enumerate(content if isinstance(content, list) else [content], start=1):
            if not isinstance(part, dict):
                raise DataError("not sentences with back-translations", file=path, row=number, allowed=_FORM)
            for sentence, entry in part.items():
                score, translation = _entry(entry, path, number, sentence)
                if LEAST <= score <= MOST and len(sentence.split()) >= FEWEST_WORDS:
                    self._known[_key(sentence)] = translation.strip()

    def of(self, story: Story) -> Mapping[str, str]:
        """Paraphrases of a story's sentences; those without one are left out."""
        translations = {}
        for start, end in sentences(story.text):
            translation = self._known.get(_key(story.text[start:end]))
            if translation:
                translations[story.text[start:end]] = translation
        return translations


def _entry(entry: Any, path: Path, number: int, sentence: str) -> tuple[float, str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("trans"), str):
        raise DataError("no back-translation", file=path, row=number, column=sentence, found=entry, allowed=_FORM)
    score = entry.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise DataError("no score", file=path, row=number, column=sentence, found=score, allowed="a number")
    return float(score), entry["trans"]


def _key(sentence: str) -> str:
    return " ".join(sentence.lower().split())


Progress = Callable[[int], None]
# The system of reference stories that are changed.
REFERENCE = "Human"


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The two written files, the coverage, and the settings."""

    stories: Path
    facts: Path
    coverage: Coverage
    made_of: Mapping[str, Any]


def make(dataset: Dataset, options: MakeOptions, output: Path, progress: Progress | None = None) -> Made:
    """Generate the file of perturbed stories and the facts file beside it. Neither may exist, and they appear only when
    complete. Raises SpecError for a perturbation that is not available here, DataError where the dataset is already
    perturbed."""
    facts = facts_path(output)
    for path in (output, facts):
        if path.exists():
            raise DataError("exists already", file=path, hint="give another name, or delete the file first")
    for entry in options.wanted:
        missing = lacking(entry.facts, reworded=bool(options.rewriter or options.back_translations))
        if missing is not None:
            raise SpecError(f"perturbation {entry.facts.name} cannot be made here", hint=missing)
    workshop = Workshop(dataset, options, output)
    coverage = Coverage.of(options.wanted)
    made_of = workshop.made_of()
    try:
        with ExitStack() as open_files:
            fresh, fresh_facts = (open_files.enter_context(draft(path)) for path in (output, facts))
            lines = open_files.enter_context(fresh.open("wb"))
            notes = open_files.enter_context(fresh_facts.open("wb"))
            write_head(notes, made_of)
            for material in workshop.materials():
                made_versions = [
                    workshop.filtered(material.story, v) for v in versions(material, options.wanted, options.seed)
                ]
                lines.write(story_line(untouched(material.story), dataset.labels))
                for each in made_versions:
                    if each.story is not None:
                        lines.write(story_line(each.story))
                        write_version(notes, material.story.id, each)
                coverage.add(made_versions)
                if progress is not None:
                    progress(coverage.stories)
            if not coverage.stories:
                raise SpecError("no story is left to change", hint=f"judge data check {dataset.name}")
            write_end(notes, coverage)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=error.filename or output) from error
    return Made(output, facts, coverage, made_of)


def origins(dataset: Dataset, options: MakeOptions) -> Iterator[Story]:
    """The unchanged stories to be perturbed, in the dataset's order."""
    stories = _references(dataset) if options.references else _of_systems(dataset, options.systems)
    return islice(stories, options.limit)


def _of_systems(dataset: Dataset, systems: tuple[str, ...]) -> Iterator[Story]:
    there: set[str] = set()
    for story in dataset.stories():
        there.add(story.system)
        if read_name(story.id) is not None:
            raise DataError(f"{dataset.name} holds perturbed stories already", column="id", found=story.id)
        if not systems or story.system in systems:
            yield story
    lost = [system for system in systems if system not in there]
    if lost:
        raise SpecError(f"{dataset.name} has no system {lost[0]!r}; it has {', '.join(sorted(there))}")


def _references(dataset: Dataset) -> Iterator[Story]:
    # A yielded story has no reference itself, since an Eval-Prompt that shows it would reveal the changes.
    seen: set[tuple[str, str]] = set()
    for story in dataset.stories():
        if story.reference is None or not story.reference.strip():
            continue
        key = (story.story_prompt, story.reference)
        if key not in seen:
            seen.add(key)
            yield replace(
                story, id=f"{story.id}~reference", system=REFERENCE, text=story.reference, reference=None, ratings=()
            )
    if not seen:
        raise SpecError(f"{dataset.name} has no reference stories")


class Workshop:
    """Tagger, WordNet, rewriter and grammar filter, prepared once."""

    def __init__(self, dataset: Dataset, options: MakeOptions, output: Path) -> None:
        self._dataset, self._options = dataset, options
        needs: set[Need] = {need for entry in options.wanted for need in entry.facts.needs}
        self._tagger = Tagger(options.tagger) if "tagger" in needs else None
        wordnet_folder = locate.wordnet_folder() if "wordnet" in needs else None
        self._wordnet = None if wordnet_folder is None else WordNet(wordnet_folder)
        self._grammar = Grammar(options.grammar, options.grammar_label) if options.grammar else None
        self._reworded = _reworded(options, output) if "rewriter" in needs else None
        if isinstance(self._reworded, Rewriter):
            self._reworded.prepare(origins(dataset, options))
        self._others: Others | None = None
        if "other-stories" in needs:
            everything = replace(options, limit=None, systems=())
            self._others = sampled(origins(dataset, everything), options.seed, self._tagger)

    def made_of(self) -> dict[str, Any]:
        """The settings and tools; refused paraphrases by reason, None without a model that writes them."""
        rewriter = self._reworded
        packages = ("spacy", "lemminflect") if self._tagger else ()
        return {
            "version": __version__,
            "dataset": self._dataset.name,
            "dataset_fingerprint": self._dataset.fingerprint(),
            **recorded(self._options),
            "tagger": self._tagger.version if self._tagger else None,
            "packages": {name: installed(name) for name in packages},
            "wordnet": "3.0" if self._wordnet else None,
            "grammar": self._grammar.identity if self._grammar else "unfiltered",
            "lists": lists_version(),
            "attacks": attacks_version(),
            "rewordings": (
                {"form": FORM, "not_taken": dict(rewriter.reasons)} if isinstance(rewriter, Rewriter) else None
            ),
        }

    def filtered(self, origin: Story, version: Perturbed) -> Perturbed:
        """The version; without a story, and with a reason, if a changed sentence is ungrammatical."""
        if self._grammar is None or version.story is None or not is_filtered(version.facts):
            return version
        if self._grammar.accepts(version.story.text, origin.text):
            return version
        return replace(version, edits=(), story=None, reason=UNGRAMMATICAL)

    def materials(self) -> Iterator[Material]:
        """What perturbations work on, for each story to be changed."""
        stories = origins(self._dataset, self._options)
        while some := list(islice(stories, 64)):
            tagged = self._tagger.tagged(story.text for story in some) if self._tagger else iter([()] * len(some))
            for story, tokens in zip(some, tagged, strict=True):
                yield Material(
                    story,
                    tokens,
                    self._others.stories_for(story) if self._others else (),
                    self._others.words_for(story) if self._others else (),
                    self._wordnet,
                    self._reworded.of(story) if self._reworded else {},
                    self._options.top,
                )


def _reworded(options: MakeOptions, output: Path) -> Rewriter | BackTranslations | None:
    if options.back_translations is not None:
        return BackTranslations(options.back_translations)
    if options.rewriter is None:
        return None
    kept = output.with_suffix(".rewordings.jsonl")
    return Rewriter(options.rewriter, kept, encoder=options.encoder, seed=options.seed, base_url=options.base_url)
