/* inject_parts.h - shared by inject.c and inject_thread.c: getting hold of a thread that does the
 * calls, and knowing that no thread is in a piece of memory any more. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "remote.h"

/* Nobody else puts something into process `pid` or takes it out until the descriptor is closed,
 * which the end of this process does.  A negative errno with its sentence. */
int inject_lock(pid_t pid, struct err *err);

/* Stop a thread of process `pid`, any one, and make it ready for calls.  0, or a negative errno
 * with its sentence. */
int inject_stop(pid_t pid, struct remote *ret_remote, struct err *err);
int inject_stop_explain(pid_t pid, int r, struct err *err);

/* Whether each thread was seen outside of these bytes.  Once out, a thread must have no way back.
 */
bool inject_threads_are_out(pid_t pid, uint64_t at, uint64_t bytes);
