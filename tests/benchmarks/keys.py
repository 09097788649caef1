"""A key planted in 1,000 fuzzed places, and how many files and lines of output hold it. Prints; never asserts."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.figures import Figure, show
from tests.credentials.echo_server import EchoServer
from tests.credentials.places import places
from tests.credentials.planted import leaks


def main() -> int:
    """Run judge on every place and print what holds a key, with the place's name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--places", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    began, held = time.perf_counter(), 0
    with EchoServer() as server:
        for number, place in enumerate(places(given.seed, given.places)):
            with tempfile.TemporaryDirectory() as folder:
                found = leaks(place, Path(folder), server)
            held += len(found)
            for where in found:
                print(f"{number} {place.name}: {where}")
    seconds = f"seed {given.seed}; {time.perf_counter() - began:.0f} s"
    show(f"A key in {given.places:,} places", [Figure("files and streams that hold it", held, "0", "", seconds)])
    return 0


if __name__ == "__main__":
    sys.exit(main())
