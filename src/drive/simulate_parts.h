/* simulate_parts.h - private to simulate*.c: the folder of a simulation. */
#pragma once

#include <stdbool.h>

/* What valgrind wrote about the run into the logs of `folder`. */
struct simulate_log {
	bool unsupported;     /* it met an instruction that it does not know */
	char instruction[96]; /* what it says about it, "" */
	char complaint[200];  /* its first word about itself ("valgrind: ..."), "" */
};
void simulate_log_read(const char *folder, struct simulate_log *ret_log);

/* Remove the folder and the files in it. */
void simulate_folder_remove(const char *folder);
