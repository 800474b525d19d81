#!/bin/sh
# imports_test.sh LIBRARY ALLOWED - the runtime imports only what its allow-list names: no malloc,
# no stdio, no locks can slip in unseen.
set -eu
bad=$(nm -D --undefined-only "$1" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u |
	grep -vxF -f "$2" || true)
[ -z "$bad" ] && exit 0
printf 'libassay-rt.so imports what tests/runtime/imports.txt does not allow:\n%s\n' "$bad" >&2
exit 1
