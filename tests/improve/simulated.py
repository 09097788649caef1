"""A simulated judge on loopback, whose error depends on what the prompt contains, and the stories that it rates.

Each story holds its number, by which the server knows its quality; people's ratings come of the same quality. As a
writer the server answers what a test says, else in the asked form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from judge.base.records import Rating, Story
from judge.inputs.datasets.files.native import write_stories
from tests.server import meter

_NUMBER = re.compile(r"tale (\d+)\.")
_SCALE = re.compile(r"[Ff]rom (\d+)(?:, not at all,)? to (\d+)")
_ASKED = ("Write 5 lines", "Write a numbered list", "Reword this instruction")


def stories(story_prompts: int, systems: int = 6, seed: int = 1) -> tuple[list[Story], np.ndarray[Any, Any]]:
    """Stories of all systems for each story-prompt with three people's ratings of Coherence, and their qualities."""
    rng = np.random.default_rng(seed)
    of_system = rng.normal(size=systems)
    made, qualities = [], []
    for prompt in range(story_prompts):
        of_prompt = rng.normal()
        for system in range(systems):
            quality = 0.5 * of_system[system] + 0.3 * of_prompt + 0.8 * rng.normal()
            given = np.clip(np.round(3 + 0.9 * quality + rng.normal(0, 0.8, 3)), 1, 5)
            ratings = tuple(Rating("Coherence", float(value), f"r{i}") for i, value in enumerate(given))
            words = " ".join(rng.choice(["sea", "lamp", "stair", "wind", "crow", "field"], 12))
            text = f"This is tale {len(made)}. {words}."
            title = f"About {' '.join(rng.choice(_WORDS, 6, replace=False))} number {prompt}"
            made.append(
                Story(f"s{len(made)}", made[-1].story_prompt if system else title, f"m{system}", text, None, ratings)
            )
            qualities.append(quality)
    return made, np.array(qualities)


_WORDS = [
    f"{a}{b}" for a in ("bar", "cor", "del", "fen", "gar", "hol") for b in ("ana", "ico", "ure", "ett", "oss", "im")
]


class SimulatedJudge(meter.Meter):
    """Rates by quality with an error; `skill` gives, from the prompt's text, how much of quality it sees (0 to 1), and
    `noise` is the standard deviation of one answer. `write` answers a writer's task; None: in the asked form."""

    def __init__(
        self,
        qualities: np.ndarray[Any, Any],
        skill: Callable[[str], float],
        write: Callable[[str], str] | None = None,
        noise: float = 0.6,
    ) -> None:
        super().__init__()
        self.qualities, self.skill, self.write, self.noise = qualities, skill, write, noise
        self.prompts: list[str] = []
        self.fresh: Counter[str] = Counter()

    def texts(self, prompt: str, count: int) -> list[str]:
        with self._lock:
            self.prompts.append(prompt)
            first = self.fresh[prompt]
            self.fresh[prompt] += count
        if any(words in prompt for words in _ASKED):
            return [self.write(prompt) if self.write else _in_form(prompt)] * count
        return [f"Rating: {self.rating(prompt, first + i)}" for i in range(count)]

    def rating(self, text: str, draw: int) -> int:
        """The rating of the last story in the text, at a draw, on the scale that is asked for."""
        number = int(_NUMBER.findall(text)[-1])
        rho = self.skill(text)
        shared, own, noise = (_normal(part) for part in (f"{number}", f"{number}{_kind(text)}", f"{text}{draw}"))
        error = 0.79 * shared + 0.61 * own
        latent = 0.9 * (rho * self.qualities[number] + (1 - rho**2) ** 0.5 * error) + self.noise * noise
        low, high = map(int, [("1", "5"), *_SCALE.findall(text)][-1])
        return int(np.clip(round((low + high) / 2 + (high - low) / 4 * latent), low, high))


def _kind(text: str) -> str:
    return hashlib.sha256(_NUMBER.sub("", text[:200] + text[-200:]).encode()).hexdigest()


def _normal(text: str) -> float:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return float(np.random.default_rng(number).normal())


def _in_form(text: str) -> str:
    if "Write 5 lines" in text:
        return "\n".join(f"{point}: a story of this kind" for point in range(1, 6))
    if "numbered list" in text:
        return "1. Is it whole?\n2. Does it end?\n3. Is it about one thing?"
    return "In other words:\n" + text.split("nothing else.\n\n", 1)[1]


def run_of(
    folder: Path,
    url: str,
    made: list[Story],
    *,
    judge: str = "openai/mock",
    repeats: int = 2,
    prompts: tuple[str, ...] = ("ep1",),
) -> Path:
    """A run.yaml over these stories, and their file."""
    folder.mkdir(parents=True, exist_ok=True)
    write_stories(folder / "stories.jsonl", made)
    data = {
        "dataset": "stories.jsonl",
        "judge": judge,
        "criteria": {"set": "hanna", "only": ["Coherence"]},
        "eval_prompts": list(prompts),
        "repeats": repeats,
        "base_url": url,
        "concurrency": 8,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder / "run.yaml"


def lines(file: Path) -> list[Any]:
    """Objects of a JSON Lines file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
