"""Reads facts that a server reports beyond the OpenAI protocol, and tests whether it respects a seed.

vLLM always reports its version. It reports the chat template if started with `--enable-tokenizer-info-endpoint`, and
its configuration in development mode. Other servers have none of these routes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import aiohttp
import orjson

from judge.backends.bodies import read_body
from judge.backends.hf.local_model import template_hash
from judge.backends.openai.asker import Asker
from judge.backends.openai.urls import beside, endpoint
from judge.base.errors import BackendError

SEED_PATIENCE = 20.0
"""Seconds for both answers to the question about seeds."""

ROUTE_PATIENCE = 1.0
"""Seconds for each route that tells of the server; what takes longer is left untold."""

_CONFIG = ("model", "revision", "dtype", "quantization", "max_model_len", "tensor_parallel_size", "enable_lora")

SEED_NOTE = (
    "{url} gave two different answers to one question with the same seed: it does not respect `seed` (or not exactly), "
    "so that the repeats of this run cannot be reproduced"
)


async def reported_facts(client: aiohttp.ClientSession, url: str) -> dict[str, Any]:
    """Version, hash of the chat template and configuration of the server, as far as it has routes for them; otherwise
    empty.
    """
    facts: dict[str, Any] = {}
    version = await _json(client, beside(url, "/version"))
    if "version" in version:
        facts["version"] = version["version"]
        # At once, since development mode's route takes its time.
        info, server = await asyncio.gather(
            _json(client, beside(url, "/tokenizer_info")),
            _json(client, beside(url, "/server_info?config_format=json")),
        )
        if isinstance(info.get("chat_template"), str):
            facts["chat_template_hash"] = template_hash(info["chat_template"])
        flags = {key: value for key, value in _flat(server.get("vllm_config")).items() if key in _CONFIG}
        if flags:
            facts["flags"] = flags
    return facts


async def seed_kept(asker: Asker, request: Mapping[str, Any]) -> bool | None:
    """Whether the server respects a seed, tested with up to three answers to one question. `request` is a request body
    without messages, to which the question is added.

    False: two answers with the same seed differ. True: they are equal, and an answer with another seed differs. None:
    all three are equal, so that nothing can be concluded, or the server did not answer.
    """
    question = "Write twelve words that have nothing to do with each other."
    dialect = asker.dialect
    asked = {**request, "temperature": 1.0}
    asked |= {"messages": [{"role": "user", "content": question}]} if dialect.chat else {"prompt": question}
    route = endpoint(asker.url, dialect.route(asker.model))
    answers: list[str] = []
    try:
        async with asyncio.timeout(SEED_PATIENCE):
            for seed in (20240613, 20240613, 20240614):
                body = orjson.dumps(dialect.wire(asked | {"seed": seed}))
                async with asker.client().post(route, data=body) as reply:
                    responses, _ = dialect.read(await read_body(reply), asker.url, asker.scrub)
                    answers.append(responses[0].text)
                if not answers[-1]:
                    return None
                if answers[0] != answers[-1]:
                    return len(answers) == 3
    except (TimeoutError, aiohttp.ClientError, BackendError):
        return None
    return None


async def _json(client: aiohttp.ClientSession, address: str) -> dict[str, Any]:
    try:
        async with asyncio.timeout(ROUTE_PATIENCE), client.get(address) as reply:
            data = orjson.loads(await read_body(reply)) if reply.status == 200 else {}
    except (TimeoutError, aiohttp.ClientError, orjson.JSONDecodeError, UnicodeDecodeError):
        return {}
    return data if isinstance(data, dict) else {}


def _flat(config: Any) -> dict[str, Any]:
    """A server's configuration as one flat dict: the keys of its sections, without the names of the sections."""
    if not isinstance(config, dict):
        return {}
    facts: dict[str, Any] = {}
    for key, value in config.items():
        facts |= value if isinstance(value, dict) else {key: value}
    return facts
