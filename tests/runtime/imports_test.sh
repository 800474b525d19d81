#!/bin/sh
# imports_test.sh LIBRARY ALLOWED... - the runtime imports only what its allow-lists name: no malloc,
# no stdio, no locks can slip in unseen.
set -eu
library=$1
shift
bad=$("${NM:-nm}" -D --undefined-only "$library" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u |
	grep -vxF "$(cat "$@")" || true)
[ -z "$bad" ] && exit 0
printf '%s imports what %s does not allow:\n%s\n' "$library" "$*" "$bad" >&2
exit 1
