"""Who a span's call was made for and by: one shared `Identity` for all spans that say the same.

Rule 1: what a span says goes before what its resource says. Rule 2: an identity is made once and shared;
thousands of calls carry the same. Rule 3: what is kept to be shared is bounded. It does not know runs, nor
what an identity is used for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from spanfuse_processor.engine.names import (
    FEATURE,
    NAMESPACE,
    PROFILE,
    SERVICE_INSTANCE,
    SERVICE_NAME,
    SERVICE_NAMESPACE,
    SESSION,
    TENANT,
    USER,
)
from spanfuse_processor.engine.nouns import NOBODY, Identity
from spanfuse_processor.engine.reading.lenient import text

SHARED: Final = 4_096
"""Identities that are kept to be shared; then all are forgotten and made anew."""

_Said = tuple[object, object, object, object, object, object]
_NOTHING: Final[_Said] = (None, None, None, None, None, None)


class Identities:
    """Makes identities for one dialect.

    >>> identities = Identities()
    >>> resource = {"service.name": "support"}
    >>> identities.of(resource, {"user.id": "u1"}.get).user
    'u1'
    """

    __slots__ = ("_base", "_bases", "_resource", "_shared")

    def __init__(self) -> None:
        self._resource: Mapping[str, object] | None = None
        self._base = NOBODY
        self._bases: dict[Identity, dict[_Said, Identity]] = {}
        self._shared: dict[_Said, Identity] = {}  # what spans of the resource at hand said

    def of(self, resource: Mapping[str, object], get: Callable[[str], object]) -> Identity:
        """The identity that `resource` and a span's attributes (`get`) give together."""
        if resource is not self._resource:  # decoders give all spans of one resource the same mapping
            self._turn_to(resource)
        said: _Said = (
            get(TENANT), get(NAMESPACE), get(FEATURE), get(USER), get(SESSION),
            get(PROFILE),
        )  # fmt: skip
        try:
            return self._shared.get(said) or self._add(said)
        except TypeError:  # a list where a name should be
            return self._with(said)

    def _turn_to(self, resource: Mapping[str, object]) -> None:
        self._resource, self._base = resource, _of_resource(resource)
        if len(self._bases) >= SHARED:
            self._bases.clear()
        self._shared = self._bases.setdefault(self._base, {_NOTHING: self._base})

    def _add(self, said: _Said) -> Identity:
        if not all(each is None or each.__class__ is str for each in said):
            return self._with(said)  # True, 1 and 1.0 are the same key, and not the same name
        if len(self._shared) >= SHARED:
            self._shared.clear()
        identity = self._shared[said] = self._with(said)
        return identity

    def _with(self, said: _Said) -> Identity:
        tenant, namespace, feature, user, session, profile = map(text, said)
        base = self._base
        return replace(
            base,
            tenant=tenant or base.tenant,
            namespace=namespace or base.namespace,
            feature=feature or base.feature,
            user=user or base.user,
            session=session or base.session,
            profile=profile or base.profile,
        )


def _of_resource(resource: Mapping[str, object]) -> Identity:
    get = resource.get
    return Identity(
        service=text(get(SERVICE_NAME)),
        instance=text(get(SERVICE_INSTANCE)),
        tenant=text(get(TENANT)),
        namespace=text(get(NAMESPACE)) or text(get(SERVICE_NAMESPACE)),
        feature=text(get(FEATURE)),
        user=text(get(USER)),
        session=text(get(SESSION)),
        profile=text(get(PROFILE)),
    )
