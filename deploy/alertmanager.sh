#!/bin/sh
# Starts Alertmanager, which reads no environment: its addresses and its token go into a copy of rules/alertmanager.yml.
# PROCESSOR and PEOPLE are host:port; what is made lies in MADE, for its owner alone. Arguments are handed on.
set -eu
umask 077
mkdir -p "$MADE/secrets"
printf %s "$SPANFUSE_ALERTMANAGER_TOKEN" >"$MADE/secrets/alertmanager_token"
sed -e "s#//127\.0\.0\.1:4318/#//$PROCESSOR/#" -e "s#//127\.0\.0\.1:9095/#//$PEOPLE/#" "$ROUTES" >"$MADE/alertmanager.yml"
exec "${ALERTMANAGER:-alertmanager}" --config.file="$MADE/alertmanager.yml" --cluster.listen-address= "$@"
