/* queue_fixture.h - runs that waited for a CPU, for tests of corrected wall time. */
#pragma once

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/bench.h"
#include "analyze/gate.h"
#include "model/run.h"

enum { MS = 1000000, RUNS = 12 };

struct fixture {
	struct run *run;
	struct arena arena;
	struct bench_view view;
	struct err err;
};

static inline void begin(struct fixture *f)
{
	*f = (struct fixture){.run = run_open()};
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "one")});
	run_add_command(f->run, &(struct command_row){run_intern(f->run, "two")});
}

static inline void make(struct fixture *f)
{
	assert_int_equal(bench_view_make(f->run, false, &f->arena, &f->view, &f->err), 0);
}

static inline void end(struct fixture *f)
{
	run_close(f->run);
	arena_done(&f->arena);
}

/* A run of `work_ms` that waited `queue_ms` for a CPU. */
static inline struct execution_row run_of(row_id command, double work_ms, double queue_ms)
{
	return (struct execution_row){
		.command = command,
		.wall_ns = (uint64_t)((work_ms + queue_ms) * MS),
		.user_ns = (uint64_t)(work_ms * MS),
		.queue_ns = (uint64_t)(queue_ms * MS),
		.max_rss_bytes = 8 << 20,
		.flags = EXECUTION_QUEUE,
	};
}

/* Work that hardly varies, and waits that vary by ten times as much as A and B differ. */
static inline void add_beside_others(struct run *run, row_id command, double work_ms)
{
	static const double waits[RUNS] = {
		80, 10, 150, 40, 5, 190, 60, 120, 30, 90, 170, 20}; /* ms */

	for (unsigned i = 0; i < RUNS; i++) {
		unsigned at = (i * 5 + command * 3) % RUNS;
		struct execution_row row =
			run_of(command, work_ms * (1 + 0.001 * (i * 7 % 5)), waits[at]);

		run_add_execution(run, &row);
	}
}

/* Two sessions beside others, as a gate sees them. */
struct gate_pair {
	struct fixture then, now;
	const struct bench_view *baselines[1];
	struct gate_input input;
	struct gate_view view;
};

static inline void gate_begin(struct gate_pair *pair, double then_ms, double now_ms)
{
	*pair = (struct gate_pair){.baselines = {&pair->then.view}};
	begin(&pair->then);
	begin(&pair->now);
	add_beside_others(pair->then.run, 1, then_ms);
	add_beside_others(pair->now.run, 1, now_ms);
	pair->input = (struct gate_input){
		.baselines = pair->baselines,
		.baseline_count = 1,
		.candidate = &pair->now.view,
		.fingerprint = "",
		.only = "one",
		.judges = {true, true, true},
		.noise = GATE_LOUD,
	};
}

static inline void gate_judge(struct gate_pair *pair)
{
	make(&pair->then);
	make(&pair->now);
	assert_int_equal(
		gate_preset_find(NULL, &pair->now.arena, &pair->input.preset, &pair->now.err), 0);
	assert_int_equal(gate_make(&pair->input, &pair->now.arena, &pair->view, &pair->now.err), 0);
}

static inline void gate_end(struct gate_pair *pair)
{
	end(&pair->then);
	end(&pair->now);
}
