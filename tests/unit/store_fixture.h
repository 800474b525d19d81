/* store_fixture.h - files, a run with something in every table, and whether two runs are the same.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "folder.h"
#include "model/store.h"

enum { FILE_LARGEST = 64 << 20 };

static inline bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static inline void write_file(const char *path, const void *bytes, size_t len)
{
	io_auto int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, bytes, len), 0);
}

static inline void read_whole(const char *path, struct str *bytes)
{
	struct err err = {0};

	assert_int_equal(io_read(path, FILE_LARGEST, bytes, &err), 0);
}

static inline void copy_file(const char *from, const char *to)
{
	str_auto struct str bytes = {0};

	read_whole(from, &bytes);
	write_file(to, str_text(&bytes), bytes.len);
}

/* ---- a run with something in every table ---- */

static inline void add_facts(struct run *run)
{
	run_add_note(run, "late", "a text", NULL);
	run_add_field(run, &(struct field_row){.group = run_intern(run, "cpu"),
				   .name = run_intern(run, "model"),
				   .value = run_intern(run, "Ore \xff 9000")}); /* not UTF-8 */
	run_add_field(run, &(struct field_row){.group = run_intern(run, "os"),
				   .name = run_intern(run, "lsm"),
				   .state = FIELD_DENIED});
	run_add_capability(run, &(struct capability_row){.name = run_intern(run, "pmu"),
					.reason = run_intern(run, "a virtual machine"),
					.status = CAPABILITY_NO});
	run_add_event(run, &(struct event_row){.name = run_intern(run, "cycles"), .scale = 1});
	run_add_event(run, &(struct event_row){.name = run_intern(run, "energy"),
				   .unit = run_intern(run, "Joules"),
				   .group = 2,
				   .scale = 0.25});
	run_add_event(run, &(struct event_row){.name = run_intern(run, "topdown"),
				   .reason = run_intern(run, "no such event"),
				   .status = EVENT_NOT_SUPPORTED,
				   .scale = (double)NAN});
	run_add_command(run, &(struct command_row){run_intern(run, "prog --fast")});
	run_add_execution(run, &(struct execution_row){.start_ns = 5,
				       .wall_ns = 3000,
				       .user_ns = 900,
				       .max_rss_bytes = 4096,
				       .steal_ns = 12000,
				       .pressure_ns = 13000,
				       .queue_ns = 1000,
				       .command = 1,
				       .flags = EXECUTION_PRESSURE | EXECUTION_QUEUE,
				       .exit_status = 3});
	run_add_execution(run, &(struct execution_row){.wall_ns = 2000,
				       .user_ns = 77,
				       .queue_ns = 1000,
				       .signal = 9,
				       .exit_status = -1,
				       .flags = EXECUTION_NO_USAGE | EXECUTION_INTERRUPTED});
	run_add_count(run, &(struct count_row){1, 1, 0, 12345678901234, 100, 100});
	run_add_count(run, &(struct count_row){2, 1, 0, 10, 100, 50});
	run_add_count(run, &(struct count_row){1, 2, 7, UINT64_MAX, 100, 0});
}

/* main -> twice -> twice (recursion), in which leaf is inlined; one sample without a stack. */
static inline void add_samples(struct run *run)
{
	static const char *const names[] = {"main", "twice", "leaf"};
	static const struct stack_row stacks[] = {{0, 1}, {1, 2}, {2, 2}, {2, 3}};
	static const row_id sampled[] = {1, 3, 3, 4, 4, 4, 4, 0};
	row_id module = run_add_module(run,
		&(struct module_row){run_intern(run, "/bin/prog"), run_intern(run, "0a1b2c"), 0});

	run_set_quality(run, "lost_samples", 3);
	run_add_thread(run, &(struct thread_row){100, 101, run_intern(run, "worker")});
	for (unsigned i = 0; i < 3; i++) {
		row_id function = run_add_function(
			run, &(struct function_row){.name = run_intern(run, names[i]),
				     .file = run_intern(run, "prog.c"),
				     .module = module,
				     .line = 10 * i,
				     .addr = 0x1000 * i,
				     .size_bytes = 64 * i});

		run_add_frame(run, &(struct frame_row){.function = function,
					   .outer = i == 2 ? 2 : 0,
					   .file = run_intern(run, "prog.c"),
					   .line = 10 * i + 1});
		run_add_location(run, &(struct location_row){.module = module,
					      .addr = 0xffffffff81000000 + i,
					      .frame = i + 1,
					      .flags = i < 2 ? LOCATION_CALLER : 0});
	}
	for (unsigned i = 0; i < 4; i++)
		run_add_stack(run, &stacks[i]);
	for (unsigned i = 0; i < 8; i++)
		run_add_sample(
			run, &(struct sample_row){1000 + i, 7, 1, 1, sampled[i], i % 2, i ? 0 : 3});
	run_add_branch(run, &(struct branch_row){1, 2, 3, 17, BRANCH_MISPREDICTED});
	run_add_access(run, &(struct access_row){2, 0x7fff0000, 30, 5});
}

static inline struct run *make_run(void)
{
	struct run *run = run_open();

	run->command = run_intern(run, "record");
	run->target = run_intern(run, "prog --fast");
	run->started_ns = 1700000000000000000;
	add_facts(run);
	add_samples(run);
	return run;
}

