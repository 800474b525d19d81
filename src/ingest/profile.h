/* profile.h - the state of ingest while samples come in; private to the room.
 *
 * A process has versions of its memory layout, each valid from a time on (a fork or exec starts
 * one); a layout is the mappings as they cover each other now, and what they covered before.  A
 * module is a file that was mapped; it is opened when the first sample falls into it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "code/image.h"
#include "code/names.h"
#include "code/unwind.h"
#include "model/run.h"
#include "wire/record.h"
#include "wire/sample.h"

enum { VDSO_LARGEST = 1 << 14 }; /* bytes */

struct module {
	row_id row;
	const char *path;     /* as mapped */
	const char *build_id; /* as mapped, hex, or "" */
	struct image *image;  /* NULL: not opened, or there is none */
	struct unwind_table *table;
	int fd; /* the file as its process sees it, where we cannot reach it by `path`; else -1 */
	uint32_t flags; /* MODULE_* */
	uint32_t owner; /* of JIT code: the user of its process */
	bool tried;
};

struct mapping {
	uint64_t start, end, file_offset, time_ns;
	uint64_t hidden_ns; /* from then on covered by a newer one */
	struct module *module;
	uint64_t bias; /* memory address - bias = address in the image; once `placed` */
	bool placed;
};

/* `now` is sorted by address and free of overlaps. */
struct layout {
	vec_of(struct mapping) now;
	vec_of(struct mapping) before; /* hidden ones, the oldest first */
	bool shared;		       /* several versions point here: copy before a change */
};

struct space_version {
	uint64_t since_ns;
	struct layout *layout;
};

struct space {
	uint32_t pid;
	vec_of(struct space_version) versions; /* oldest first, never empty */
};

struct task {
	uint32_t pid, tid;
	text_id name;
	row_id row; /* the thread row under this name, 0: none yet */
};

/* Ids of rows, found again by their content: open addressing over a table of the run. */
struct id_table {
	row_id *slots;
	uint32_t capacity, count;
};

struct waiting {
	struct sample_row row;
	uint32_t first_branch, branch_count;
	struct access_row access;
	bool has_access;
};

/* Functions and frames by their content. */
struct namer {
	struct run *run;
	struct quota *quota; /* of the file that names them; NULL: of none */
	struct map functions, frames;
	struct str key; /* scratch */
};

enum { STACK_FRAMES = 4096, KNOWN_MOST = 1 << 24, FRAME_STEPS = 2 };

struct profile {
	struct run *run;
	struct quota *quota; /* of the file that is read; NULL: of none */
	struct arena arena;
	vec_of(struct space *) spaces;
	struct map space_of;		 /* pid -> index + 1 */
	struct space *kernel;		 /* mappings of the kernel */
	vec_of(struct layout *) layouts; /* all, to be freed at the end */
	vec_of(struct module *) modules;
	struct map module_of; /* "path\0build-id" -> index + 1 */
	vec_of(struct task) tasks;
	struct map task_of; /* pid, tid -> index + 1 */
	struct id_table locations, stacks;
	struct namer namer;   /* for frames that come with names */
	vec_of(row_id) known; /* their locations by the numbers of their source, 0: not seen yet */
	vec_of(struct waiting) waiting;
	vec_of(struct branch_row) waiting_branches;
	uint64_t addrs[STACK_FRAMES];
	uint64_t samples, truncated, broken, without_stack, unknown_addresses;
	uint64_t lost[3]; /* enum wire_lost_kind */
};

/* space.c */
struct space *space_of_pid(struct profile *profile, uint32_t pid);
void space_map(struct profile *profile, struct space *space, const struct mapping *mapping);
void space_fork(struct profile *profile, uint32_t pid, uint32_t parent_pid, uint64_t time_ns);
void space_exec(struct profile *profile, uint32_t pid, uint64_t time_ns);
struct mapping *space_find(
	const struct profile *profile, const struct space *space, uint64_t addr, uint64_t time_ns);
void space_done(struct profile *profile);

/* module.c */
struct module *module_of_path(
	struct profile *profile, const char *path, const char *build_id, uint32_t pid);
/* Open the file behind the mapping, once, and find its bias; false when there is no ELF image.  The
 * address asked for decides, not the mapping's start: lld lets two segments share a page. */
bool mapping_place(struct profile *profile, struct mapping *mapping, uint64_t at, uint32_t pid);
void module_done(struct module *module);

/* chain.c */
row_id chain_of_sample(
	struct profile *profile, const struct wire_sample *sample, uint32_t *ret_flags);
row_id location_of_addr(
	struct profile *profile, uint32_t pid, uint64_t addr, uint64_t time_ns, uint32_t flags);

/* intern.c */
row_id location_intern(struct profile *profile, const struct location_row *row);
row_id stack_intern(struct profile *profile, const struct stack_row *row);
void id_table_done(struct id_table *table);

/* frames.c */
row_id namer_frame(
	struct namer *namer, const struct names_frame *frame, row_id module, row_id outer);
void namer_done(struct namer *namer);

/* order.c */
void order_add(
	struct profile *profile, const struct waiting *waiting, const struct wire_sample *sample);
void order_flush(struct profile *profile, uint64_t time_ns);

/* profile.c */
struct profile *profile_open(struct run *run, struct quota *quota);
void profile_close(struct profile *profile);
void profile_map(struct profile *profile, const struct wire_record *record);
void profile_task(struct profile *profile, const struct wire_record *record);
void profile_lost(struct profile *profile, const struct wire_record *record);
void profile_sample(struct profile *profile, const struct wire_sample *sample);
void profile_end(struct profile *profile);
