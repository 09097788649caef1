"""A simulated judge on loopback, whose error depends on what the prompt contains, and the stories that it rates.

Each story holds its number, by which the server knows its quality; people's ratings come of the same quality. As a
writer the server answers what a test says, else in the asked form.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from judge.base.records import Rating, Story
from judge.inputs.datasets.files.native import write_stories
from tests.server import meter

_NUMBER = re.compile(r"tale (\d+)\.")
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
    """Rates by quality with an error; `skill` gives, from the prompt's text, how much of quality it sees (0 to 1).
    `write` answers a writer's task; None: in the asked form."""

    def __init__(
        self, qualities: np.ndarray[Any, Any], skill: Callable[[str], float], write: Callable[[str], str] | None = None
    ) -> None:
        super().__init__()
        self.qualities, self.skill, self.write = qualities, skill, write
        self.prompts: list[str] = []
        self.fresh: Counter[str] = Counter()

    def answer(self, request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        text = "\n".join(message["content"] for message in request["messages"])
        count = int(request.get("n") or 1)
        with self._lock:
            self.calls += 1
            self.prompts.append(text)
            first = self.fresh[text]
            self.fresh[text] += count
        if any(words in text for words in _ASKED):
            texts = [self.write(text) if self.write else _in_form(text)] * count
        else:
            texts = [f"Rating: {self.rating(text, first + i)}" for i in range(count)]
        prompt, completion = len(text) // 4, sum(len(each) // 4 + 1 for each in texts)
        with self._lock:
            self.prompt_tokens += prompt
            self.completion_tokens += completion
        choices = [
            {"index": i, "message": {"role": "assistant", "content": each}, "finish_reason": "stop"}
            for i, each in enumerate(texts)
        ]
        return 200, {"model": request["model"], "choices": choices, "usage": self.usage(prompt, completion)}

    def rating(self, text: str, draw: int) -> int:
        """The rating of the last story in the text, at a draw."""
        number = int(_NUMBER.findall(text)[-1])
        rho = self.skill(text)
        shared, own, noise = (_normal(part) for part in (f"{number}", f"{number}{_kind(text)}", f"{text}{draw}"))
        error = 0.79 * shared + 0.61 * own
        return int(
            np.clip(round(3 + 0.9 * (rho * self.qualities[number] + (1 - rho**2) ** 0.5 * error) + 0.6 * noise), 1, 5)
        )


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


@contextmanager
def serving(judge: SimulatedJudge) -> Iterator[SimulatedJudge]:
    """The judge on loopback, for as long as the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), meter._handler(judge))
    server.daemon_threads = True
    judge.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


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
