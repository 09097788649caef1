"""Places where a key can turn up, drawn at random: the user's definition and command line, and what servers say.

Two sorts. *Used*: the key is in the environment, leaves with requests, and the server gives it back. *Written*: the key
stands in a definition or on the command line. A key in a place for keys (a header, a parameter, `api_key`) is found
there whatever it looks like; in any other place it is found where the environment knows it, or where it looks like a
provider's. A random word in a run's name cannot be told from a name, so such places get a key that can be known.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.credentials.echo_server import Reply, answer

ALPHABET = string.ascii_letters + string.digits
VARIABLE = "OPENAI_API_KEY"


@dataclass
class Place:
    """One place: what the definition says beside the usual, the words after `judge run RUN`, what the server says."""

    name: str
    key: str
    environment: dict[str, str] = field(default_factory=dict)
    definition: dict[str, Any] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    reply: Reply = field(default_factory=Reply)
    text: str | None = None
    prompt: str | None = None
    refused: bool = False


def keys(rng: random.Random) -> dict[str, str]:
    """One key of each sort."""

    def word(count: int, letters: str = ALPHABET) -> str:
        # Every key has a digit and a letter, as keys have.
        return "".join(rng.choices(letters, k=count - 2)) + rng.choice("abcdef") + rng.choice("123456789")

    return {
        "openai": f"sk-proj-{word(48, ALPHABET + '-_')}",
        "short": f"sk-{word(12)}",
        "anthropic": f"sk-ant-api03-{word(40)}",
        "groq": f"gsk_{word(48)}",
        "hub": f"hf_{word(34)}",
        "google": f"AIza{word(35)}",
        "signed": f"eyJ{word(20)}.eyJ{word(40)}.{word(30)}",
        "hex": word(32, "0123456789abcdef"),
        "base64": base64.b64encode(rng.randbytes(33)).decode() + "+/=",
        "odd": f"{word(10)}%&\"'\\<>{word(6)}{{}}$ {word(8)}",
        "random": word(40),
    }


FORMS: dict[str, Callable[[str], str]] = {
    "raw": lambda key: key,
    "bearer": lambda key: f"Bearer {key}",
    "quoted": lambda key: f"'{key}'.",
    "url": lambda key: quote(key, safe=""),
    "url twice": lambda key: quote(quote(key, safe=""), safe=""),
    "base64": lambda key: base64.b64encode(key.encode()).decode(),
    "basic": lambda key: "Basic " + base64.b64encode(f"user:{key}".encode()).decode(),
    "base64 within": lambda key: base64.urlsafe_b64encode(f"ab{key}cde".encode()).decode(),
    "masked": lambda key: f"{key[:8]}{'*' * 12}{key[-4:]}",
    "dotted": lambda key: f"{key[:5]}...{key[-4:]}",
    "cut": lambda key: "x y " * 65 + key,
    "upper": str.upper,
    "repr": repr,
    "html": lambda key: key.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;"),
    "json in json": lambda key: json.dumps({"Authorization": f"Bearer {key}"}),
}
HEADERS = (
    "api-key",
    "Authorization",
    "X-API-Key",
    "Cookie",
    "x-goog-api-key",
    "Proxy-Authorization",
    "X-Auth-Token",
    "Ocp-Apim-Subscription-Key",
    "cf-access-client-secret",
    "HELICONE-AUTH",
)
STATUSES = (400, 401, 402, 403, 404, 422, 500, 503)


def places(seed: int, count: int) -> Iterator[Place]:
    """So many places, the same for the same seed."""
    rng = random.Random(seed)
    makers = [
        _echoed_error,
        _echoed_error,
        _echoed_answer,
        _used_header,
        _header,
        _address,
        _engine,
        _name,
        _line,
        _file,
    ]
    for number in range(count):
        yield makers[number % len(makers)](rng)


def _used(rng: random.Random) -> tuple[str, str]:
    return rng.choice([pair for pair in keys(rng).items() if pair[0] != "odd"] + [("odd", keys(rng)["odd"])])


def _echoed_error(rng: random.Random) -> Place:
    """The key of the environment in an error's body."""
    sort, key = _used(rng)
    form, status = rng.choice(list(FORMS)), rng.choice(STATUSES)
    words = f"Incorrect API key provided: {FORMS[form](key)} You can find yours at /keys"
    bodies = {
        "object": json.dumps({"error": {"message": words, "code": FORMS[form](key)}}),
        "list": json.dumps([{"error": {"message": words, "status": "INVALID"}}]),
        "escaped": '{"error": {"message": "' + "".join(f"\\u{ord(c):04x}" for c in words) + '"}}',
        "detail": json.dumps({"detail": words}),
        "text": words,
        "page": f"<html><body><pre>{words}</pre></body></html>",
    }
    shape = rng.choice(list(bodies))
    reply = Reply(status, bodies[shape].encode(), {"Server": key[:60]}, healthy=rng.choice((0, 1, 3)))
    if rng.random() < 0.3:
        reply.models = (f"mock-{FORMS[form](key)}",)
    return Place(f"error {status} {shape} {form} {sort}", key, {VARIABLE: key}, reply=reply)


