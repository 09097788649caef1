"""Engine `ray`: starts Ray, or connects to a running cluster, for one session. No other module imports Ray."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from judge.answers.journal import JournalReader, fold
from judge.asking.execution.preparation import prepare
from judge.asking.execution.ray import blocks
from judge.asking.execution.ray.driver import Drive
from judge.asking.execution.session import Result, Sitting, settings_of, take_reused
from judge.asking.plan import plan_of
from judge.asking.run_definition.writing import AnySpec
from judge.asking.run_folder import lock
from judge.backends import Backend, open_backend
from judge.backends.protocol import Rehearsing
from judge.base.errors import JudgeError, MissingExtraError, SpecError
from judge.base.wording import Advice


@dataclass(frozen=True, slots=True)
class Cluster:
    """A run's cluster. `address` is "local" or one for ray.init. `actors` None: one worker per base_url of an HTTP
    judge, or as many vLLM engines as the GPUs hold."""

    address: str = "local"
    actors: int | None = None


def sit_on_ray(sitting: Sitting, cluster: Cluster) -> Result:
    """Run one session on Ray. Raises JudgeError for every problem that a user can fix."""
    spec = sitting.spec
    provider = _provider(spec)
    ray = _ray()
    llm = _vllm_module() if provider == "vllm" else None
    plan = plan_of(spec, folder=sitting.folder)
    backend = (
        open_backend(spec.judge, settings_of(spec, sitting.folder, sitting.result)) if provider == "openai" else None
    )
    with lock(sitting.result.path):
        try:
            began = time.time()
            server = asyncio.run(_probed(backend)) if backend is not None else {}
            prepared = prepare(plan, sitting.folder, sitting.result)
            with JournalReader(sitting.result.journal) as journal:
                reused = asyncio.run(take_reused(sitting, plan, prepared, journal))
                with _started(ray, cluster.address):
                    drive = Drive(ray, llm, sitting, cluster.actors, plan, prepared, journal)
                    return drive.run(server, began, reused)
        finally:
            if sitting.result.journal.exists():
                fold(sitting.result.journal)


def _provider(spec: AnySpec) -> str:
    provider = spec.provider
    if provider not in ("openai", "vllm"):
        raise SpecError(
            Advice(
                "{engine} asks openai/ judges (over HTTP) and vllm/ judges (Ray's vLLM stage), not {}",
                spec.judge,
                engine="ray",
            ),
            hint=Advice("leave {engine} out: this judge needs no cluster"),
        )
    if provider == "vllm":
        blocks.check(spec)
    if spec.max_cost is not None:
        raise SpecError(
            Advice(
                "max_cost cannot be kept with {engine}: workers spend without knowledge of each other", engine="ray"
            ),
            hint=Advice("leave max_cost out, or leave {engine} out"),
        )
    return provider


def _ray() -> Any:
    try:
        import pyarrow  # noqa: F401
        import ray
        import ray.data
    except ImportError:
        raise MissingExtraError(Advice("{engine}", engine="ray"), "ray") from None
    return ray


def _vllm_module() -> Any:
    from importlib.util import find_spec

    if find_spec("vllm") is None:
        raise MissingExtraError(Advice("{engine} with a vllm/ judge", engine="ray"), "ray,vllm")
    import ray.data.llm

    return ray.data.llm


async def _probed(backend: Backend) -> dict[str, Any]:
    try:
        facts = dict(await backend.probe())
        return {**facts, **await backend.facts()} if isinstance(backend, Rehearsing) else facts
    finally:
        await backend.close()


def _reach(address: str) -> None:
    # Ray itself would wait for minutes.
    host, colon, port = address.rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except OSError as error:
        raise _no_cluster(address, str(error)) from error


def _no_cluster(address: str, why: str) -> JudgeError:
    return JudgeError(
        f"no Ray cluster at {address}: {why}",
        hint=Advice("give the address of a head node (ray start --head), or leave {ray_address} out"),
    )


@contextlib.contextmanager
def _started(ray: Any, address: str) -> Iterator[None]:
    # Where this process already uses Ray, it is left running.
    if ray.is_initialized():
        yield
        return
    # Ray's own lines tell of its parts; this program says what became of the run.
    for name in ("ray.data", "ray.data._internal.execution.streaming_executor"):
        logging.getLogger(name).setLevel(logging.ERROR)
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    if address == "local":
        quiet["include_dashboard"] = False
    else:
        _reach(address)
    try:
        ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _no_cluster(address, str(error).splitlines()[0][:200]) from error
    try:
        yield
    finally:
        ray.shutdown()
