#!/bin/sh
# The performance gate without any CI service: old and new build on one machine, one after the other.
#     examples/ci/gate.sh BASE_COMMIT 'COMMAND'
# COMMAND is run in the folder of a checkout, after `make` in it.  Exit status as `assay gate`.
set -eu

base=$1
command=$2
old=$(mktemp -d)
trap 'git worktree remove --force "$old"' EXIT

git worktree add --quiet --detach "$old" "$base"
(cd "$old" && make && assay bench --quiet -n 30 --warmup 3 -o gate-base.assay "$command")
make
status=0
assay gate --baseline "$old/gate-base.assay" --confirm 2 --markdown gate.md || status=$?
case $status in
0) echo 'no slowdown that matters' ;;
1) echo 'slower, or over budget: see gate.md' ;;
3) echo 'too noisy to tell: use a quieter machine, or assay ab on both builds' ;;
*) echo "the gate could not judge (exit status $status)" ;;
esac
exit $status
