"""A request that the SDK is about to send, and that can be made cheaper first.

Rule 1: what the application handed over is not touched: a changed request is a copy. Rule 2: it is changed
whole or not at all. It does not know what can be given up, nor why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Final

from spanfuse.providers.openai.endpoints import Endpoint, place_of
from spanfuse.providers.openai.fields import Fields
from spanfuse.providers.openai.request import ATTRIBUTES
from spanfuse.providers.openai.sparing import REMOVED, Changes, spared
from spanfuse_processor.engine import names
from spanfuse_processor.engine.reach import Degrading

_WILL_NOT: Final = frozenset({400, 403, 404, 422})
"""The statuses by which a provider says that it will not have a request as it is."""
_SHOWN: Final = {**ATTRIBUTES, "model": names.REQUEST_MODEL}


def body_of(options: Any) -> object:
    """The body as it will be sent: `extra_body` goes over what the method was given."""
    given, extra = options.json_data, options.extra_json
    return {**given, **extra} if extra and isinstance(given, dict) else given


class Sending:
    """One call of the SDK's `request`: `perform` makes it, with the request as it is then.

    `under_way` holds the ids of the options of requests that are being made, this one's too until `close`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        client: Any,
        wrapped: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        under_way: set[int],
    ) -> None:
        self._endpoint = endpoint
        self._client = client
        self._wrapped = wrapped
        self._args = args
        self._kwargs = kwargs
        self._under_way = under_way
        self._changed: Any = None  # the options in place of those that were handed over
        self._changes: Changes = {}
        under_way.add(id(self.options))

    @property
    def options(self) -> Any:
        """What the application handed over."""
        return self._args[1] if len(self._args) > 1 else self._kwargs["options"]

    def perform(self) -> Any:
        """Makes the call: the response, or what is to be awaited for it."""
        args, kwargs = self._args, self._kwargs
        if self._changed is not None:
            if len(args) > 1:
                args = (args[0], self._changed, *args[2:])
            else:
                kwargs = {**kwargs, "options": self._changed}
        return self._wrapped(*args, **kwargs)

    def close(self) -> None:
        """The call has been made."""
        self._under_way.discard(id(self.options))
        self._under_way.discard(id(self._changed))

    def degrade(self, degrading: Degrading) -> Mapping[str, object] | None:
        """Gives up what is asked; returns the attributes that are others now, or None."""
        body = body_of(self.options)
        if not isinstance(body, dict):
            return None
        provider = place_of(self._client).provider
        changes = spared(self._endpoint, body, degrading, provider, fixed=self._names_model())
        if not changes:
            return None
        changed = _with(self.options, changes)
        self._under_way.add(id(changed))
        self._changed, self._changes = changed, changes
        return _shown(changes, changes)

    def restore(self) -> Mapping[str, object]:
        """Takes it back; returns the attributes that are others again."""
        body = body_of(self.options)
        self._under_way.discard(id(self._changed))
        self._changed, changes = None, self._changes
        return _shown(changes, body) if isinstance(body, dict) else {}

    def spurned(self, error: BaseException) -> bool:
        """Whether the provider will not have the changed request, by this error."""
        return self._changed is not None and getattr(error, "status_code", None) in _WILL_NOT

    def _names_model(self) -> bool:
        """Whether the URL says which model it is: a deployment of Azure's."""
        base = getattr(self._client, "_base_url", None) or getattr(self._client, "base_url", "")
        return "/deployments/" in f"{base}/{self.options.url}"


def _with(options: Any, changes: Changes) -> Any:
    """The options with another body; what came from `extra_body` is changed there."""
    given = dict(options.json_data)
    extra = dict(options.extra_json) if options.extra_json else None
    for name, value in changes.items():
        part = extra if extra is not None and name in extra else given
        if value is not REMOVED:
            part[name] = value
            continue
        given.pop(name, None)
        if extra is not None:
            extra.pop(name, None)
    changed = copy(options)
    changed.json_data, changed.extra_json = given, extra
    return changed


def _shown(changes: Changes, values: Fields) -> dict[str, object]:
    """The attributes of what is another; None for what is not there."""
    shown: dict[str, object] = {}
    for field in changes:
        name = _SHOWN.get(field)
        if name is not None:
            value = values.get(field)
            shown[name] = value if isinstance(value, str | int | float) else shown.get(name)
    return shown
