"""Generation of a file of perturbed stories from a dataset, and of the facts file with the edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import islice
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, SpecError
from judge.base.records import Story
from judge.base.whole_file import draft
from judge.inputs.datasets import wordnet_files
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.native import story_line
from judge.inputs.perturbations.attacks import written_around
from judge.inputs.perturbations.english.tagging import Tagger
from judge.inputs.perturbations.lists import lists_version
from judge.inputs.perturbations.perturbation import Material, Need
from judge.inputs.perturbations.story_name import read_name
from judge.inputs.wordnet import WordNet
from judge.lab.stress.availability import lacking
from judge.lab.stress.coverage import Coverage
from judge.lab.stress.facts_file import facts_path, write_end, write_head, write_version
from judge.lab.stress.grammar import UNGRAMMATICAL, Grammar, is_filtered
from judge.lab.stress.making import Perturbed, untouched, versions
from judge.lab.stress.options import MakeOptions, recorded
from judge.lab.stress.others import Others, sampled
from judge.lab.stress.rewording.back_translations import BackTranslations
from judge.lab.stress.rewording.rewriter import FORM, Rewriter
from judge.version import __version__

Progress = Callable[[int], None]
REFERENCE = "Human"
"""The system of reference stories that are changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """Result of generating perturbed stories: the paths of the two files written (stories, and facts about their
    edits), the coverage of each perturbation, and the settings.
    """

    stories: Path
    facts: Path
    coverage: Coverage
    made_of: Mapping[str, Any]


def make(dataset: Dataset, options: MakeOptions, output: Path, progress: Progress | None = None) -> Made:
    """Generate the file of perturbed stories of a dataset and the facts file with their edits, and return a description
    of both. `output` is the path of the file of stories. Neither file may exist before, and they appear only when they
    are complete.

    Raises SpecError where a perturbation is not available on this machine, and DataError where the stories of the
    dataset are already perturbed.
    """
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
    """Yield the unchanged stories that are to be perturbed, in the order of the dataset."""
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
    """Yield each reference story of a dataset once, as a story with the identifier of the first story that has it,
    followed by `~reference`.

    The yielded story has no reference story itself, since an Eval-Prompt that shows the reference would reveal the
    changes.
    """
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
    """Resources for the requested perturbations (tagger, WordNet, rewriter, grammar filter), prepared once."""

    def __init__(self, dataset: Dataset, options: MakeOptions, output: Path) -> None:
        self._dataset, self._options = dataset, options
        needs: set[Need] = {need for entry in options.wanted for need in entry.facts.needs}
        self._tagger = Tagger(options.tagger) if "tagger" in needs else None
        wordnet_folder = wordnet_files.find() if "wordnet" in needs else None
        self._wordnet = None if wordnet_folder is None else WordNet(wordnet_folder)
        self._grammar = Grammar(options.grammar, options.grammar_label) if options.grammar else None
        self._reworded = _reworded(options, output) if "rewriter" in needs else None
        if isinstance(self._reworded, Rewriter):
            self._reworded.prepare(origins(dataset, options))
        self._others: Others | None = None
        if "other-stories" in needs:
            everything = _whole(options)
            self._others = sampled(origins(dataset, everything), options.seed, self._tagger)

    def made_of(self) -> dict[str, Any]:
        """The settings with which the stories are perturbed, as plain data for the facts file."""
        packages = ("spacy", "lemminflect") if self._tagger else ()
        return {
            "version": __version__,
            "dataset": self._dataset.name,
            "dataset_fingerprint": self._dataset.fingerprint(),
            **recorded(self._options),
            "tagger": self._tagger.version if self._tagger else None,
            "packages": {name: _version(name) for name in packages},
            "wordnet": "3.0" if self._wordnet else None,
            "grammar": self._grammar.identity if self._grammar else "unfiltered",
            "lists": lists_version(),
            "attacks": written_around.lists_version(),
            "rewordings": self._rewordings(),
        }

    def _rewordings(self) -> dict[str, Any] | None:
        """Facts about the paraphrases for the facts file: the version of the request that asks for a paraphrase, and
        the number of refused paraphrases for each reason. None where no model paraphrases sentences.
        """
        rewriter = self._reworded
        return {"form": FORM, "not_taken": dict(rewriter.reasons)} if isinstance(rewriter, Rewriter) else None

    def filtered(self, origin: Story, version: Perturbed) -> Perturbed:
        """The perturbed version of a story after the grammar filter. If the classifier finds a changed sentence
        ungrammatical, the result has no story, and this is its reason; otherwise it is the version as given.
        """
        if self._grammar is None or version.story is None or not is_filtered(version.facts):
            return version
        if self._grammar.accepts(version.story.text, origin.text):
            return version
        return replace(version, edits=(), story=None, reason=UNGRAMMATICAL)

    def materials(self) -> Iterator[Material]:
        """Yield, for each story to be changed, the material that perturbations work on: the story, its tagged words,
        other stories, and paraphrases.
        """
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


def _whole(options: MakeOptions) -> MakeOptions:
    """A copy of the options without a limit and without a selection of systems, so that all stories of the dataset are
    included.
    """
    return replace(options, limit=None, systems=())


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
