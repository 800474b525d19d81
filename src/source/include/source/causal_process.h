/* causal_process.h - whether a process can take part in causal experiments.
 *
 * Does: look at /proc, and say why not.  Does not: touch the process.  Owns: nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

struct causal;

/* The process that is worked on; 0: none, or the one that was followed has ended. */
pid_t causal_process(const struct causal *causal);

/* For a process that cannot have the runtime preloaded, because it runs already or is static. Check
 * whether it can be attached to: ERR_TARGET there is none, ERR_UNAVAILABLE with the reason.  Its
 * program's file, through /proc when its name does not lead to it any more. */
int causal_check_process(pid_t pid, struct err *err);
int causal_process_path(pid_t pid, char *ret_path, size_t capacity, struct err *err);
bool causal_process_is_static(pid_t pid);

/* Whether a process that we started set a filter of system calls before it could ask for the
 * memory: its runtime does nothing then. */
bool causal_process_is_sandboxed(pid_t pid);
