#!/usr/bin/env bash
# Runs the test that starts the node as `nobody`, in a copy of this checkout that belongs to that user. Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
tar --exclude=./.git --exclude=./.agent-network -cf - . | tar -xf - -C "$copy"
chown -R nobody "$copy"
cd "$copy"
setpriv --reuid=nobody --regid="$(id -g nobody)" --clear-groups \
  env HOME="$copy" TMPDIR="$copy" npm test -- packages/service/test/process/npm-start.test.ts
