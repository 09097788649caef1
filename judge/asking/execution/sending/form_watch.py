"""Early detection of a server that ignores the output format requested by `structured`."""

from __future__ import annotations

from collections.abc import Sequence

from judge.answers.parsing.asked_form import FORMS, JOINT_FORM, VERDICT_FORMS, has_asked_form
from judge.base.errors import BackendError
from judge.base.records import Commission, Query, Request, Response

FIRST = 10
"""Answers of a sitting that tell; those that were cut, blocked or declined are not counted."""

_SHOWN = 120
"""Characters of an answer in a warning: one line of a terminal."""


class FormWatch:
    """Checks whether a session's first answers have the format that the run requests with `structured`. One answer in
    this format ends the check for the whole session.
    """

    def __init__(self, judge: str, addresses: Sequence[str] = ()) -> None:
        hosts = dict.fromkeys(_host(address) for address in addresses)
        self._who = f"{judge} at {', '.join(hosts)}" if hosts else judge
        self._without = 0
        self._decided = False

    def saw(self, query: Request, response: Response) -> BackendError | None:
        """The error that ends the run, or None. It is returned once, at the tenth answer, if none of the answers so far
        had the requested format.
        """
        if self._decided or isinstance(query, Commission) or query.structured == "none":
            return None
        formed = has_asked_form(response, query.asked, query.structured, query.rating_pattern, query.choices)
        if formed is None:
            return None
        self._decided = formed
        self._without += 1
        if formed or self._without < FIRST:
            return None
        self._decided = True
        return self._error(query, response)

    def _error(self, query: Query, response: Response) -> BackendError:
        asked = "verdict" if query.choices else "rating"
        form = JOINT_FORM if query.criteria else (VERDICT_FORMS if query.choices else FORMS)[query.structured]
        text = " ".join(response.text.split())
        begins = f"begins {text[:_SHOWN]!r}" if text else "is empty"
        return BackendError(
            f"{self._who} does not follow structured: {query.structured}: none of its first {FIRST} answers is "
            f"{form}; one answer {begins}",
            kind="capability",
            retryable=False,
            hint="what was answered is kept; take a server or a model that constrains answers, or set structured: none "
            f"in a run with another name, whose Eval-Prompts ask for the {asked} in words",
        )


def _host(address: str) -> str:
    """Host and port of an address. The rest is removed because it may contain a password or key."""
    return address.partition("://")[2].partition("/")[0].partition("?")[0].rpartition("@")[2]
