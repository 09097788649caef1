"""Personal links for an audit's annotators, so that knowing a name does not give access to its answers. The key is
computed from the name and a secret in the audit, so a link stays valid over restarts and browsers, and whoever has the
audit's file can compute it again. In the first browser, a cookie replaces the link."""

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
    """A name is taken, and the request lacks its personal key."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name} is here already, and its answers open by its own link alone",
            hint="if this is you, open the link with which you began, or request it from the person who serves the "
            "audit; if not, choose a longer name",
        )


def lasting(store: AuditStore, secret: str) -> str:
    """Random key that the audit stores under `secret` from first use on."""
    with store.transaction() as db:
        db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (secret, json.dumps(new_key())))
    return str(json.loads(store.select("SELECT value FROM meta WHERE key = ?", secret)[0][0]))


class Owners:
    """The annotators' personal keys, and the names that are taken."""

    def __init__(self, store: AuditStore) -> None:
        self._store = store
        self._secret = lasting(store, _SECRET).encode()
        self._lock = threading.Lock()
        self._claimed: set[str] = set()

    def key(self, name: str) -> str:
        return hmac.new(self._secret, clean_name(name).encode(), hashlib.sha256).hexdigest()[:32]

    def link(self, name: str, where: str = "/annotate") -> str:
        """Path of an annotator's personal page, with name and key."""
        return f"{where}?name={quote(name)}&own={self.key(name)}"

    def cookie(self, name: str) -> str:
        """Name of the cookie with a name's key; each audit and name has its own, so that none replaces another's."""
        identity = f"{self._store.audit_id}|{clean_name(name)}"
        return f"judge_own_{hashlib.sha256(identity.encode()).hexdigest()[:16]}"

    def owns(self, name: str, given: str) -> bool:
        """Whether `given` is the name's key, in constant time, so that it does not reveal the key."""
        return hmac.compare_digest(given.encode(), self.key(name).encode())

    def given(self, name: str, query: Mapping[str, str], cookies: Mapping[str, str]) -> str:
        """The key in a request's address or cookie; empty without one."""
        return query.get("own") or cookies.get(self.cookie(name), "")

    def take(self, given: str, cookies: Mapping[str, str], *, register: bool) -> str:
        """Claim the name, as it is registered; the first to request it gets it, and may again by its cookie. Raises
        NotOwnerError for anybody else, SpecError for an invalid name. With `register`, the audit stores it. Names that
        differ only in case are the same."""
        with self._lock:
            names = [*self._store.registered(), *self._claimed]
            name = clean_name(given)
            name = next((other for other in names if other.casefold() == name.casefold()), name)
            if name in names and not self.owns(name, cookies.get(self.cookie(name), "")):
                raise NotOwnerError(name)
            self._claimed.add(name)
            return self._store.register(name) if register else name

    def remember(self, response: Response, name: str) -> Response:
        """The response with a cookie that makes the personal link unnecessary in this browser."""
        # An audit may take months, and without the cookie an annotator has to find the first link again.
        year = 365 * 24 * 3600
        response.set_cookie(self.cookie(name), self.key(name), max_age=year, httponly=True, samesite="strict")
        return response