def _echoed_answer(rng: random.Random) -> Place:
    """The key of the environment in an answer, or in what should be one."""
    sort, key = _used(rng)
    # What a model masks or cuts itself is its answer.
    form = rng.choice([name for name in FORMS if name not in ("masked", "dotted")])
    shown = FORMS[form](key)
    bodies = {
        "content": answer(content=f"Rating: 4 since {shown}"),
        "reasoning": answer(reasoning_content=shown),
        "model": answer(model=shown),
        "finish": answer(finish_reason=shown),
        "refusal": answer(content=None, refusal=shown),
        "escaped": answer(content="KEY").replace(b"KEY", "".join(f"\\u{ord(c):04x}" for c in shown).encode()),
        "choice error": json.dumps({"choices": [{"error": {"message": shown}, "finish_reason": "error"}]}).encode(),
        "no protocol": shown.encode(),
        "half": answer(content=shown)[:-9],
    }
    where = rng.choice(list(bodies))
    return Place(f"answer {where} {form} {sort}", key, {VARIABLE: key}, reply=Reply(body=bodies[where]))


def _used_header(rng: random.Random) -> Place:
    """The key of another variable, by `headers` or `api_key_env`."""
    sort, key = _used(rng)
    name = rng.choice(("GATEWAY", "MY_LOGIN", "AZURE_OPENAI_API_KEY"))
    header, form = (
        rng.choice(("api-key", "Cookie", "X-Vault-Token", "Authorization", "X-Trace")),
        rng.choice(list(FORMS)),
    )
    value = {"Cookie": f"session=${{{name}}}", "Authorization": f"Bearer ${{{name}}}"}.get(header, f"${{{name}}}")
    said = {"api_key_env": name} if rng.random() < 0.4 else {"headers": {header: value}}
    body = json.dumps({"error": {"message": f"not allowed: {FORMS[form](key)}"}}).encode()
    reply = Reply(rng.choice(STATUSES), body, healthy=rng.choice((0, 3)))
    return Place(f"used {header} {form} {sort}", key, {name: key}, said, reply=reply)


def _header(rng: random.Random) -> Place:
    """Any key as it stands in a header."""
    sort, key = _used(rng)
    name = rng.choice(HEADERS)
    value = rng.choice((key, f"Bearer {key}", f"key={key}", f"Basic {base64.b64encode(key.encode()).decode()}"))
    said: dict[str, Any] = {"headers": {name: value}}
    if rng.random() < 0.4:
        said = {"engine": said}
    elif rng.random() < 0.3:
        said = {"headers": rng.choice((value, [f"{name}: {value}"], {name: {"value": value}}, {value: "x"}))}
        if "x" in str(said["headers"]) and isinstance(said["headers"], dict) and value in said["headers"]:
            key = keys(rng)["openai"]  # as a name of a header: only what can be known
            said = {"headers": {key: "x"}}
    return Place(f"header {name} {sort}", key, definition=said, refused=True)


