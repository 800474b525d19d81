/* causal.h - experiments on one running process: what if this code were faster?
 *
 * Does: load the kernel side, hand the shared memory to the runtime in the target, make one
 * experiment at a time (begin, mark the end of its warm-up, end) and read it out.  Does not: start
 * the target, choose what to try, compare experiments; drive does.
 * Owns: programs, links, maps and the socket, until causal_close(); the kernel takes all of it away
 * when this process dies, and the target runs on at full speed.  Threads: one.
 *
 * What a target is: code of the process (its time on a CPU, with the kernel's work for it), or the
 * places where it blocks.  Only the threads of the one process take part; children of it run as if
 * nothing were there.  Everything read from the target's side is bounded, and may still be a lie of
 * the target about itself. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "source/causal_process.h"
#include "source/causal_result.h"

struct wire_sink;

enum {
	CAUSAL_PERIOD_NS = 1000000, /* between two samples of a CPU, unless asked otherwise */
	CAUSAL_RANGES_MAX = 64,
	CAUSAL_PROBED_MAX = 64,
	CAUSAL_POINTS_MAX = 256 + CAUSAL_PROBED_MAX,
	CAUSAL_NAME_SIZE = 104,
};

/* Bytes of a file that is mapped executable; without a path `offset` is an address in memory. */
struct causal_place {
	const char *path;
	uint64_t offset, len;
};

struct causal_target {
	const struct causal_place *places; /* at most CAUSAL_RANGES_MAX */
	uint32_t count;
	const struct causal_place *callers; /* only when called from here (frame pointers) */
	uint32_t caller_count;
	bool callees; /* with everything that is called from there */
	bool waits;   /* not time on a CPU but time blocked in a call made here */
};

/* A progress point that the program does not know of. */
enum causal_point_kind { CAUSAL_UPROBE, CAUSAL_SYSCALL };

struct causal_point {
	enum causal_point_kind kind;
	const char *name; /* what it is called; of a system call also which: "sendto" */
	const char *path; /* CAUSAL_UPROBE: the file, and where in it */
	uint64_t offset;
	bool is_cheap;	    /* an instruction that the kernel does itself: one trap, not two */
	uint64_t semaphore; /* where in it the counter stands that switches a USDT probe on; or 0 */
};

/* Who samples and sees the waits.  The kernel side sees all of them and needs rights; the fallback
 * works from inside the target, for any user, and sees only what goes through the pthread functions
 * that it interposes (analyze/causal_view.h lists what it does not). */
enum causal_engine { CAUSAL_ENGINE_BPF, CAUSAL_ENGINE_PRELOAD };

struct causal_options {
	enum causal_engine engine;
	uint64_t period_ns; /* 0: CAUSAL_PERIOD_NS */
	const struct causal_point *points;
	uint32_t point_count; /* at most CAUSAL_PROBED_MAX */
	bool waits;	      /* targets that wait will be asked for (Linux 5.15) */
	bool runs;	      /* the process is there already: causal_attach() will follow */
	bool searches;	      /* the points will be changed */
	const char *follows;  /* file of the child to experiment on; NULL: what is started */
};

enum causal_progress_kind { CAUSAL_THROUGHPUT, CAUSAL_LATENCY, CAUSAL_END, CAUSAL_PROGRESS_KINDS };

/* One progress point and its visits during the measured part.  Throughput: both counts are the
 * same.  Latency: what had begun and not ended, when it began and when it ended. */
struct causal_visits {
	uint32_t point; /* 1, 2, 3...: as emitted */
	enum causal_progress_kind kind;
	char name[CAUSAL_NAME_SIZE];
	uint64_t arrivals, departures;
	uint64_t open_before, open_after;
};

/* Find the runtime and make up the names for the environment.  Opens nothing in the kernel yet:
 * a process forked after causal_load() would keep the programs alive when we die, so whoever starts
 * the target is forked between the two. */
int causal_open(const struct causal_options *options, struct causal **ret_causal, struct err *err);

/* Load and attach everything.  ERR_UNAVAILABLE with the reason and the way out when this machine or
 * user cannot, or the fallback was asked for what only the kernel side can do (points that the
 * program does not know of, waits). */
