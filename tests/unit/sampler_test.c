/* sampler_test.c - this program, started again as a target, and what is sampled of it.
 *
 * `test-sampler spin` calls work() from work_caller(); the other words make processes of it.  What
 * the sampler hands over is kept here only as far as the tests ask for it. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"
#include "base/vec.h"
#include "drive/record.h"
#include "source/task_scan.h"
#include "wire/sample.h"

enum { STEPS = 60000000, PROCESSES = 20, THREADS = 20 };

/* ---- the target ---- */

static uintptr_t work_return;

static __attribute__((noinline)) void work(unsigned long steps)
{
	work_return = (uintptr_t)__builtin_return_address(0);
	for (volatile unsigned long i = 0; i < steps; i++)
		;
}

static __attribute__((noinline)) void work_caller(unsigned long steps)
{
	work(steps);
	__asm__ volatile(""); /* no tail call */
}

static void *work_thread(void *unused)
{
	work_caller(STEPS / 10);
	return unused;
}

static int target_threads(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work_thread, NULL))
			return 2;
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static void target_start(char *self, bool sharing)
{
	pid_t child = sharing ? vfork() : fork(); /* NOLINT: vfork is what is tested */

	if (child == 0) {
		execl(self, self, "short", NULL);
		_exit(127);
	}
}

static int target_processes(char *self)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		target_start(self, i % 2);
	while (wait(NULL) > 0)
		;
	return errno == ECHILD ? 0 : 2;
}

static int target_main(char **argv)
{
	if (str_equal(argv[1], "spin"))
		work_caller(STEPS);
	else if (str_equal(argv[1], "short"))
		work_caller(STEPS / 10);
	else if (str_equal(argv[1], "threads"))
		return target_threads();
	else if (str_equal(argv[1], "processes"))
		return target_processes(argv[0]);
	else if (str_equal(argv[1], "close")) {
		for (int fd = 0; fd < 4096; fd++)
			close(fd);
		work_caller(STEPS);
	} else
		return 2;
	return 0;
}

/* ---- the sink ---- */

struct known_map {
	uint32_t pid;
	uint64_t start, end, file_offset;
	bool of_this_program;
};

struct caught {
	vec_of(struct known_map) maps;
	uint64_t samples, without_map, with_return, in_program;
	uint64_t forks, execs, exits, rounds, lost, last_round_ns, late;
	uint64_t work_offset; /* of work_return in this program's file */
	struct wire_execution execution;
	char event[32];
	char notes[512];
};

static struct known_map *map_find(struct caught *c, uint32_t pid, uint64_t addr)
{
	for (uint32_t i = c->maps.count; i--;)
		if (c->maps.at[i].pid == pid && addr >= c->maps.at[i].start &&
			addr < c->maps.at[i].end)
			return &c->maps.at[i];
	return NULL;
}

static void map_keep(struct caught *c, const struct wire_map *map)
{
	const char *path = wire_text(&map->head, map->path);

	if (!(map->flags & WIRE_MAP_KERNEL))
		vec_push(&c->maps, (struct known_map){map->pid, map->start, map->start + map->len,
					   map->file_offset, str_ends(path, "test-sampler")});
}

static void task_keep(struct caught *c, const struct wire_task *task)
{
	c->forks += task->kind == WIRE_TASK_FORK;
	c->execs += task->kind == WIRE_TASK_EXEC;
	c->exits += task->kind == WIRE_TASK_EXIT;
	if (task->kind == WIRE_TASK_EXEC) {
		for (uint32_t i = 0; i < c->maps.count; i++)
			if (c->maps.at[i].pid == task->pid)
				c->maps.at[i].end = 0;
	}
	if (task->kind != WIRE_TASK_FORK || task->pid == task->parent_pid)
		return;
	for (uint32_t i = 0, count = c->maps.count; i < count; i++)
		if (c->maps.at[i].pid == task->parent_pid) {
			struct known_map copy = c->maps.at[i];

			copy.pid = task->pid;
			vec_push(&c->maps, copy);
		}
}

static int catch_record(void *context, const struct wire_record *record)
{
	struct caught *c = context;
	const struct wire_event *event = (const void *)record;
	const struct wire_note *note = (const void *)record;

	assert_true(wire_check(record, record->size));
	if (record->type == WIRE_MAP)
		map_keep(c, (const void *)record);
	if (record->type == WIRE_TASK)
		task_keep(c, (const void *)record);
	if (record->type == WIRE_EVENT)
		snprintf(c->event, sizeof(c->event), "%s", wire_text(record, event->name));
	if (record->type == WIRE_NOTE)
		snprintf(c->notes + strlen(c->notes), sizeof(c->notes) - strlen(c->notes), "%s ",
			wire_text(record, note->code));
	if (record->type == WIRE_LOST)
		c->lost += ((const struct wire_lost *)(const void *)record)->count;
	if (record->type == WIRE_EXECUTION)
		c->execution = *(const struct wire_execution *)(const void *)record;
	if (record->type == WIRE_ROUND) {
		c->last_round_ns = ((const struct wire_round *)(const void *)record)->time_ns;
		c->rounds++;
	}
	return 0;
}

