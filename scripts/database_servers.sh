#!/usr/bin/env bash
# Puts Redis and Postgres on a Debian machine, for the tests of the stores. Starts neither: the tests do.
set -euo pipefail

missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null || missing+=(postgresql)
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
"$(dirname "$0")/debian_packages.sh" "${missing[@]}"
