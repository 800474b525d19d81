/* causal_parts.h - what the files of the causal front end share. */
#pragma once

#include <sys/types.h>

#include "../bpf/causal.shared.h"
#include "base/arena.h"
#include "base/random.h"
#include "base/vec.h"
#include "source/causal.h"
#include "source/preload.h"

struct bpf_object;
struct bpf_link;

/* Counters of one moment. */
struct causal_snapshot {
	uint64_t now_ns, owed_ns, taken_ns; /* taken_ns: the furthest clock that runs */
	uint64_t pauses, paused_ns;
	struct assay_causal_counts counts;
	uint64_t points[WIRE_CAUSAL_POINTS];
	uint64_t probed[WIRE_CAUSAL_PROBED];
};

/* One counter of the target's table, as it was first seen. */
struct causal_counter {
	uint32_t type; /* 0: not seen */
	char name[CAUSAL_NAME_ROOM];
};

struct causal {
	struct preload preload;
	int socket;
	char socket_name[96];
	char socket_variable[128];
	struct bpf_object *object;
	vec_of(struct bpf_link *) links;
	vec_of(struct bpf_link *) probes; /* of the bound process */
	vec_of(int) samplers;		  /* descriptors, one per CPU */
	struct assay_causal *kernel;
	struct wire_causal_board *board; /* untrusted */
	struct wire_causal_seat *seats;	 /* untrusted */
	struct random random;
	uint64_t period_ns;
	pid_t pid;
	uint32_t epoch;
	bool cut;
	vec_of(struct causal_point) points; /* their texts are copies of our own */
	bool waits, searches;
	struct causal_counter counters[WIRE_CAUSAL_POINTS];
	struct causal_snapshot before, after;
	vec_of(struct causal_visits) visits;
	uint32_t emitted; /* points */
	vec_of(struct causal_spot) spots;
	struct arena spot_paths;
};

/* causal_load.c */
int causal_load_programs(struct causal *causal, struct err *err);
int causal_place_probes(struct causal *causal, struct err *err);
/* NULL: it cannot be placed, errno says why. */
struct bpf_link *causal_probe_place(struct causal *causal, uint32_t index);
void causal_unload(struct causal *causal);

/* causal_map.c: addresses of `places` in process `pid`; how many of at most `room`, or a negative
 * errno. */
int causal_map_places(pid_t pid, const struct causal_place *places, uint32_t count,
	struct assay_causal_range *ret_ranges, uint32_t room, struct err *err);

/* Files that are mapped as code, in order of address; their paths are in `arena`. */
struct causal_code {
	uint64_t start, end, offset;
	const char *path;
};
typedef vec_of(struct causal_code) causal_code_vec;
int causal_map_code(pid_t pid, struct arena *arena, causal_code_vec *ret_code, struct err *err);

/* causal_points.c */
void causal_points_copy(struct causal *causal, const struct causal_point *points, uint32_t count);
void causal_points_forget(struct causal *causal);
void causal_probes_remove(struct causal *causal);

/* causal_spots.c */
void causal_spots_forget(struct causal *causal);

/* causal_progress.c */
void causal_progress_read(struct causal *causal, struct causal_snapshot *snapshot);
void causal_progress_conclude(struct causal *causal);
void causal_progress_forget(struct causal *causal);
