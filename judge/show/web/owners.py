"""Personal links of people who work on a file's pages, so that knowing a name does not give access to its answers. The
key is computed from the name and a secret in the file, so a link stays valid over restarts and browsers, and whoever
has the file can compute it again. In the first browser, a cookie replaces the link."""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import orjson
from markupsafe import Markup

from judge.base.errors import SpecError
from judge.base.work_file import WorkFile
from judge.show.web.access import new_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

# The name under which the file keeps the secret.
SECRET = "owner_key"  # noqa: S105


class NotOwnerError(SpecError):
    """A name is taken, and the request lacks its personal key."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is here already, and its answers open by its own link alone",
            hint="if this is you, open the link with which you began, or request it from the person who serves the "
            "pages; if not, choose a longer name",
        )


def lasting(store: WorkFile, secret: str) -> str:
    """Random key that the file stores under `secret` from first use on."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (secret, json.dumps(new_key())))
    return str(json.loads(store.select("SELECT value FROM meta WHERE key = ?", secret)[0][0]))


class Owners:
    """Personal keys by name; `identity` names the file, and `where` is the path of a personal page."""

    def __init__(self, store: WorkFile, identity: str, where: str) -> None:
        self._identity = identity
        self._where = where
        self._secret = lasting(store, SECRET).encode()

    def key(self, name: str) -> str:
        """The key of a name."""
        return hmac.new(self._secret, name.encode(), hashlib.sha256).hexdigest()[:32]

    def link(self, name: str, where: str | None = None) -> str:
        """Path of a personal page, with name and key."""
        return f"{where or self._where}?name={quote(name)}&own={self.key(name)}"

    def cookie(self, name: str) -> str:
        """Name of the cookie with a name's key; each file and name has its own, so that none replaces another's."""
        return f"judge_own_{hashlib.sha256(f'{self._identity}|{name}'.encode()).hexdigest()[:16]}"

    def owns(self, name: str, given: str) -> bool:
        """Whether `given` is the name's key, in constant time, so that it does not reveal the key."""
        return hmac.compare_digest(given.encode(), self.key(name).encode())

    def given(self, name: str, query: Mapping[str, str], cookies: Mapping[str, str]) -> str:
        """The key in a request's address or cookie; empty without one."""
        return query.get("own") or cookies.get(self.cookie(name), "")

    def remember(self, response: Response, name: str) -> Response:
        """The response with a cookie that makes the personal link unnecessary in this browser."""
        # Work may take months, and without the cookie a person has to find the first link again.
        year = 365 * 24 * 3600
        response.set_cookie(self.cookie(name), self.key(name), max_age=year, httponly=True, samesite="strict")
        return response


_UNSAFE = {ord(character): f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"}


def as_script(task: dict[str, Any]) -> Markup:
    """JSON for a `<script>` element, escaped so that nothing in it can end the element."""
    return Markup(orjson.dumps(task).decode().translate(_UNSAFE))  # noqa: S704  escaped in the line itself
