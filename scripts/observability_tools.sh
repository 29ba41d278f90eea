#!/usr/bin/env bash
# Puts Prometheus and Alertmanager, with promtool and amtool, on a Debian machine. Starts neither: tests do.
set -euo pipefail

missing=()
command -v promtool >/dev/null || missing+=(prometheus)
command -v amtool >/dev/null && command -v prometheus-alertmanager >/dev/null || missing+=(prometheus-alertmanager)
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi
"$(dirname "$0")/debian_packages.sh" "${missing[@]}"
