/* probe.h - what this machine can measure, each capability tried for real.
 *
 * Does: open events, map rings, take samples of itself, load BPF programs, place a uprobe on
 * itself, start /bin/true under the runtime; emits one WIRE_CAPABILITY record per capability. Does
 * not: change a setting, write to tracefs, leave anything behind.  Owns nothing.
 *
 * status: ok, limited (works with less than a command would like) or no.
 * reason: what was found, also when it is ok.
 * fix: an exact command or a precise sentence.  It starts with "sudo " exactly when privilege is
 * all that is missing; analyze makes "what root would add" from that.
 * Threads: one at a time, from a single-threaded process (it forks). */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "wire/record.h"

/* The file with the debug information of the program at `path`, or NULL: code/debug_lines.h, which
 * this room does not see. */
typedef const char *probe_lines_find(const char *path, struct arena *arena);

/* Try everything, about 0.2 s.  0, or the negative errno with which the sink stopped it. */
int probe_machine(const struct wire_sink *sink, probe_lines_find *lines_find);

/* The index-th capability's name, NULL past the end.  Names are stable. */
const char *probe_name(unsigned index);
