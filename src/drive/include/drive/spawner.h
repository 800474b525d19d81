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
	const char *path;  /* the file to execute */
	char *const *argv; /* its words, NULL-terminated */
};

/* NAME=VALUE, in place of a variable of that name. */
struct spawner_variable {
	const char *text;
	bool with_pid; /* the spawner's process id and a blank stand before the value */
};

/* Zero: the target runs as if our caller had started it. */
struct spawner_options {
	const struct spawner_command *commands;
	bool stdout_to_stderr;	 /* our stdout is a document of our own */
	const char *input_path;	 /* opened anew as stdin of each run; NULL: our stdin */
	const char *output_path; /* takes stdout and stderr, a file is emptied; NULL: ours */
	bool own_group; /* each target leads a process group: it can be stopped with its children */
	const struct spawner_variable *variables; /* the last one has no text; NULL: none */
	bool watch_machine; /* what the machine did to all tasks during a run */
};

enum { SPAWNER_PAD_MAX = 4095 };

/* One run. */
struct spawner_request {
	uint32_t command;   /* index */
	uint32_t pad_bytes; /* of an environment variable that moves the stack; 0: no variable */
};

/* How one execution ended. */
struct spawner_result {
	int spawn_errno; /* not 0: it never started */
	int exit_status;
	int signal;	/* 0: exited by itself */
	bool leftovers; /* it left children running */
	bool has_steal, has_pressure;
	uint64_t start_ns, wall_ns, user_ns, system_ns, max_rss_bytes;
	uint64_t rss_floor_bytes; /* the spawner's own peak: no target can read less */
	uint64_t minor_faults, major_faults, voluntary_switches, involuntary_switches;
	/* With watch_machine, where the kernel tells: time that the host took from the CPUs, and
	 * time during which some task waited for a CPU. */
	uint64_t steal_ns, pressure_ns;
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

/* Say in words why the file could not be started (`spawn_errno`); returns -code. */
int spawner_failed(const char *path, int code, struct err *err);

/* The process id of the target that runs now, 0: none. */
pid_t spawner_target(const struct spawner *spawner);

/* Send a signal to the target that runs now, with `own_group` to its whole group; nothing happens
 * when none does. */
void spawner_signal(const struct spawner *spawner, int signal);

void spawner_close(struct spawner *spawner);
void spawner_close_pointer(struct spawner **spawner);
#define spawner_auto __attribute__((cleanup(spawner_close_pointer)))
