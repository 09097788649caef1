"""How long pages of `judge view` take at 150,000 judgments, and what the server holds. Prints; never asserts.

A run of 2,083 generated stories x 6 criteria x 4 Eval-Prompts x 3 repeats by the control judge is made once
(`--folder` keeps it). 200 requests of all kinds go over a real socket, one after the other: while the index, tables
and map are being computed, and again when all that is done. `--computed` takes what an earlier time computed.
"""

from __future__ import annotations

import http.client
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import orjson

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder
from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show

STORIES, SYSTEMS, REQUESTS = 2_083, 11, 200
CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
WORDS = [
    "the",
    "a",
    "lamp",
    "keeper",
    "ship",
    "storm",
    "waited",
    "turned",
    "letter",
    "night",
    "before",
    "after",
    "sister",
    "winter",
    "road",
    "glass",
    "under",
    "slowly",
    "mountain",
    "promise",
    "forgot",
    "answered",
    "window",
    "salt",
    "harbour",
    "never",
    "only",
    "with",
    "and",
    "of",
    "her",
    "his",
    "when",
    "until",
    "garden",
    "silver",
]


def make(folder: Path) -> Path:
    """The run, unless it is there; its folder."""
    run = folder / "big"
    if (run / "surface" / "journal.sqlite").is_file():
        return run
    run.mkdir(parents=True, exist_ok=True)
    rng = random.Random(3)
    with (run / "stories.jsonl").open("wb") as stream:
        prompt = ""
        for number in range(STORIES):
            place = number % SYSTEMS
            prompt = _text(rng, 25) if place == 0 else prompt
            ratings = [
                {"rater": f"w{r}", "criterion": c, "value": rng.randint(1, 5)} for r in range(3) for c in CRITERIA
            ]
            story = {"id": f"{number // SYSTEMS}-S{place}", "story_prompt": prompt, "system": f"S{place}"}
            story |= {"text": _text(rng, rng.randint(120, 400)), "reference": _text(rng, 200), "ratings": ratings}
            stream.write(orjson.dumps(story, option=orjson.OPT_APPEND_NEWLINE))
    definition = {
        "name": "big",
        "dataset": "stories.jsonl",
        "judge": "surface",
        "criteria": "hanna",
        "eval_prompts": ["ep1", "ep2", "ep3", "ep4"],
        "repeats": 3,
        "generation": {"temperature": 1, "seed": 7},
    }
    (run / "run.yaml").write_bytes(orjson.dumps(definition))
    subprocess.run([sys.executable, "-m", "judge", "run", str(run), "--quiet"], check=True)
    return run


def _text(rng: random.Random, count: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(count)).capitalize() + "."


def add_map(run: Path) -> None:
    """A map of all explanations as `judge explain` leaves one, with places drawn at random: drawing one takes long."""
    from judge.explanations.mapping.stored_map import POINT, StoredMap, write

    rng = random.Random(5)
    folder = ResultFolder(run / "surface")
    with JournalReader(folder.journal) as journal:
        rows = [(s, c, e) for _, s, c, e in journal.queries() if e != "ep1"]
    points = []
    for story, criterion, prompt in sorted(rows):
        for repeat in range(3):
            place = (rng.gauss(0, 5), rng.gauss(0, 5))
            system = story.partition("-")[2]
            cluster = rng.randrange(-1, 20)
            values = ("surface", story, system, criterion, prompt, repeat, rng.randint(1, 5), None, cluster, *place)
            points.append(dict(zip(POINT, values, strict=True)))
    words = {str(k): rng.sample(WORDS, 8) for k in range(20)}
    write(folder, StoredMap("a signature", "a model", "places drawn at random", points, [], words))


def addresses(rng: random.Random) -> Iterator[tuple[str, str]]:
    """(kind, address) of `REQUESTS` requests of all kinds, in a drawn order."""
    story = f"{rng.randrange(189)}-S{rng.randrange(SYSTEMS)}"
    kinds = {
        "runs": ["/", "/part/runs"],
        "overview": ["/run/big", "/run/big/part/standing"],
        "judgments, plain": ["/run/big/judgments?" + urlencode({"after": rng.randrange(STORIES) << 32})],
        "judgments, filters": [
            "/run/big/judgments?"
            + urlencode({"criterion": rng.choice(CRITERIA), "system": f"S{rng.randrange(SYSTEMS)}"}),
            "/run/big/judgments?"
            + urlencode({"rating": 5, "eval_prompt": "ep3", "after": rng.randrange(STORIES) << 32}),
            "/run/big/judgments?" + urlencode({"status": "refused"}),
            "/run/big/judgments?" + urlencode({"flag": "cut", "before": rng.randrange(STORIES) << 32}),
        ],
        "judgments, text": [
            "/run/big/judgments?" + urlencode({"text": "story-prompt is 7%"}),
            "/run/big/judgments?" + urlencode({"text": "not in any answer"}),
        ],
        "stories": ["/run/big/stories?" + urlencode({"after": rng.randrange(STORIES)})],
        "story": ["/run/big/story?" + urlencode({"story": story})] * 3,
        "prompts": ["/run/big/prompts?" + urlencode({"story": story, "a": "ep1", "b": f"ep{rng.randint(2, 4)}"})] * 2,
        "map": [
            "/run/big/map?" + urlencode({"cluster": rng.randrange(20), "criterion": rng.choice(CRITERIA)}),
            f"/run/big/part/dot?judge=surface&number={rng.randrange(100_000)}",
            "/run/big/map.json",
        ],
        "tables": ["/run/big/tables?show=correlate", "/run/big/tables?show=coverage"],
        "disagreements": ["/run/big/disagreements"],
    }
    every = [(kind, address) for kind, known in kinds.items() for address in known]
    rng.shuffle(every)
    yield from every


