/* causal_parts.h - what the files of the causal front end share. */
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "../bpf/causal.shared.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/vec.h"
#include "inject.h"
#include "source/causal_code.h"
#include "source/causal_points.h"
#include "source/preload.h"
#include "wire/causal_inside.h"

struct bpf_object;
struct bpf_link;

/* Counters of one moment. */
struct causal_snapshot {
	uint64_t now_ns, owed_ns, taken_ns; /* taken_ns: the furthest clock that runs */
	uint64_t stolen_ns;		    /* of owed_ns */
	uint32_t seats;			    /* threads seen so far; 0: it has ended */
	uint64_t pauses, paused_ns;
	struct assay_causal_counts counts;
	uint64_t points[WIRE_CAUSAL_POINTS];
	uint64_t probed[WIRE_CAUSAL_PROBED];
};

/* One counter of the target's table, as it was first seen. */
struct causal_counter {
	uint32_t type; /* 0: not seen */
	char name[CAUSAL_NAME_SIZE];
};

/* A file that is mapped as code. */
struct causal_code {
	uint64_t start, end, offset;
	const char *path;
};
typedef vec_of(struct causal_code) causal_code_vec;

/* A file with code of others, and which of the steps are its own. */
struct causal_foreign {
	char *path;
	uint32_t first, count;
};

/* What the two engines do each in its own way.  Both keep the experiment in a struct assay_causal,
 * the board and the seats. */
struct causal_engine_parts {
	const char *library; /* preloaded into the target */
	int (*load)(struct causal *causal, struct err *err);
	/* Put the handler into a process without the library, and take it out again. */
	int (*attach)(struct causal *causal, pid_t pid, struct err *err);
	int (*detach)(struct causal *causal, struct err *err); /* 0 too when none was put in */
	int (*place_probes)(struct causal *causal, struct err *err); /* for the bound process */
	/* One of the points; NULL: it cannot be placed, errno says why. */
	struct bpf_link *(*place_probe)(struct causal *causal, uint32_t index);
	void (*shuffle)(struct causal *causal);
	unsigned (*descriptors)(
		struct causal *causal, int ret_fds[3]); /* for the target: how many */
	void (*count)(struct causal *causal); /* what the tool itself counts, at both ends */
	void (*spots_read)(struct causal *causal, const causal_code_vec *code);
	void (*spots_forget)(struct causal *causal);
	void (*unload)(struct causal *causal);
};
extern const struct causal_engine_parts causal_engine_bpf, causal_engine_inside;

struct causal {
	const struct causal_engine_parts *engine;
	struct preload preload;
	int socket;
	char socket_name[96];
	char socket_variable[128];
	struct bpf_object *object;
	vec_of(struct bpf_link *) links;
	vec_of(struct bpf_link *) probes;  /* of the bound process */
	vec_of(int) samplers;		   /* descriptors, one per CPU */
	struct assay_causal *kernel;	   /* the kernel side's, or in `inside` */
	struct wire_causal_inside *inside; /* untrusted; NULL with a kernel side */
	int memory[3];			   /* the memfds of board, seats, inside */
	struct wire_causal_board *board;   /* untrusted */
	struct wire_causal_seat *seats;	   /* untrusted */
	struct wire_causal_step *steps;	   /* out of the code of others; shared with the engine */
	uint32_t step_count;
	vec_of(struct causal_foreign) foreign;
	vec_of(const char *) files; /* of the last causal_files() */
	struct arena file_paths;
	struct random random;
	uint64_t period_ns;
	pid_t pid;
	uint32_t epoch;
	bool cut;
	vec_of(struct causal_point) points; /* their texts are copies of our own */
	bool waits, runs, searches;
	struct stat follows; /* the file of the program to follow; st_ino 0: none */
	struct causal_counter counters[WIRE_CAUSAL_POINTS];
	struct causal_snapshot before, after;
	vec_of(struct causal_visits) visits;
	uint32_t emitted; /* points */
	vec_of(struct causal_spot) spots;
	struct arena spot_paths;
	struct assay_causal_stack *stack_pages; /* NULL: this engine keeps no stacks */
	vec_of(struct causal_stack) stacks;
	struct arena stack_texts;
	uint64_t probe_ns[2]; /* what a visit of a probe costs, of a cheap one; 0: not measured */
	struct injection injection; /* pid 0: the target has the preloaded runtime, or none */
};

