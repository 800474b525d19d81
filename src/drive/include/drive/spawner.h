/* spawner.h - a tiny process that starts targets again and again and times them.
 *
 * It is forked before the tool takes memory, because a target's peak RSS starts at that of the
 * process that started it (the kernel carries it through exec), and it waits with wait4(), because
 * RUSAGE_CHILDREN never goes down again.  The target gets our standard streams, signal settings and
 * environment as they were.  If the tool dies the target runs on; the spawner then waits for it and
 * ends.  Single-threaded. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct spawner;

/* What can be started. */
struct spawner_command {
	const char *path;   /* the file to execute */
	char *const *argv;  /* its words, NULL-terminated */
	const char *folder; /* where it runs; NULL: where we are */
	/* "NAME=value" of its own, NULL-terminated; NULL: none.  A name that one command sets is
	 * taken from the environment of all. */
	char *const *variables;
	const char *input_path; /* its stdin, in place of the options'; NULL: that one */
};

/* NAME=VALUE, in place of a variable of that name. */
struct spawner_variable {
	const char *text;
	bool with_pid; /* the spawner's process id and a blank stand before the value */
};

/* Zero: the target runs as if our caller had started it. */
struct spawner_options {
	const struct spawner_command *commands;
	uint32_t command_count;	 /* of which variables are looked at */
	bool stdout_to_stderr;	 /* our stdout is a document of our own */
	const char *input_path;	 /* opened anew as stdin of each run; NULL: our stdin */
	const char *output_path; /* takes stdout and stderr, a file is emptied; NULL: ours */
	bool own_group; /* each target leads a process group: it can be stopped with its children */
	const struct spawner_variable *variables; /* the last one has no text; NULL: none */
	bool watch_machine; /* what the machine did to the run and to all tasks meanwhile */
	/* Keep stderr of a run, to show its end when the run fails, and stdout, to be read by the
	 * caller: in memory files, instead of output_path.  A writer neither waits for a reader nor
	 * dies without one. */
	bool keep_errors, keep_output;
	const char *throttle_path; /* cpu.stat of a control group with a quota; NULL: none */
};

enum {
	SPAWNER_PAD_MAX = 4095,
	SPAWNER_BATCH = 32,	     /* runs that one call can ask for */
	SPAWNER_ERRORS_BYTES = 4096, /* of the end of stderr */
};

/* One run. */
struct spawner_request {
	uint32_t command;   /* index */
	uint32_t pad_bytes; /* of an environment variable that moves the stack; 0: no variable */
	bool aside;	    /* nobody measures it: its stdout is not kept */
	bool or_stop;	    /* when it fails, what was asked for behind it is not run */
};

/* How one execution ended. */
struct spawner_result {
	int spawn_errno; /* not 0: it never started */
	int exit_status;
	int signal;	/* 0: exited by itself */
	bool leftovers; /* it left children running */
	bool throttled; /* its control group used up its CPU quota meanwhile */
	bool has_steal, has_pressure, has_queue;
	bool parallel; /* with has_queue: not only its first thread used CPU time */
	uint64_t start_ns, wall_ns, user_ns, system_ns, max_rss_bytes;
	uint64_t rss_floor_bytes; /* the spawner's own peak: no target can read less */
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	/* With watch_machine, where the kernel tells: time that the host took from the CPUs, and
	 * time during which some task waited for a CPU; time in which its first thread, and we with
	 * the notice of its end, waited for one. */
	uint64_t steal_ns, pressure_ns, queue_ns;
};

/* Fork the spawner.  `options` must stay valid until then only. */
int spawner_open(
	const struct spawner_options *options, struct spawner **ret_spawner, struct err *err);

/* The spawner's process id: counters are attached to it and inherited by its children. */
pid_t spawner_id(const struct spawner *spawner);

/* Start a target once.  Its result is there when spawner_descriptor() is readable. */
int spawner_start(struct spawner *spawner, const struct spawner_request *request, struct err *err);
int spawner_descriptor(const struct spawner *spawner);
int spawner_result(struct spawner *spawner, struct spawner_result *ret_result, struct err *err);

/* The same for up to SPAWNER_BATCH runs, one behind the other without waking us in between: a third
 * of what a short run costs.  Returns how many were run: all, or those up to one that failed (see
 * or_stop), never started, or got a signal from us. */
int spawner_start_all(struct spawner *spawner, const struct spawner_request *requests,
	uint32_t count, struct err *err);
int spawner_results(
	struct spawner *spawner, struct spawner_result ret_results[SPAWNER_BATCH], struct err *err);

/* With keep_errors: the end of stderr of the last run if that failed, terminated; "" if not. */
const char *spawner_errors(const struct spawner *spawner);

/* With keep_output: the file that holds stdout of the last run.  -1: not kept. */
int spawner_output(const struct spawner *spawner);

/* While a target runs, from time to time: what it has written so far shall not fill the memory.
 * Of stderr the end is kept, of stdout the first `output_bytes`. */
void spawner_trim(const struct spawner *spawner, uint64_t output_bytes);

/* Say in words why the file could not be started (`spawn_errno`); returns -code. */
int spawner_failed(const char *path, int code, struct err *err);

/* The process id of the target that runs now, 0: none. */
pid_t spawner_target(const struct spawner *spawner);

/* Send a signal to the target that runs now, or starts just now, with `own_group` to its whole
 * group.  What was asked for behind it is not run. */
void spawner_signal(const struct spawner *spawner, int signal);

/* The same to end it: what it started goes with it, as soon as it has ended itself (a compiler's
 * driver leaves the compiler behind). */
void spawner_end(const struct spawner *spawner, int signal);

void spawner_close(struct spawner *spawner);
void spawner_close_pointer(struct spawner **spawner);
#define spawner_auto __attribute__((cleanup(spawner_close_pointer)))
