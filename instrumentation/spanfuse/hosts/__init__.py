"""Who can judge the calls of an application: a name and the class, `Host(settings, board)`.

Named as strings, so that what a host needs is imported when it is chosen.
"""

from __future__ import annotations

from typing import Final

HOSTS: Final[dict[str, str]] = {
    "embedded": "spanfuse.hosts.embedded:EmbeddedHost",
    "remote": "spanfuse.hosts.remote:RemoteHost",
}
