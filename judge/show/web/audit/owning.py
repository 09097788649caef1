"""Personal links for the annotators of an audit, so that knowing a name does not give access to that person's answers.

The key in a link is computed from the name and a secret that is stored in the audit. A link therefore stays valid when
the server restarts or the annotator changes browsers, and whoever has the audit's file can compute it again. In the
annotator's first browser, a cookie replaces the link.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
from typing import TYPE_CHECKING
from urllib.parse import quote

from judge.base.errors import SpecError
from judge.explanations.audit.file.rows import clean_name
from judge.explanations.audit.file.store import AuditStore
from judge.show.web.access import new_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

_SECRET = "owner_key"  # noqa: S105  the name under which the audit keeps it


class NotOwnerError(SpecError):
    """Error: somebody requested an annotator's name that is already taken, without the key in its personal link."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is here already, and its answers open by its own link alone",
            hint="if this is you, open the link with which you began, or request it from the person who serves the "
            "audit; if not, choose a longer name",
        )


def lasting(store: AuditStore, secret: str) -> str:
    """Random key that the audit stores under the name `secret`; it is created on first use and stays the same."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (secret, json.dumps(new_key())))
    return str(json.loads(store.select("SELECT value FROM meta WHERE key = ?", secret)[0][0]))


class Owners:
    """The personal keys of the annotators of an audit, and the names that are taken."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store
        self._secret = lasting(store, _SECRET).encode()
        self._lock = threading.Lock()
        self._claimed: set[str] = set()

    def key(self, name: str) -> str:
        """The personal key of an annotator's name, as used in the personal link."""
        return hmac.new(self._secret, clean_name(name).encode(), hashlib.sha256).hexdigest()[:32]

    def link(self, name: str, where: str = "/annotate") -> str:
        """Address path of an annotator's personal page, with the annotator's name and personal key. `where` is the path
        of the page without these.
        """
        return f"{where}?name={quote(name)}&own={self.key(name)}"

    def cookie(self, name: str) -> str:
        """Name of the cookie in which a browser keeps the personal key of an annotator's name. Each audit and name has
        its own cookie, so that none replaces another's.
        """
        identity = f"{self._store.audit_id}|{clean_name(name)}"
        return f"judge_own_{hashlib.sha256(identity.encode()).hexdigest()[:16]}"

    def owns(self, name: str, given: str) -> bool:
        """Whether `given` is the personal key of an annotator's name. The comparison takes constant time, so that it
        does not reveal the key.
        """
        return hmac.compare_digest(given.encode(), self.key(name).encode())

    def given(self, name: str, query: Mapping[str, str], cookies: Mapping[str, str]) -> str:
        """The personal key that a request contains, in its address or as a cookie; empty without a key."""
        return query.get("own") or cookies.get(self.cookie(name), "")

    def take(self, given: str, cookies: Mapping[str, str], *, register: bool) -> str:
        """Claim the name `given` for an annotator, and return it as it is registered. The first person to request a
        name gets it, and that person's browser can claim it again later, by its cookie. Raises NotOwnerError for
        anybody else. If `register`, the name is also stored in the audit.

        Names that differ only in case are the same name. Raises SpecError for an invalid name.
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
        """The given response with a cookie that holds the annotator's personal key, so that this browser no longer
        needs the personal link.
        """
        # An audit may take months, and without the cookie an annotator has to find the first link again.
        year = 365 * 24 * 3600
        response.set_cookie(self.cookie(name), self.key(name), max_age=year, httponly=True, samesite="strict")
        return response
