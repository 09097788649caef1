"""Two nodes of a Ray cluster on this machine, each a raylet of its own; one of them dies while the run goes on."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ray.test_ray_run import Start, content, definition

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(500)]


@pytest.fixture
def two_nodes(ray_installed: None) -> Iterator[Any]:
    """A head and one more node, one core each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.second = cluster.add_node(num_cpus=1)
    yield cluster
    cluster.shutdown()


def go_on(command: list[str]) -> None:
    """The same command on the node that is left, with one actor; again, as it says, where Ray ends it once more."""
    for _ in range(3):
        again = subprocess.run([*command, "--ray-actors", "1"], capture_output=True, check=False, timeout=150)
        if again.returncode == 0:
            return
        assert b"the same command merges it and goes on" in again.stderr, again.stderr.decode()[-2000:]
    raise AssertionError(f"three sessions ended:\n{again.stderr.decode()[-2000:]}")


def test_a_node_that_dies_costs_what_it_had_not_written(two_nodes: Any, loopback: Start, stories: Path) -> None:
    server = loopback(latency_ms=120)
    run = stories.parent / "run.yaml"
    run.write_text(json.dumps(definition(server, stories, repeats=1)))
    command = [sys.executable, "-m", "judge", "run", str(run), "--engine", "ray", "--ray-actors", "2", "--quiet"]
    command += ["--ray-address", two_nodes.address]
    driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        server.wait(timeout=150, answered=60)
        two_nodes.remove_node(two_nodes.second, allow_graceful=False)
        driver.communicate(timeout=150)
    finally:
        if driver.poll() is None:
            driver.kill()
            driver.communicate(timeout=20)
    # Until Ray itself knows of the death, it may hand the new session's actor to the node that is gone, and cancel it.
    two_nodes.wait_for_nodes(timeout=90)
    go_on(command)
    assert len(content(stories.parent / "openai-mock")) == 180
    # A block of the node that died: rounded up to whole prefix groups, of three queries here.
    assert server.stats()["repeats_after_answer"] <= 180 // (4 * 2) + 2
