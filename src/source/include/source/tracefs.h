/* tracefs.h - the numbers of tracepoints.
 *
 * Where tracefs is not mounted and we may, it is opened detached (fsopen, Linux 5.2): nothing is
 * mounted anywhere and nothing stays behind. */
#pragma once

#include "base/err.h"

/* A folder descriptor of tracefs, or a negative errno with the reason and the way out. */
int tracefs_open(struct err *err);

/* The number of tracepoint SYSTEM:NAME, or a negative errno with the reason. */
int tracefs_event_id(int tracefs, const char *system, const char *name, struct err *err);

/* The name in SYSTEM nearest to `name` into `nearest`, "" when there is none. */
void tracefs_nearest(
	int tracefs, const char *system, const char *name, char *nearest, size_t capacity);
