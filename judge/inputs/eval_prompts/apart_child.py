"""Code of the child process that renders templates. It limits its own time and memory, then renders what its parent
sends.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from pathlib import Path
from typing import IO, Any

from judge.base.errors import TemplateError
from judge.inputs.eval_prompts.apart import LENGTH, LONGEST, MEMORY, SECONDS, TooLongError
from judge.inputs.eval_prompts.sandbox import Compiled, compile_template


def _limit() -> None:
    if os.name == "nt":
        return
    import resource
    import signal

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def over(*_: object) -> None:
        raise TooLongError(f"rendering takes longer than {SECONDS:g} s")

    signal.signal(signal.SIGALRM, over)
    # Whoever ends the parent ends this process by its closed pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def serve() -> None:
    """Render what the parent process requests, until the parent ends."""
    _limit()
    asked, answers = sys.stdin.buffer, sys.stdout.buffer
    compiled: dict[tuple[str, ...], Compiled] = {}
    _say(answers, {})
    while head := asked.read(LENGTH):
        _say(answers, _answer(pickle.loads(asked.read(int.from_bytes(head, "big"))), compiled))  # noqa: S301  our parent's


def _answer(request: dict[str, Any], compiled: dict[tuple[str, ...], Any]) -> dict[str, Any]:
    template = request["template"]
    file = Path(template["file"])
    key = (template["source"], template["file"], str(template["first_line"]), *template["offered"])
    try:
        _timer(SECONDS)
        if key not in compiled:
            compiled[key] = compile_template(
                template["source"], file=file, first_line=template["first_line"], offered=template["offered"], here=True
            )
        if request["values"] is None:
            _timer(0)
            return {"uses": sorted(compiled[key].uses)}
        text = compiled[key].render(request["values"])
        _timer(0)
        if len(text) > LONGEST // 4:
            return {"error": f"{file}: the text is longer than {LONGEST // 4:,} characters", "hint": None}
    except TemplateError as error:
        _timer(0)
        return {"error": str(error), "hint": error.hint}
    except (MemoryError, RecursionError, TooLongError) as error:
        _timer(0)
        return {"error": f"{file}: {error or type(error).__name__}", "hint": None}
    return {"text": text}


def _timer(seconds: float) -> None:
    if os.name != "nt":
        import signal

        signal.setitimer(signal.ITIMER_REAL, seconds)


def _say(answers: IO[bytes], reply: dict[str, Any]) -> None:
    body = json.dumps(reply).encode()
    answers.write(len(body).to_bytes(LENGTH, "big") + body)
    answers.flush()