static inline struct run *load(const char *path)
{
	struct run *run = NULL;
	struct err err = {0};

	if (store_load(path, &run, &err) < 0)
		print_message("# %s\n", err.text);
	assert_non_null(run);
	assert_true(run->frozen);
	return run;
}

#define SAME_COUNT(rows) assert_int_equal(a->rows.count, b->rows.count)
#define SAME(rows, member)                                                                         \
	for (uint32_t i = 0; i < a->rows.count; i++)                                               \
	assert_true(a->rows.at[i].member == b->rows.at[i].member)

static inline void assert_same_facts(const struct run *a, const struct run *b)
{
	SAME_COUNT(notes);
	SAME(notes, code);
	SAME(notes, text);
	SAME(notes, hint);
	SAME_COUNT(fields);
	SAME(fields, group);
	SAME(fields, name);
	SAME(fields, value);
	SAME(fields, state);
	SAME_COUNT(capabilities);
	SAME(capabilities, name);
	SAME(capabilities, reason);
	SAME(capabilities, fix);
	SAME(capabilities, status);
	SAME_COUNT(events);
	SAME(events, name);
	SAME(events, unit);
	SAME(events, core);
	SAME(events, reason);
	SAME(events, group);
	SAME(events, status);
	for (uint32_t i = 0; i < a->events.count; i++)
		assert_true(a->events.at[i].scale == b->events.at[i].scale ||
			    (isnan(a->events.at[i].scale) && isnan(b->events.at[i].scale)));
}

static inline void assert_same_counts(const struct run *a, const struct run *b)
{
	SAME_COUNT(commands);
	SAME(commands, argv);
	SAME_COUNT(executions);
	SAME(executions, command);
	SAME(executions, steal_us);
	SAME(executions, pressure_us);
	SAME(executions, start_ns);
	SAME(executions, wall_ns);
	SAME(executions, user_ns);
	SAME(executions, system_ns);
	SAME(executions, max_rss_kib);
	SAME(executions, rss_floor_kib);
	SAME(executions, minor_faults);
	SAME(executions, major_faults);
	SAME(executions, voluntary_switches);
	SAME(executions, involuntary_switches);
	SAME(executions, exit_status);
	SAME(executions, signal);
	SAME(executions, flags);
	SAME_COUNT(counts);
	SAME(counts, event);
	SAME(counts, execution);
	SAME(counts, at_ns);
	SAME(counts, value);
	SAME(counts, enabled_ns);
	SAME(counts, running_ns);
}

static inline void assert_same_samples(const struct run *a, const struct run *b)
{
	SAME_COUNT(threads);
	SAME(threads, pid);
	SAME(threads, tid);
	SAME(threads, name);
	SAME_COUNT(modules);
	SAME(modules, path);
	SAME(modules, build_id);
	SAME(modules, flags);
	SAME_COUNT(qualities);
	SAME(qualities, name);
	SAME(qualities, value);
	SAME_COUNT(functions);
	SAME(functions, name);
	SAME(functions, file);
	SAME(functions, module);
	SAME(functions, line);
	SAME(functions, addr);
	SAME(functions, size_bytes);
	SAME_COUNT(frames);
	SAME(frames, function);
	SAME(frames, outer);
	SAME(frames, file);
	SAME(frames, line);
}

static inline void assert_same_stacks(const struct run *a, const struct run *b)
{
	SAME_COUNT(locations);
	SAME(locations, module);
	SAME(locations, addr);
	SAME(locations, frame);
	SAME(locations, flags);
	SAME_COUNT(stacks);
	SAME(stacks, parent);
	SAME(stacks, location);
	SAME_COUNT(samples);
	SAME(samples, time_ns);
	SAME(samples, period);
	SAME(samples, event);
	SAME(samples, thread);
	SAME(samples, stack);
	SAME(samples, cpu);
	SAME(samples, flags);
	SAME_COUNT(branches);
	SAME(branches, sample);
	SAME(branches, from);
	SAME(branches, to);
	SAME(branches, cycles);
	SAME(branches, flags);
	SAME_COUNT(accesses);
	SAME(accesses, sample);
	SAME(accesses, addr);
	SAME(accesses, weight);
	SAME(accesses, data_source);
}

static inline void assert_same_run(const struct run *a, const struct run *b)
{
	assert_int_equal(run_text_count(a), run_text_count(b));
	for (text_id id = 1; id <= run_text_count(a); id++)
		assert_string_equal(run_text(a, id), run_text(b, id));
	assert_same_facts(a, b);
	assert_same_counts(a, b);
	assert_same_samples(a, b);
	assert_same_stacks(a, b);
	assert_int_equal(a->command, b->command);
	assert_int_equal(a->target, b->target);
	assert_int_equal(a->fingerprint, b->fingerprint);
	assert_true(a->started_ns == b->started_ns);
	assert_int_equal(a->partial, b->partial);
}

/* For sqlite3_exec(): a row as a line of `context`, a struct str. */
static inline int add_row(void *context, int columns, char **values, char **names)
{
	struct str *text = context;

	(void)names;
	for (int i = 0; i < columns; i++)
		str_addf(text, "%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
	str_add_char(text, '\n');
	return 0;
}
