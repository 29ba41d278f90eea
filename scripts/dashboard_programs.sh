#!/usr/bin/env bash
# What `make grafana-proof` needs on a Debian machine: the servers of the stack, Node and Chromium. Starts nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v npm >/dev/null || missing+=(nodejs npm)
command -v chromium >/dev/null || missing+=(chromium)
if [ ${#missing[@]} -gt 0 ]; then scripts/debian_packages.sh "${missing[@]}"; fi
scripts/stack_programs.sh
