"""Reads OpenMEVA's MANS and AUTOS. MANS has 200 story-prompts x 5 systems x 5 ratings of overall quality. The release
sorts a story's ratings, so every rater is None, and statistics that need rater identity are not available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from judge.base.errors import DataError
from judge.base.records import Rating, Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.source_file import check_count, decode, rating_value, read_bytes, read_json, text_value
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES, LICENCES
from judge.inputs.datasets.studies import released
from judge.inputs.perturbations.perturbation import story_name

SYSTEMS = ("fusion", "s2s", "gpt_kg", "gpt", "plan_write")
CRITERION = "Overall"
SCALE = Scale(1, 5, 1)
IDS = frozenset(str(i) for i in range(1, 201))
RATERS = 5


def load_mans(name: str) -> Dataset:
    return released(
        name,
        read_stories,
        rater_identity=False,
        scale=SCALE,
        expected={"stories": 1000, "systems": 5, "story_prompts": 200, "ratings": 5000},
    )


def read_stories(path: Path) -> Iterator[Story]:
    """The 1,000 stories in the file's order, with five ratings and ids such as `125-fusion`. Raises DataError if the
    content differs from the release."""
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataError("not an object of story-prompts", file=path, found=type(content).__name__)
    check_count("story-prompts", len(content), len(IDS), path)
    strange = sorted(set(content) - IDS)
    if strange:
        raise DataError("not a MANS id", file=path, row=strange[0], found=strange[0], allowed='"1" to "200"')
    for number, entry in content.items():
        yield from _entry(number, entry, path)


def _entry(number: str, entry: Any, path: Path) -> Iterator[Story]:
    _keys(entry, ("prompt", "gold_response", "gen"), path, number)
    story_prompt = text_value(entry["prompt"], path, number, "prompt")
    reference = text_value(entry["gold_response"], path, number, "gold_response")
    _keys(entry["gen"], SYSTEMS, path, number)
    for system, story in entry["gen"].items():
        row = f"{number}-{system}"
        _keys(story, ("text", "score"), path, row)
        scores = story["score"]
        if not isinstance(scores, list) or len(scores) != RATERS:
            raise DataError("not five ratings", file=path, row=row, column="score", found=scores)
        values = [rating_value(v, SCALE, path, row, "score") for v in scores]
        yield Story(
            id=row,
            story_prompt=story_prompt,
            system=system,
            text=text_value(story["text"], path, row, "text"),
            reference=reference,
            ratings=tuple(Rating(CRITERION, v) for v in values),
        )


def _keys(value: Any, keys: tuple[str, ...], path: Path, row: str) -> None:
    if not isinstance(value, dict) or set(value) != set(keys):
        content = sorted(value) if isinstance(value, dict) else value
        raise DataError("not the keys of the released file", file=path, row=row, found=content, allowed=", ".join(keys))


# Reads AUTOS, OpenMEVA's perturbed stories: original human stories (`ID@none`) and changed ones
# (`ID@PERTURBATION.1`). The folder `roc` or `wp` holds files with lines `id|||story-prompt|||text`, some with a
# fourth field. `discrimination_test` holds, for each aspect of coherence, the coherent stories and, in a file whose
# name ends in `_perturb`, the incoherent ones. `invariance_test` holds changed stories that are as coherent as
# before, made from the human stories in `roc_test_opt.txt` (one a line, numbered from 0) and from incoherent ones in
# `roc_negative_sample.txt`. The format is inferred from the study's own scripts and its list of files; no released
# file has been read yet. Missing files are skipped. Stories of several files with the same id and text are one story.

HUMAN, NEGATIVE = "Human", "Human (incoherent)"
ASPECTS = {
    "lexical_rept": "lexical-repetition",
    "semantic_rept": "semantic-repetition",
    "character": "character",
    "commonsense": "common-sense",
    "consistency": "consistency",
    "relatedness": "relatedness",
    "cause": "causal",
    "time": "temporal",
}
SAME = {
    "synonym_substitute": "synonyms",
    "semantic_substitute": "paraphrases",
    "delete_punct": "punctuation",
    "contraction": "contractions",
    "typos": "typos",
}
# Stories as Guan et al. (2021) print them: coherent and incoherent; for invariance changed ones of human stories and
# of incoherent ones.
PRINTED: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "roc": {
        "lexical_rept": (4736, 4049),
        "semantic_rept": (4736, 3243),
        "character": (1022, 266),
        "commonsense": (1921, 448),
        "consistency": (455, 3666),
        "relatedness": (563, 3570),
        "cause": (476, 410),
        "time": (2376, 1799),
        "synonym_substitute": (3777, 2395),
        "semantic_substitute": (3174, 2194),
        "delete_punct": (574, 171),
        "contraction": (1602, 1208),
        "typos": (4755, 4763),
    },
    "wp": {
        "lexical_rept": (9922, 9022),
        "semantic_rept": (9922, 8381),
        "character": (3911, 173),
        "commonsense": (2052, 235),
        "consistency": (2914, 6239),
        "relatedness": (497, 851),
        "cause": (4552, 3057),
        "time": (9408, 7092),
        "synonym_substitute": (6961, 3590),
        "semantic_substitute": (7881, 2576),
        "delete_punct": (4535, 2287),
        "contraction": (8731, 4522),
        "typos": (15073, 15082),
    },
}

EMPTY = "lines without a story-prompt or a text"
NO_ORIGIN = "changed stories whose original is in no file"
TWICE = "changed stories of an id that stood before"
UNCHANGED = "changed stories that are their originals"


class Line(NamedTuple):
    """One line of an AUTOS file."""

    id: str
    story_prompt: str
    text: str


@dataclass(slots=True)
class _Origins:
    # Another text under an id in use gets the id `ID~SOURCE`, where SOURCE names the file.
    stories: dict[str, Story] = field(default_factory=dict)

    def add(self, name: str, line: Line, system: str, source: str) -> None:
        first = self.stories.setdefault(name, Story(name, line.story_prompt, system, line.text))
        if first.text != line.text:
            own = f"{name}~{source}"
            self.stories.setdefault(own, Story(own, line.story_prompt, system, line.text))

    def of(self, name: str, source: str) -> Story | None:
        return self.stories.get(f"{name}~{source}") or self.stories.get(name)


def load_autos(name: str) -> Dataset:
    """Dataset `autos_roc` or `autos_wp`, from those of its files that are on this machine."""
    places = {Path(relative).name: find(relative) for relative in FILES[name]}
    present = {file: path for file, path in places.items() if path is not None}
    if not any(file.endswith("_perturb.txt") for file in present):
        need(FILES[name][1], name)
    part = name.removeprefix("autos_")
    return Dataset(
        name=name,
        files=tuple(present.values()),
        stories=partial(read_changed, present, part, Counter()),
        licence_note=LICENCES[name],
        left_out=partial(left_out, present, part),
    )


def read_changed(files: Mapping[str, Path], part: str, left: Counter[str]) -> Iterator[Story]:
    """Every original story, so that each perturbed one has its own, then the perturbed, in the files' order. `part` is
    `roc` or `wp`. Those without an original, equal to it, or seen before are left out, counted in `left` by reason."""
    origins = _origins(files, part, left)
    for story in origins.stories.values():
        yield Story(story_name(story.id), story.story_prompt, story.system, story.text)
    seen: set[str] = set()
    for file, source, prefix, perturbation in _perturbed(part):
        if file not in files:
            continue
        for line in _lines(files[file], left):
            origin = origins.of(f"{prefix}{line.id}", source)
            name = story_name(origin.id if origin else line.id, perturbation)
            if origin is None:
                left[NO_ORIGIN] += 1
            elif origin.text == line.text:
                left[UNCHANGED] += 1
            elif name in seen:
                left[TWICE] += 1
            else:
                seen.add(name)
                yield Story(name, line.story_prompt, origin.system, line.text)


def left_out(files: Mapping[str, Path], part: str) -> Mapping[str, int]:
    """Stories left out, by reason, and files with another number of stories than the study reports."""
    left: Counter[str] = Counter()
    for _ in read_changed(files, part, left):
        pass
    for mode, (first, second) in PRINTED[part].items():
        coherent = f"{part}_{mode}.txt" if mode in ASPECTS else f"{part}_{mode}_perturb.txt"
        other = f"{part}_{mode}_perturb.txt" if mode in ASPECTS else f"{part}_negative_sample_{mode}_perturb.txt"
        for file, printed in ((coherent, first), (other, second)):
            if file in files:
                count = sum(1 for _ in _lines(files[file], Counter()))
                if count != printed:
                    left[f"nothing of {file}, which holds ({printed} are printed)"] = count
    return dict(left)


def _origins(files: Mapping[str, Path], part: str, left: Counter[str]) -> _Origins:
    origins = _Origins()
    for mode in ASPECTS:
        path = files.get(f"{part}_{mode}.txt")
        for line in _lines(path, left) if path else ():
            origins.add(line.id, line, HUMAN, mode)
    path = files.get(f"{part}_negative_sample.txt")
    for index, line in enumerate(_lines(path, Counter(), blank=True) if path else ()):
        # The study's script counts lines here, and does not look at their ids.
        if line.text:
            origins.add(f"negative-{index}", line, NEGATIVE, "sample")
    prompts, texts = (files.get(f"{part}_test_{end}.txt") for end in ("ipt", "opt"))
    if prompts is not None and texts is not None:
        read = zip(_plain_lines(prompts), _plain_lines(texts), strict=False)
        for index, (story_prompt, text) in enumerate(read):
            if text:
                # As the study does: the changed stories of this part are in lower case.
                origins.add(
                    str(index), Line(str(index), story_prompt, text.lower() if part == "wp" else text), HUMAN, "test"
                )
    return origins


def _perturbed(part: str) -> Iterator[tuple[str, str, str, str]]:
    # File, source of the originals, prefix of their ids, and perturbation.
    for mode, perturbation in ASPECTS.items():
        yield f"{part}_{mode}_perturb.txt", mode, "", perturbation
    for mode, perturbation in SAME.items():
        yield f"{part}_{mode}_perturb.txt", "test", "", perturbation
    for mode, perturbation in SAME.items():
        yield f"{part}_negative_sample_{mode}_perturb.txt", "sample", "negative-", perturbation


def _lines(path: Path, left: Counter[str], *, blank: bool = False) -> Iterator[Line]:
    # Lines without a story-prompt or a text are counted in `left`; with `blank` they are kept, so that line numbers
    # count.
    for row, line in enumerate(_plain_lines(path), start=1):
        if not line and not blank:
            continue
        cells = [cell.strip() for cell in line.split("|||")]
        if not line:
            cells = ["", "", ""]
        if len(cells) not in (3, 4) or (cells[0] and not cells[0].isdecimal()):
            allowed = "id|||story-prompt|||text, and perhaps a fourth part"
            raise DataError("not a line of AUTOS", file=path, row=row, found=line[:80], allowed=allowed)
        if not blank and not (cells[1] and cells[2]):
            left[EMPTY] += 1
            continue
        yield Line(*cells[:3])


def _plain_lines(path: Path) -> list[str]:
    # Not splitlines(): texts may hold U+2028 and its like.
    lines = [line.strip() for line in decode(read_bytes(path), path, 1).split("\n")]
    return lines[:-1] if lines and not lines[-1] else lines
