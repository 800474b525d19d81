/* script_line.h - one line that perf script wrote, taken apart.
 *
 * Does: tell heads, frames, source lines and branches apart and read them.  Does not: put samples
 * together.  Texts are borrowed from the line. */
#pragma once

#include "import_format.h"
#include "wire/sample.h"

enum script_kind {
	SCRIPT_OTHER,  /* none of these */
	SCRIPT_RECORD, /* PERF_RECORD_*: what --show-mmap-events and the like add */
	SCRIPT_HEAD,
	SCRIPT_FRAME,
	SCRIPT_SOURCE,	 /* "  main.c:12", behind a frame */
	SCRIPT_BRANCHES, /* "0x12/0x34/P/-/-/0" without a head */
};

struct script_frame {
	uint64_t addr;
	struct import_text symbol; /* without +0x12; empty: unknown */
	struct import_text module; /* empty: unknown */
	bool inlined;
};

struct script_line {
	enum script_kind kind;
	/* SCRIPT_HEAD, each as far as it is there */
	struct import_text comm, event;
	uint32_t pid, tid, cpu;
	uint64_t time_ns, period;
	bool has_tid, has_time, has_ip;
	struct script_frame frame;   /* SCRIPT_FRAME, and with has_ip */
	struct import_text branches; /* text of all branches, empty: none */
	struct import_text file;     /* SCRIPT_SOURCE */
	uint32_t line;
};

struct script_line script_line_read(struct import_text text);

/* The next branch of `rest`; false when there is none. */
bool script_branch_next(struct import_text *rest, struct wire_branch *ret_branch);