class Served:
    """`judge view` as a process."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "judge", "view", str(folder), "--port", "0", "--quiet"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        address = self.process.stdout.readline().strip()
        self.connection = http.client.HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=60)

    def ask(self, address: str) -> tuple[float, int, str]:
        """(milliseconds, status, text) of one request, redirects followed within the time."""
        began = time.perf_counter()
        while True:
            self.connection.request("GET", address)
            response = self.connection.getresponse()
            body = response.read()
            if response.status not in (302, 303, 307):
                return (time.perf_counter() - began) * 1000, response.status, body.decode()
            address = str(response.getheader("location"))
            address = address[address.index("/run/") :]

    def rss(self) -> tuple[float, float]:
        """(now, peak) resident memory in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = {
            line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmRSS", "VmHWM"))
        }
        return found["VmRSS"], found["VmHWM"]

    def cpu(self) -> float:
        """Milliseconds of processor time that the server itself has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End it as Ctrl-C would."""
        self.connection.close()
        self.process.terminate()
        self.process.wait(20)


@contextmanager
def _served(folder: Path) -> Iterator[Served]:
    server = Served(folder)
    try:
        yield server
    finally:
        server.close()


def measure(server: Served, seed: int) -> tuple[list[float], dict[str, list[float]]]:
    """Milliseconds of `REQUESTS` requests, in all and by kind."""
    rng = random.Random(seed)
    times: list[float] = []
    kinds: dict[str, list[float]] = {}
    while len(times) < REQUESTS:
        for kind, address in addresses(rng):
            spent, status, text = server.ask(address)
            if status not in (200, 404) or (status == 404 and "map" not in address and "dot" not in address):
                raise SystemExit(f"{address} answered {status}: {text[:300]}")
            times.append(spent)
            kinds.setdefault(kind, []).append(spent)
            if len(times) == REQUESTS:
                break
    return times, kinds


def wait(server: Served) -> float:
    """Seconds until nothing is being computed any more."""
    began = time.perf_counter()
    pages = ["/run/big", "/run/big/map", "/run/big/disagreements", "/run/big/tables?show=compare-judges"]
    while any('class="waiting"' in server.ask(page)[2] for page in pages):
        time.sleep(2)
    return time.perf_counter() - began


def _beside(times: list[float] | None) -> str:
    return f"; while it computes {median(times):.0f}" if times else ""


def main() -> int:
    """Measure and print."""
    parser = options.parser(__doc__, rounds=1)
    parser.add_argument("--folder", type=Path, help="where the run lies, or is to lie")
    parser.add_argument("--computed", action="store_true", help="with --folder: measure with what is computed alone")
    given = options.check(parser.parse_args())
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        run = make(folder)
        if not given.computed:
            for old in [*(run / "surface").glob("derived/*"), *run.glob("derived/*")]:
                old.unlink()
            add_map(run)
        with _served(folder) as server:
            before = server.rss()
            during, kinds_during = ([], {}) if given.computed else measure(server, 11)
            memory_during = server.rss()
            computed = wait(server)
            used = server.cpu()
            after, kinds = measure(server, 12)
            used = server.cpu() - used
            memory = server.rss()
    figures = []
    for name, times in (("background done", after), ("while it computes", during)):
        if not times:
            continue
        ordered = sorted(times)
        figures.append(Figure(f"median, {name}", median(times), "<= 100", "ms", f"{REQUESTS} requests"))
        figures.append(
            Figure(
                f"95th percentile, {name}", ordered[int(0.95 * len(ordered))], "<= 300", "ms", f"most {ordered[-1]:.0f}"
            )
        )
    figures.append(Figure("processor time a request", used / REQUESTS, "", "ms", "of the server; what it takes alone"))
    note = f"{before[0]:.0f} at the start, peak {memory_during[1]:.0f} while it computes"
    figures.append(Figure("resident memory, peak", memory[1], "<= 300", "MB", note))
    figures.append(
        Figure("background, from the first page", computed, "", "s", "index, map, tables, disagreements; not a bar")
    )
    show(f"judge view at {STORIES * 72:,} judgments", figures)
    rows = [
        Figure(kind, median(times), "", "ms", f"most {max(times):.0f}{_beside(kinds_during.get(kind))}")
        for kind, times in sorted(kinds.items())
    ]
    show("By kind of page, medians", rows)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