/* Copy what the target can write to: each word is read once, and only the copy is looked at.
 * `bytes`: a multiple of 8. */
static inline void causal_copy(void *to, const void *from, size_t bytes)
{
	typedef uint64_t __attribute__((may_alias)) word;
	const word *shared = from;
	word *own = to;

	for (size_t i = 0; i < bytes / sizeof(*own); i++)
		own[i] = __atomic_load_n(&shared[i], __ATOMIC_RELAXED);
}

static inline uint64_t causal_load64(const __u64 *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

static inline uint32_t causal_load32(const __u32 *from)
{
	return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

/* causal_load.c, of the BPF engine */
void causal_silence(struct causal *causal); /* nobody samples, counts or sends signals any more */
int causal_map_descriptor(const struct causal *causal, const char *name);

/* causal_attach.c: attach and detach of the BPF engine */
int causal_inject(struct causal *causal, pid_t pid, struct err *err);
int causal_take_out(struct causal *causal, struct err *err);

/* causal_map.c: addresses of `places` in process `pid`; how many of at most `capacity`, or a
 * negative errno. */
int causal_map_places(pid_t pid, const struct causal_place *places, uint32_t count,
	struct assay_causal_range *ret_ranges, uint32_t capacity, struct err *err);

/* Files that are mapped as code, in order of address; their paths are in `arena`. */
int causal_map_code(pid_t pid, struct arena *arena, causal_code_vec *ret_code, struct err *err);

/* causal_check.c: say why not, as a failure of kind ERR_UNAVAILABLE; returns -EPERM. */
int causal_check_permission(pid_t pid, struct err *err);
/* Whether calls made in the process could be what it is killed for: -ENOTSUP. */
int causal_check_filters(pid_t pid, struct err *err);
/* How many filters of system calls we are under, and so is whoever we start. */
uint32_t causal_filters_own(void);

/* causal_points.c */
void causal_points_copy(struct causal *causal, const struct causal_point *points, uint32_t count);
void causal_points_forget(struct causal *causal);
void causal_probes_remove(struct causal *causal);

/* causal_spots.c: samples at an address, for an engine's spots_read(). */
void causal_spot_add(
	struct causal *causal, const causal_code_vec *code, uint64_t addr, uint64_t ns);

/* causal_stacks.c */
void causal_stacks_forget(struct causal *causal);

/* causal_foreign.c: say where the code of others is mapped now. */
int causal_foreign_place(struct causal *causal, struct err *err);
void causal_foreign_forget(struct causal *causal);

/* causal_clock.c */
bool causal_seat_read(
	const struct causal *causal, uint32_t index, struct wire_causal_seat *ret_seat);
uint64_t causal_clock_furthest(const struct causal *causal, uint64_t now);
void causal_clock_spans_add(const struct causal *causal, struct causal_snapshot *snapshot);
void causal_clock_begin(struct causal *causal); /* which CPUs there are, who waits for them */
uint64_t causal_clock_owed(const struct causal *causal, uint64_t now);
/* How much the clocks of the threads fell behind between the snapshots. */
uint64_t causal_clock_delay(const struct causal *causal);

/* causal_pace.c: what set the pace of the window that has ended, WIRE_EXPERIMENT_* */
uint32_t causal_pace(
	const struct causal *causal, const struct causal_result *result, bool whole_run);

/* causal_progress.c */
void causal_progress_read(struct causal *causal, struct causal_snapshot *snapshot);
void causal_progress_conclude(struct causal *causal);
void causal_progress_forget(struct causal *causal);
