#!/usr/bin/env bash
# The programs of the stack for a machine without Docker: servers from Debian's packages, and the OpenTelemetry
# Collector, Jaeger and Docker Compose built from Go modules into .stack/bin. What is there already is kept: a
# second run takes no time. Versions: deploy/versions.env. Starts nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=../deploy/versions.env
source deploy/versions.env

stack=$PWD/.stack
mkdir -p "$stack/bin" "$stack/built"

scripts/observability_tools.sh
scripts/database_servers.sh

# Builds a program unless what it was built from is the same as now: build NAME SOURCE COMMAND...
build() {
    local name=$1 source=$2
    shift 2
    if [ -x "$stack/bin/$name" ] && [ "$(cat "$stack/built/$name" 2>/dev/null)" = "$source" ]; then return; fi
    command -v go >/dev/null || { echo "building $name takes Go 1.25 or newer" >&2; exit 1; }
    printf 'building %s: %s\n' "$name" "$(head -n 1 <<<"$source")"
    "$@"
    printf '%s' "$source" >"$stack/built/$name"
}

# A program of a module that can only be built from within another one.
of_module() {
    local name=$1 package=$2 version=$3 folder
    folder=$(mktemp -d "$stack/build-XXXXXX")
    (
        cd "$folder"
        go mod init "stack/$name"
        go get -tool "$package@$version"
        go build -trimpath -ldflags='-s -w' -o "$stack/bin/$name" "$package"
    ) >"$stack/built/$name.log" 2>&1 || { tail -n 20 "$stack/built/$name.log" >&2; exit 1; }
    rm -rf "$folder"
}

collector() {
    local folder
    folder=$(mktemp -d "$stack/build-XXXXXX")
    {
        GOBIN=$folder go install "go.opentelemetry.io/collector/cmd/builder@$OTELCOL_VERSION" &&
            "$folder/builder" --config deploy/builder.yaml --output-path "$folder/sources" &&
            mv "$folder/sources/otelcol-spanfuse" "$stack/bin/"
    } >"$stack/built/otelcol-spanfuse.log" 2>&1 || { tail -n 20 "$stack/built/otelcol-spanfuse.log" >&2; exit 1; }
    rm -rf "$folder"
}

build otelcol-spanfuse "Collector $OTELCOL_VERSION"$'\n'"$(cat deploy/builder.yaml)" collector
build jaeger "Jaeger $JAEGER_VERSION" of_module jaeger github.com/jaegertracing/jaeger/cmd/jaeger "$JAEGER_VERSION"
build docker-compose "Compose $COMPOSE_VERSION" \
    of_module docker-compose github.com/docker/compose/v2/cmd "$COMPOSE_VERSION"