def _address(rng: random.Random) -> Place:
    """Any key as it stands in an address."""
    sort, key = _used(rng)
    enc = quote(key, safe="")
    known = keys(rng)["openai"]
    where, (url, held) = rng.choice(
        list(
            {
                "user": (f"http://{enc}@127.0.0.1:9/v1", key),
                "password": (f"http://me:{enc}@127.0.0.1:9/v1", key),
                "query": (f"http://127.0.0.1:9/v1?key={enc}", key),
                "api-key": (f"http://127.0.0.1:9/v1?api-version=1&api-key={enc}", key),
                "token": (f"http://127.0.0.1:9/v1?access_token={enc}", key),
                "fragment": (f"http://127.0.0.1:9/v1#token={enc}", key),
                "path": (f"http://127.0.0.1:9/{known}/v1", known),
                "host": (f"http://{known}.example.org/v1", known),
            }.items()
        )
    )
    if rng.random() < 0.3:
        return Place(f"OPENAI_BASE_URL {where} {sort}", held, {"OPENAI_BASE_URL": url}, {"base_url": []}, refused=True)
    said = {"base_url": rng.choice((url, ["http://127.0.0.1:9/v1", url]))}
    return Place(f"address {where} {sort}", held, definition=said, refused=True)


def _engine(rng: random.Random) -> Place:
    """Any key as it stands under a name that says so."""
    sort, key = _used(rng)
    name = rng.choice(("api_key", "apiKey", "hf_token", "client_secret", "password", "authorization", "accessToken"))
    said = rng.choice(({"engine": {name: key}}, {"engine": {"extra": {name: [key]}}}, {name: key},
                       {"generation": {name: key}}, {"engine": {"extra": [{name: key}]}}))  # fmt: skip
    if "[" in str(said) and "extra" in str(said) and isinstance(said["engine"]["extra"], dict):
        said = {"engine": {"extra": {name: key}}}
    return Place(f"engine {name} {sort}", key, definition=said, refused=True)


def _name(rng: random.Random) -> Place:
    """A key that the environment knows, or that looks like one, where a name or a text belongs."""
    sort, key = rng.choice([pair for pair in keys(rng).items() if pair[0] not in ("odd", "base64")])
    known = sort in ("random", "hex", "short") or rng.random() < 0.5
    name = rng.choice(("name", "judge", "note", "system", "identity", "revision", "dataset", "eval_prompts", "api",
                       "repeats", "criteria", "stop", "key"))  # fmt: skip
    made = {"judge": f"openai/{key}", "stop": key, "dataset": f"{key}.jsonl", "note": f"with {key}, mine"}.get(
        name, key
    )
    said: dict[str, Any] = {name: made}
    if name == "stop":
        said = {"generation": {"stop": ["###", key]}}
    elif name == "key":
        said = {key: "x"}
    environment = {rng.choice(("GROQ_API_KEY", "SOME_TOKEN", VARIABLE)): key} if known else {}
    return Place(f"{name} {sort}", key, environment, said, refused=True)


def _line(rng: random.Random) -> Place:
    """A key on the command line."""
    sort, key = rng.choice([pair for pair in keys(rng).items() if pair[0] not in ("odd", "base64")])
    environment = {VARIABLE: key} if sort in ("random", "hex", "short") else {}
    words = rng.choice(
        (
            ("--set", f"engine.api_key={key}"),
            ("--set", f"headers.api-key={key}"),
            ("--set", f"base_url=http://me:{key}@127.0.0.1:9/v1"),
            ("--set", f"api_key_env={key}"),
            ("--set", f"headers.api-key.deep={key}"),
            ("--set", key),
            ("--set", f"note={key}"),
            ("--set", f"note=[{key}"),
            ("--set", f"repeats={key}"),
            ("--judge", f"openai/{key}"),
            ("--judge", key),
            ("--limit", key),
            ("--engine", key),
            (f"--{key}",),
            (key,),
            ("--reuse", key),
        )
    )
    # A folder that is not there is noticed after the server was found to work.
    return Place(f"words {words[0]} {sort}", key, environment, words=words, refused=words[0] != "--reuse")


def _file(rng: random.Random) -> Place:
    """A key in a file that a run is made of."""
    sort, key = rng.choice([pair for pair in keys(rng).items() if pair[0] not in ("odd", "base64")])
    environment = {VARIABLE: key} if sort in ("random", "hex", "short") or rng.random() < 0.5 else {}
    if rng.random() < 0.5:
        return Place(f"Eval-Prompt {sort}", key, environment, prompt=f"Use {key}.\nStory: {{{{ story }}}}\nRating:")
    text = rng.choice(
        (f"api_key: [{key}\n", f"name: *{key}\n", f"a: !{key} x\n", f"- {key}\n", f"{key}\n", "a: '" + key)
    )
    return Place(f"broken file {sort}", key, environment, text=text, refused=True)
