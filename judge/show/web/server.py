"""A server of local pages, which prints its address."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from judge.base.errors import MissingExtraError, SpecError
from judge.base.wording import Advice
from judge.show.web.access import LOOPBACK, Access, Guard, access_for

if TYPE_CHECKING:
    from starlette.types import ASGIApp


DEFAULT_PORT = 8765
# Each server that was left open holds one port.
_TRIED = 20
_EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104  what a user may ask for


def check_installed() -> None:
    """Raise MissingExtraError where starlette or uvicorn is not installed."""
    try:
        import starlette
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("serving pages", "web") from error
    del starlette


def serve(
    build: Callable[[Access], ASGIApp],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    title: str = "pages",
    quiet: bool = False,
    key: str | None = None,
    also: Mapping[str, str] | None = None,
    open_: bool = False,
) -> None:
    """Serve the application until Ctrl-C or SIGTERM; requests in progress are finished first.

    The default port is the first free one from 8765 on; 0 = any. The first line on stdout is the address, so that a
    program can read it. On other interfaces than loopback readers need `key` (None = new), with which links survive a
    restart. `also` maps titles of further pages to paths, printed too. Raises SpecError where the port is taken or
    `host` is not this machine's."""
    check_installed()
    import uvicorn

    from judge.show.web.punctual import Punctual

    bound = _bind(host, port)
    access = access_for(host, key)
    try:
        app = Guard(build(access), access)
    except BaseException:
        bound.close()
        raise
    name = socket.gethostname() if host in _EVERYWHERE else host
    shown = f"[{name}]" if ":" in name else name
    keyed = f"?key={access.key}" if access.key else ""
    base = f"http://{shown}:{bound.getsockname()[1]}"
    address = f"{base}/{keyed}"
    print(address, flush=True)
    if not quiet:
        sys.stderr.write(f"{title} at {address}  (Ctrl-C ends)\n")
        for name, path in (also or {}).items():
            more = f"&{keyed[1:]}" if keyed and "?" in path else keyed
            sys.stderr.write(f"{name} at {base}{path}{more}\n")
        if host not in LOOPBACK:
            sys.stderr.write("open to other machines: anyone who has this address with its key can read and write\n")
    if open_:
        import webbrowser

        webbrowser.open(address)

    # Without a limit a browser that keeps its connection open would hold up Ctrl-C.
    config = uvicorn.Config(app, http=Punctual, log_level="warning", access_log=False, timeout_graceful_shutdown=3)
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[bound])


def _bind(host: str, port: int | None) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    candidates = range(DEFAULT_PORT, DEFAULT_PORT + _TRIED) if port is None else [port]
    failure: OSError | None = None
    for candidate in candidates:
        # With the protocol named, asyncio turns Nagle's algorithm off; else a page waits 40 ms for its reader's ACK.
        bound = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        # On Windows the option of this name would let two servers have one port.
        bound.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_EXCLUSIVEADDRUSE", socket.SO_REUSEADDR), 1)
        try:
            bound.bind((host, candidate))
        except (OSError, OverflowError) as error:
            bound.close()
            failure = error if isinstance(error, OSError) else OSError(str(error))
            continue
        # Whoever reads the address may ask at once: the request waits until the server has started.
        bound.listen()
        return bound
    address = f"{host}:{port}" if port is not None else f"{host}, ports {DEFAULT_PORT} to {DEFAULT_PORT + _TRIED - 1}"
    reason = (failure.strerror if failure else None) or str(failure)
    raise SpecError(
        f"no page can be served at {address}: {reason}", hint=Advice("choose another with {port} or {host}")
    )
