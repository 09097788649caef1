"""`judge` without its start: a process that has imported what commands need becomes each command, by a fork.

`program(FILE)` writes an executable that works like `judge`: words, standard streams, working folder, environment and
exit code are those of whoever calls it. What comes of a fresh start (imports, locales, signals) is tested elsewhere.
"""

from __future__ import annotations

import array
import atexit
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from contextlib import suppress
from functools import cache
from pathlib import Path

IMPORTED = (
    *("asyncio", "aiohttp", "numpy", "pandas", "scipy.stats", "scipy.optimize", "sklearn.linear_model"),
    *("judge.cli.main", "judge.demo", "judge.questions.registry", "judge.asking.execution.session"),
)

_CALLER = """#!{python} -IS
import array, json, os, socket, sys
caller = socket.socket(socket.AF_UNIX)
caller.connect({address!r})
told = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
streams = array.array("i", [0, 1, 2])
caller.sendmsg([len(told).to_bytes(8, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
caller.sendall(told)
for number in streams:
    os.close(number)
code = caller.recv(1)
os._exit(code[0] if code else 70)
"""


def program(file: Path) -> None:
    """Write an executable that works like `judge` as long as this process lives."""
    file.write_text(_CALLER.format(python=sys.executable, address=_started()), encoding="utf-8")
    file.chmod(0o755)


@cache
def _started() -> str:
    """The address of the process that becomes each command; it ends with this one."""
    address = f"{tempfile.mkdtemp(prefix='judge')}/socket"
    server = subprocess.Popen([sys.executable, "-m", __name__, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdout is not None
    assert server.stdout.readline() == b"listening\n"
    atexit.register(server.communicate)
    return address


def _serve(address: str) -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        print("listening", flush=True)
        # Until the process that started this one has ended.
        while select.select([listening, sys.stdin], [], [])[0] == [listening]:
            caller, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _become(caller)
            caller.close()


def _become(caller: socket.socket) -> None:
    """Be the command of a caller, and end."""
    code = 70
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        streams = array.array("i")
        size, rights, *_ = caller.recvmsg(8, socket.CMSG_LEN(3 * streams.itemsize))
        streams.frombytes(rights[0][2])
        with caller.makefile("rb") as told:
            words, folder, environment = json.loads(told.read(int.from_bytes(size, "big")))
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["judge", *words]
        code = _left(words)
    except Exception:  # noqa: BLE001  as at the end of any program
        traceback.print_exc()
        code = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        caller.sendall(bytes([code]))
        os._exit(code)


def _left(words: list[str]) -> int:
    from judge.cli.main import main

    try:
        main(words)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else int(left.code is not None)
    return 0


if __name__ == "__main__":
    _serve(sys.argv[1])
