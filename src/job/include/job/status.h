/* status.h - how a command of assay ends: told by cli, and read by a job that started one. */
#pragma once

enum exit_status {
	EXIT_DONE = 0,
	EXIT_REGRESSION = 1, /* regression or budget exceeded */
	EXIT_USAGE = 2,
	EXIT_INCONCLUSIVE = 3,
	EXIT_NOT_COMPARABLE = 4,
	EXIT_TARGET = 5,
	EXIT_UNAVAILABLE = 6,
	EXIT_NOT_WRITTEN = 7,
	EXIT_INTERRUPTED = 130,
};