/* Whether the copy of the stack holds the address that work() returns to. */
static bool stack_has_return(
	const struct caught *c, const struct wire_sample *sample, const struct known_map *map)
{
	const uint64_t *word = sample->stack;

	for (uint32_t i = 0; i < sample->stack_bytes / 8; i++)
		if (word[i] >= map->start && word[i] < map->end &&
			word[i] - map->start + map->file_offset == c->work_offset)
			return true;
	return false;
}

static int catch_sample(void *context, const struct wire_sample *sample)
{
	struct caught *c = context;
	const struct known_map *map;

	assert_true(sample->event == 1 && sample->time_ns && sample->period);
	c->samples++;
	c->late += sample->time_ns < c->last_round_ns;
	if (!sample->user.valid || sample->flags & WIRE_SAMPLE_KERNEL)
		return 0; /* in an exec the registers are of the program that was */
	map = map_find(c, sample->pid, sample->user.ip);
	c->without_map += !map;
	if (!map || !map->of_this_program)
		return 0;
	c->in_program++;
	c->with_return += stack_has_return(c, sample, map);
	return 0;
}

static struct interrupt no_interrupt(void)
{
	return (struct interrupt){0};
}

/* The place of work_return in the file, from our own mappings. */
static uint64_t work_offset(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	uint64_t offset = 0;

	work_caller(1);
	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps)) {
		struct task_map map;

		if (task_map_parse(line, &map) && work_return >= map.start && work_return < map.end)
			offset = work_return - map.start + map.file_offset;
	}
	fclose(maps);
	return offset;
}

static int record_self(
	const char *what, struct record_options *options, struct caught *c, struct err *err)
{
	static char self[4096];
	char *argv[] = {self, (char *)(uintptr_t)what, NULL};
	event_list_auto struct event_list list = {0};
	struct wire_sink sink = {.take = catch_record, .take_sample = catch_sample, .context = c};
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	assert_true(len > 0);
	self[len] = '\0';
	c->work_offset = work_offset();
	if (what) {
		options->path = self;
		options->argv = argv;
	}
	options->interrupted = no_interrupt;
	assert_int_equal(event_list_parse(&list, "cpu-clock", err), 0);
	return record_target(options, &list, &sink, err);
}

/* The same, or the test is skipped where nothing may be sampled. */
static void record_or_skip(const char *what, struct record_options *options, struct caught *c)
{
	struct err err = {0};
	int r = record_self(what, options, c, &err);

	if (r < 0 && err.kind == ERR_UNAVAILABLE) {
		print_message("# skip: %s\n", err.text);
		vec_done(&c->maps);
		skip();
	}
	assert_int_equal(r, 0);
}

/* ---- the tests ---- */

static void the_copy_of_the_stack_holds_the_return_address_of_a_known_frame(void **state)
{
	struct caught c = {0};
	struct record_options options = {.rate_hz = 1999};

	(void)state;
	record_or_skip("spin", &options, &c);
	assert_true(c.samples > 20 && c.in_program > 10);
	assert_true(c.with_return * 10 >= c.in_program * 9);
	assert_int_equal(c.without_map, 0);
	assert_int_equal(c.execs, 1);
	assert_true(c.rounds > 0 && c.late * 100 <= c.samples);
	assert_int_equal(c.execution.exit_status, 0);
	assert_true(str_starts(c.event, "cpu-clock"));
	vec_done(&c.maps);
}

static void processes_are_followed_and_every_sample_finds_its_mapping(void **state)
{
	struct caught c = {0};
	struct record_options options = {.rate_hz = 4999};

	(void)state;
	record_or_skip("processes", &options, &c);
	assert_int_equal(c.forks, PROCESSES);
	assert_int_equal(c.execs, PROCESSES + 1);
	assert_int_equal(c.exits, PROCESSES + 1);
	assert_true(c.in_program > PROCESSES);
	assert_int_equal(c.without_map, 0);
	vec_done(&c.maps);
}

