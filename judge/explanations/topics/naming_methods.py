"""Names of topics by the method that was chosen, with the sentences that say how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from judge.explanations.options import Step
from judge.explanations.topics import naming
from judge.explanations.topics.asked_names import asked_names, check_judge, with_phrases


@dataclass(frozen=True, slots=True)
class Naming:
    """How topics are named: the method or judge, the model of embeddings, the cache of vectors and answers, and who is
    told of progress. Raises SpecError for a judge that writes nothing."""

    by: str
    model: str
    cache: Path | None
    step: Step

    def __post_init__(self) -> None:
        if self.by not in (naming.PHRASES, naming.CTFIDF, naming.KEYBERT):
            check_judge(self.by)

    def all(
        self, *labelled: tuple[naming.Labelled, tuple[str, ...], str]
    ) -> tuple[tuple[list[naming.Phrases], ...], tuple[str, ...]]:
        """Phrases of the topics of each of `labelled`, with the criteria's names and a word for what is named; and
        notes."""
        made, notes = [], []
        for texts, criteria, what in labelled:
            phrases, note = self._of(texts, criteria, what)
            made.append(phrases)
            notes.append(note)
        return tuple(made), tuple(dict.fromkeys(note for note in notes if note))

    def _of(self, texts: naming.Labelled, criteria: tuple[str, ...], what: str) -> tuple[list[naming.Phrases], str]:
        if self.by == naming.PHRASES:
            return naming.names(texts), ""
        if self.by == naming.CTFIDF:
            return naming.class_names(
                texts
            ), "names: words and pairs of highest class-TF-IDF; stop words, as not, are left out"
        if self.by == naming.KEYBERT:
            self.step("embedding texts of topics", 0, 0)
            phrases, note = naming.keybert_names(texts, self.model, self.cache)
            return phrases, f"names by KeyBERT among words of class-TF-IDF; stop words, as not, are left out; {note}"
        found = asked_names(
            self.by, texts, criteria, self.cache,
            lambda done, total: self.step(f"asking {self.by} for names of {what}", done, total),
        )  # fmt: skip
        return with_phrases(found, naming.names(texts)), found.note(self.by, what)
