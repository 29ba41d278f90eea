"""What the service would find on this machine when it starts: certificates, a place for its token, drivers.

Rule 1: it is looked at as the service looks at it, and nothing is left behind. Rule 2: a driver that is not
installed here may be installed where the service runs: that is said, and refused by nobody.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

from spanfuse_processor.config import Config, Tls
from spanfuse_processor.config_checks import SCHEMES, Refuse
from spanfuse_processor.store import StoreError
from spanfuse_processor.storing import store_class


def check_start(config: Config, refuse: Refuse) -> None:
    """Refuses what keeps the service from starting here, as `config_checks.check` does."""
    tls, token = config.tls, config.auth.admin_token_file
    readable = [_readable(tls, name, refuse) for name in ("cert_file", "key_file", "client_ca_file")]
    if tls.cert_file and tls.key_file and all(readable):
        _check_certificates(tls, refuse)
    if token and not config.auth.admin_token and not _can_be_made(Path(token)):
        problem = f"the operator's token cannot be left at {token}: name a file in a folder that can be made"
        refuse(problem, ("auth", "admin_token_file"))
    for name, where in config.forward.everywhere().items():
        if where.ca_file:
            _check_authorities(name, where.ca_file, refuse)


def missing_drivers(config: Config) -> Iterator[str]:
    """What has to be installed where the service runs, and is not here: a line for each."""
    for name in ("url", "ledger_url"):
        url = getattr(config.store, name)
        if url.partition(":")[0] in SCHEMES:
            try:
                store_class(url)
            except StoreError as error:
                yield f"store.{name}: {error}"


def _readable(tls: Tls, name: str, refuse: Refuse) -> bool:
    path = getattr(tls, name)
    if not path:
        return True
    try:
        Path(path).read_bytes()
    except OSError as error:
        refuse(f"{path} cannot be read: {error.strerror}", ("tls", name))
        return False
    return True


def _check_certificates(tls: Tls, refuse: Refuse) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(tls.cert_file, tls.key_file, password=lambda: "")
    except (ssl.SSLError, ValueError) as error:
        problem = f"no certificate and its key, as unencrypted PEM: {_reason(error)}"
        refuse(problem, ("tls", "cert_file"), ("tls", "key_file"))
    if tls.client_ca_file:
        try:
            context.load_verify_locations(tls.client_ca_file)
        except (ssl.SSLError, ValueError) as error:
            refuse(f"no certificate, as PEM: {_reason(error)}", ("tls", "client_ca_file"))


def _check_authorities(name: str, file: str, refuse: Refuse) -> None:
    field = ("forward", "destinations", name, "ca_file")
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
    except ssl.SSLError as error:
        refuse(f"no certificate, as PEM: {_reason(error)}", field)
    except OSError as error:
        refuse(f"{file} cannot be read: {error.strerror}", field)


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or str(error)


def _can_be_made(path: Path) -> bool:
    """Whether there could be a file; whether we may write it is seen by whoever does."""
    parents = (each for each in path.absolute().parents if each.exists())
    return not path.is_dir() and next(parents).is_dir()