int causal_load(struct causal *causal, struct err *err);

void causal_close(struct causal *causal);
void causal_close_pointer(struct causal **causal);
#define causal_auto __attribute__((cleanup(causal_close_pointer)))

/* The environment that the target needs: LD_PRELOAD=... and ASSAY_RT_CAUSAL=NAME, before whose
 * value the starter of the target writes its own process id and a blank, unless it is followed. */
const char *causal_preload_variable(const struct causal *causal);
const char *causal_socket_variable(const struct causal *causal);

/* Readable when a runtime asks for the shared memory; then causal_admit() answers it if it is
 * process `pid` (to be followed: any that runs the file, until it ends), and turns it away if not.
 * 1: admitted (anew: it may be after an exec), 0: not. */
int causal_descriptor(const struct causal *causal);
int causal_admit(struct causal *causal, pid_t pid, struct err *err);

/* Bind to a process without the runtime and put the handler in: one of its threads stands still for
 * some milliseconds. Later take it out again (causal_close() does too); then no experiment can
 * follow.  When assay is killed the handler stays, for a signal that nobody sends. */
int causal_attach(struct causal *causal, pid_t pid, struct err *err);
int causal_detach(struct causal *causal, struct err *err);

/* How long the thread stood still. */
uint64_t causal_stop_ns(const struct causal *causal);

/* Work on this process from now on; 0: on none.  Places the uprobes. */
int causal_bind(struct causal *causal, pid_t pid, struct err *err);

/* Whether the process can be asked to pause.  If not, only speed-up 0 makes sense. */
bool causal_is_ready(const struct causal *causal);

/* Why the process is left alone from now on: a signal to it, or what our handler calls, could end
 * it.  It is not ready then, and runs on at full speed. */
enum causal_seal {
	CAUSAL_SEAL_NONE,
	CAUSAL_SEAL_SANDBOX, /* it has set a filter of system calls (seccomp) */
	CAUSAL_SEAL_SIGNAL,  /* it handles our signal itself */
};
enum causal_seal causal_sealed(const struct causal *causal);

/* What tells about the end of a process whether we had a part in it. */
struct causal_trace {
	uint32_t signal;   /* ours */
	uint64_t no_stack; /* pauses not asked for: the stack had no room for a signal */
	bool inside;	   /* a thread was in the handler, or a signal to it on its way */
	bool stray;	   /* the handler was changed while one was: it may have come there */
};
void causal_trace_read(const struct causal *causal, struct causal_trace *ret_trace);

/* Visits of all progress points since the process was bound. */
uint64_t causal_visits_total(struct causal *causal);

/* One experiment: the target runs virtually faster by `speedup_permille` from begin to end; what
 * happens between mark and end is measured.  -ENOENT when no place of it is mapped. */
int causal_window_begin(struct causal *causal, const struct causal_target *target,
	uint32_t speedup_permille, struct err *err);
void causal_window_mark(struct causal *causal);
void causal_window_end(struct causal *causal, struct causal_result *ret_result);

/* The experiment that ended last lasted until the process did: that is a visit of this point. */
#define CAUSAL_END_NAME "end"
void causal_progress_end(struct causal *causal);

/* Sample at another rhythm from now on: to be called every 10 to 30 ms of an experiment. */
void causal_shuffle(struct causal *causal);

/* The points and their visits in the last experiment; valid until the next one ends. */
const struct causal_visits *causal_visits(const struct causal *causal, uint32_t *ret_count);

/* How the runner had it placed. */
struct causal_order {
	uint32_t target;    /* as the caller numbers its targets: 1, 2, 3... */
	uint32_t pair;	    /* 1, 2, 3... */
	uint32_t execution; /* of the program */
	uint32_t speedup_permille;
	bool whole_run;
};

/* Emit WIRE_PROGRESS for new points, WIRE_EXPERIMENT, and WIRE_VISIT for each visited point. */
int causal_emit(struct causal *causal, const struct causal_order *order,
	const struct causal_result *result, const struct wire_sink *sink);