static void threads_are_followed(void **state)
{
	struct caught c = {0};
	struct record_options options = {.rate_hz = 4999};

	(void)state;
	record_or_skip("threads", &options, &c);
	assert_int_equal(c.forks, THREADS);
	assert_int_equal(c.exits, THREADS + 1);
	assert_true(c.with_return > THREADS);
	assert_int_equal(c.without_map, 0);
	vec_done(&c.maps);
}

static void a_target_that_closes_every_descriptor_is_sampled_all_the_same(void **state)
{
	struct caught c = {0};
	struct record_options options = {.rate_hz = 1999};

	(void)state;
	record_or_skip("close", &options, &c);
	assert_true(c.with_return > 10);
	vec_done(&c.maps);
}

static void without_stacks_nothing_is_copied(void **state)
{
	static const enum sampler_stack kinds[] = {
		SAMPLER_STACK_NONE, SAMPLER_STACK_FRAME_POINTERS};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct caught c = {0};
		struct record_options options = {.period = 500000, .stack = kinds[i]};

		record_or_skip("spin", &options, &c);
		assert_true(c.samples > 20);
		assert_int_equal(c.with_return, 0);
		vec_done(&c.maps);
	}
}

static void a_running_process_is_sampled_and_left_alone(void **state)
{
	struct caught c = {0};
	pid_t child = fork();
	struct record_options options = {
		.mode = COUNTERS_PROCESS, .id = child, .rate_hz = 1999, .duration_ns = 300000000};

	(void)state;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* also when the test is skipped or fails */
		for (;;)
			work_caller(STEPS);
	}
	record_or_skip(NULL, &options, &c);
	assert_int_equal(waitpid(child, NULL, WNOHANG), 0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_true(c.with_return > 0);
	assert_int_equal(c.without_map, 0);
	vec_done(&c.maps);
}

static void nothing_is_sampled_before_the_delay_and_after_the_duration(void **state)
{
	struct caught c = {0}, d = {0};
	struct record_options late = {.rate_hz = 1999, .delay_ns = UINT64_C(3600000000000)};
	struct record_options brief = {.rate_hz = 1999, .duration_ns = 1};

	(void)state;
	record_or_skip("spin", &late, &c);
	assert_int_equal(c.samples, 0);
	assert_true(c.maps.count > 0);
	record_or_skip("spin", &brief, &d);
	assert_int_equal(d.execution.exit_status, 0);
	assert_true(d.samples * 1000000000 / 1999 < d.execution.user_ns);
	vec_done(&c.maps);
	vec_done(&d.maps);
}

static void what_cannot_be_sampled_is_refused_with_a_way_out(void **state)
{
	struct caught c = {0};
	struct record_options branches = {.stack = SAMPLER_STACK_BRANCHES};
	struct record_options fast = {.rate_hz = UINT64_C(1) << 40};
	struct record_options fine = {.period = 100};
	struct err err = {0};

	(void)state;
	assert_true(record_self("spin", &branches, &c, &err) < 0);
	assert_true(err.kind == ERR_UNAVAILABLE && err.hint[0]);
	assert_true(record_self("spin", &fast, &c, &err) < 0);
	assert_non_null(strstr(err.hint, "perf_event_max_sample_rate"));
	assert_true(record_self("spin", &fine, &c, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	vec_done(&c.maps);
}

static void the_copy_of_the_stack_follows_from_ring_and_rate(void **state)
{
	(void)state;
	assert_int_equal(sampler_dump_bytes(16 << 20, 997), 60 << 10);
	assert_int_equal(sampler_dump_bytes(16 << 20, 4999), 60 << 10);
	assert_true(sampler_dump_bytes(8 << 20, 4999) < 34 << 10);
	assert_int_equal(sampler_dump_bytes(64 << 10, 997), 8 << 10);
	for (uint64_t bytes = 64 << 10; bytes <= 16 << 20; bytes *= 2)
		assert_int_equal(sampler_dump_bytes(bytes, 12345) % 8, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_copy_of_the_stack_holds_the_return_address_of_a_known_frame),
		cmocka_unit_test(processes_are_followed_and_every_sample_finds_its_mapping),
		cmocka_unit_test(threads_are_followed),
		cmocka_unit_test(a_target_that_closes_every_descriptor_is_sampled_all_the_same),
		cmocka_unit_test(without_stacks_nothing_is_copied),
		cmocka_unit_test(a_running_process_is_sampled_and_left_alone),
		cmocka_unit_test(nothing_is_sampled_before_the_delay_and_after_the_duration),
		cmocka_unit_test(what_cannot_be_sampled_is_refused_with_a_way_out),
		cmocka_unit_test(the_copy_of_the_stack_follows_from_ring_and_rate),
	};

	if (argc > 1) /* without what a sanitizer does at exit, which is a process of its own */
		_exit(target_main(argv));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
