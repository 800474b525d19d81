/* simulate_parts.h - private to simulate*.c: the folder of a simulation. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"

/* What valgrind wrote about the run into the logs of `folder`. */
struct simulate_log {
	bool unsupported;     /* it met an instruction that it does not know */
	char instruction[96]; /* what it says about it, "" */
	char complaint[200];  /* its first word about itself ("valgrind: ..."), "" */
};
void simulate_log_read(const char *folder, struct simulate_log *ret_log);

/* A folder below $TMPDIR, locked until it is removed. */
struct simulate_folder {
	const char *path; /* NULL: not made */
	int lock;
};

/* Make it, and remove what killed simulations of this user left there. */
int simulate_folder_make(struct arena *arena, struct simulate_folder *ret_folder, struct err *err);
void simulate_folder_remove(struct simulate_folder *folder);

enum { SIMULATE_BEGUN_MOST = 64, SIMULATE_PID_SIZE = 12 };

/* The processes that count already. */
struct simulate_begun {
	char pids[SIMULATE_BEGUN_MOST][SIMULATE_PID_SIZE];
	unsigned count;
};

/* Tell those of the simulation in `folder` that do not count yet to do so from now on. */
void simulate_begin(const char *folder, struct simulate_begun *begun);
