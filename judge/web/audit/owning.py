"""A personal link for each annotator, so that a name alone gives no access to that person's answers.

The key in a link is made of the name by a secret that lies in the audit, so a link outlasts the server and the browser
that began with it, and whoever holds the audit can tell it again. A cookie spares the browser that began the link.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from judge.audit.file.answers import clean_name
from judge.audit.file.store import AuditStore
from judge.errors import SpecError
from judge.web.access import new_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

_SECRET = "owner_key"  # noqa: S105  the name under which the audit keeps it


class NotOwnerError(SpecError):
    """Error: a taken name was requested without the key of its link."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is here already, and its answers open by its own link alone",
            hint="if this is you, open the link with which you began, or request it from the person who serves the "
            "audit; if not, choose a longer name",
        )


def lasting(store: AuditStore, secret: str) -> str:
    """The key that the audit stores under the name `secret`; it is made on first use."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (secret, json.dumps(new_key())))
    return str(json.loads(store.select("SELECT value FROM meta WHERE key = ?", secret)[0][0]))


class Owners:
    """The keys of an audit's annotators, and which names are taken."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store
        self._secret = lasting(store, _SECRET).encode()
        self._lock = threading.Lock()
        self._claimed: set[str] = set()

    def key(self, name: str) -> str:
        """The key of a name, in the form used in its link."""
        return hmac.new(self._secret, clean_name(name).encode(), hashlib.sha256).hexdigest()[:32]

    def link(self, name: str, where: str = "/annotate") -> str:
        """The path of a person's own page."""
        return f"{where}?name={quote(name)}&own={self.key(name)}"

    def cookie(self, name: str) -> str:
        """Name of the cookie in which a browser keeps the key. Each audit and name has its own cookie, so that none
        replaces another's.
        """
        identity = f"{self._store.audit_id}|{clean_name(name)}"
        return f"judge_own_{hashlib.sha256(identity.encode()).hexdigest()[:16]}"

    def owns(self, name: str, given: str) -> bool:
        """Whether a key is that of the name; takes as long for any key."""
        return hmac.compare_digest(given.encode(), self.key(name).encode())

    def given(self, name: str, query: Mapping[str, str], cookies: Mapping[str, str]) -> str:
        """The key that came with a request, in its address or as a cookie."""
        return query.get("own") or cookies.get(self.cookie(name), "")

    def take(self, given: str, cookies: Mapping[str, str], *, register: bool) -> str:
        """Claim a name: the first to ask gets it, and so does the same browser later. Raises NotOwnerError for anybody
        else.

        Upper and lower case make no second person. Raises SpecError for a name that cannot be one.
        """
        with self._lock:
            names = [*self._store.registered(), *self._claimed]
            name = clean_name(given)
            name = next((other for other in names if other.casefold() == name.casefold()), name)
            if name in names and not self.owns(name, cookies.get(self.cookie(name), "")):
                raise NotOwnerError(name)
            self._claimed.add(name)
            return self._store.register(name) if register else name

    def remember(self, response: Response, name: str) -> Response:
        """The response with a cookie that holds the key, so that this browser needs the link no more."""
        # An audit may take months, and without the cookie an annotator has to find the first link again.
        year = 365 * 24 * 3600
        response.set_cookie(self.cookie(name), self.key(name), max_age=year, httponly=True, samesite="strict")
        return response
