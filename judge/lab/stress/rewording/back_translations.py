"""Paraphrases from a file of back-translations in OpenMEVA's format: a list of `{sentence: {"score": number, "trans":
text}}`, or one such object.

As in the OpenMEVA study, only back-translations with a score between .4 and .7 and of sentences with at least five
words are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Story
from judge.inputs.datasets.files.source_file import read_json
from judge.inputs.perturbations.english.sentences import sentences
from judge.lab.stress.rewording.likeness import FEWEST_WORDS

LEAST, MOST = 0.4, 0.7
_FORM = '{"sentence": {"score": 0.5, "trans": "other words"}}'


class BackTranslations:
    """Sentences and their back-translations from a file; blanks and letter case are ignored when a story's sentences
    are looked up.
    """

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
        """Paraphrases of a story's sentences, as a mapping from sentence to paraphrase; sentences without a paraphrase
        in the file are left out.
        """
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
