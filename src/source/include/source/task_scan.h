/* task_scan.h - the processes that ran before we came, as the records we missed.
 *
 * Does: read names and mappings from /proc, emit WIRE_TASK and WIRE_MAP with time 0.  What cannot
 * be read is counted, never guessed.  Owns nothing. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/record.h"

struct task_scan {
	uint32_t processes, threads, maps;
	uint32_t denied;    /* processes whose mappings we may not read */
	pid_t denied_first; /* one of them */
};

/* One process with all its threads; nothing happens when it is gone.  0 or the sink's errno. */
int task_scan_process(pid_t pid, const struct wire_sink *sink, struct task_scan *scan);

/* Every process; kernel threads give only their names. */
int task_scan_machine(const struct wire_sink *sink, struct task_scan *scan);

/* The kernel itself, for all processes: the upper half of the addresses. */
int task_scan_kernel(const struct wire_sink *sink);

/* One line of /proc/PID/maps. */
struct task_map {
	uint64_t start, end, file_offset, inode;
	bool executable;
	const char *path; /* "" for anonymous memory; points into the line */
};

/* False: not such a line.  `line` has no newline. */
bool task_map_parse(const char *line, struct task_map *ret_map);
