/* sampling.h - the records that come with samples: mappings, tasks, losses, rounds.
 *
 * Part of record.h, which is what everybody includes. */
#pragma once

#include "wire/record.h"

enum { WIRE_MAP_KERNEL = 1 }; /* of the kernel or one of its modules, for all processes */

/* A mapping that can hold code.  There is no record of unmapping: the newest mapping at an address
 * hides what was there before. */
struct wire_map {
	struct wire_record head;
	uint32_t pid, tid;
	uint64_t time_ns;
	uint64_t start, len;  /* in memory */
	uint64_t file_offset; /* of `start` in the file */
	uint64_t inode;	      /* 0: not known */
	uint32_t flags;	      /* WIRE_MAP_* */
	uint32_t reserved;
	struct wire_text path;	   /* as the kernel says: "/usr/bin/ls", "[vdso]", "//anon" */
	struct wire_text build_id; /* hex, or no text */
};

enum wire_task_kind {
	WIRE_TASK_FORK, /* `tid` of `pid` was made by `parent_tid` of `parent_pid` */
	WIRE_TASK_NAME, /* it has the name `name` now */
	WIRE_TASK_EXEC, /* the same by exec: its mappings are gone */
	WIRE_TASK_EXIT,
	WIRE_TASK_KINDS,
};

struct wire_task {
	struct wire_record head;
	uint32_t kind;
	uint32_t pid, tid, parent_pid, parent_tid;
	uint32_t reserved;
	uint64_t time_ns;
	struct wire_text name;
};

enum wire_lost_kind {
	WIRE_LOST_SAMPLES,   /* samples that found no room in the ring */
	WIRE_LOST_RECORDS,   /* records of any kind that found no room */
	WIRE_LOST_THROTTLED, /* times the kernel slowed the sampling down */
	WIRE_LOST_KINDS,
};

struct wire_lost {
	struct wire_record head;
	uint32_t kind;
	uint32_t event; /* 0: not known */
	uint64_t count, time_ns;
};

struct wire_round {
	struct wire_record head;
	uint64_t time_ns;
};

/* Replaces an earlier value of the same name. */
struct wire_quality {
	struct wire_record head;
	uint64_t value;
	struct wire_text name; /* "recorder_cpu_ns" */
};
