"""The bigram model as a provider of the command line, sets of texts, and a run to set them beside."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from judge import backends
from judge.cli.main import main
from judge.ratings.ratings_table import COLUMNS

SEEN = "the cat sat on the mat and the dog sat on the log while the rain fell on the roof "
UNSEEN = "my brown quiz vexed jumbling wizards, of zip code 90210, by foxy pyx & kvetching waltz "


@pytest.fixture(scope="session", autouse=True)
def _bigrams() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(backends.SCORERS, "bigrams", "tests.contamination.bigrams")
        yield


def contamination(*arguments: object) -> int:
    """The command line; returns its exit code."""
    try:
        main(["contamination", *(str(a) for a in arguments)])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


@pytest.fixture
def run() -> Callable[..., int]:
    """`contamination`, for tests."""
    return contamination


def mixed(share: float, rng: np.random.Generator, length: int = 120) -> str:
    """A text of which about this share is in the words of the text that was trained on."""
    words = (SEEN.split(), UNSEEN.split())
    return " ".join(str(rng.choice(words[0 if rng.random() < share else 1])) for _ in range(length // 4))


@pytest.fixture(scope="session")
def _labelled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """60 texts of 12 books, the seen ones more in the words of the training text."""
    rng = np.random.default_rng(3)
    rows = []
    for i in range(60):
        label = i // 5 % 2
        text = mixed(0.55 if label else 0.4, rng)
        rows.append({"snippet": text, "label": label, "book": f"book {i // 5}", "snippet_id": i})
    path = tmp_path_factory.mktemp("contamination") / "books.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def labelled(_labelled: Path, tmp_path: Path) -> Path:
    """A copy of the labelled texts."""
    return Path(shutil.copy(_labelled, tmp_path))


@pytest.fixture(scope="session")
def _stories(_labelled: Path) -> Path:
    """160 stories of four systems for 40 story-prompts, in native form; two systems write like the training text."""
    rng = np.random.default_rng(5)
    rows = []
    for i in range(160):
        system, prompt = divmod(i, 40)
        rows.append(
            {
                "id": f"s{i}",
                "story_prompt": f"p{prompt}",
                "system": ("Human", "bigrams", "S2", "S3")[system],
                "text": mixed(0.6 if system < 2 else 0.3, rng),
            }
        )
    path = _labelled.with_name("tales.jsonl")
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def stories(_stories: Path, tmp_path: Path) -> Path:
    """A copy of the stories."""
    return Path(shutil.copy(_stories, tmp_path))


@pytest.fixture(scope="session")
def _scored(_labelled: Path, _stories: Path) -> Path:
    """Their folder with both sets' scores by bigrams/large, and thresholds by fpr=0.2."""
    thresholds, scores = (_labelled.with_name(name) for name in ("labelled.scores.jsonl", "tales.scores.jsonl"))
    how = ["--model", "bigrams/large", "--set", "threshold=fpr=0.2", "--quiet"]
    with redirect_stdout(io.StringIO()):
        assert contamination("auc", _labelled, *how, "--scores-to", thresholds, "--resamples", 50) == 0
        assert contamination("score", _stories, *how, "--calibration", thresholds, "-o", scores) == 0
    return _labelled.parent


@pytest.fixture
def calibration(_scored: Path, tmp_path: Path) -> Path:
    """The labelled set's scores, with their thresholds."""
    return Path(shutil.copy(_scored / "labelled.scores.jsonl", tmp_path))


@pytest.fixture
def made(_scored: Path, calibration: Path, tmp_path: Path) -> Path:
    """The stories' scores with that threshold."""
    shutil.copytree(_scored / "derived", tmp_path / "derived", dirs_exist_ok=True)
    return Path(shutil.copy(_scored / "tales.scores.jsonl", tmp_path))


@pytest.fixture
def folder(tmp_path: Path, stories: Path) -> Path:
    """Ratings of these stories: the judge follows people closely on the first two systems, loosely on the others."""
    rng = np.random.default_rng(7)
    rows, texts = [], []
    for story in map(json.loads, stories.read_text(encoding="utf-8").splitlines()):
        quality = 3 + rng.normal()
        noise = 0.3 if story["system"] in ("Human", "bigrams") else 1.6
        common = {"run": "r", "dataset": "tales", "story": story["id"], "system": story["system"]}
        common |= {"story_prompt": story["story_prompt"], "criterion": "Overall", "flags": "", "status": "ok"}
        for rater in range(3):
            rows.append(common | {"source": "rater", "rater": f"w{rater}", "rating": quality + rng.normal(0, 0.3)})
        judge = {"judge": "bigrams/large", "eval_prompt": "ep1", "source": "judge", "repeat": 0}
        rows.append(common | judge | {"rating": quality + rng.normal(0, noise)})
        texts.append({"dataset": "tales", "story": story["id"], "words": 30, "text": story["text"]})
    out = tmp_path / "run"
    out.mkdir()
    for name, columns, lines in (
        ("imported.csv", list(COLUMNS), rows),
        ("imported_stories.csv", ["dataset", "story", "words", "text"], texts),
    ):
        with (out / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=columns)
            writer.writeheader()
            writer.writerows(lines)
    return out
