/* What /proc tells: the texts, and the watch over a made-up machine. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/proc_text.h"
#include "source/proc_watch.h"

/* ---- texts ---- */

static void a_schedstat_has_three_numbers(void **state)
{
	struct proc_schedstat stat;

	(void)state;
	assert_true(proc_schedstat_parse("123 456 7\n", &stat));
	assert_int_equal(stat.on_cpu_ns, 123);
	assert_int_equal(stat.runq_ns, 456);
	assert_false(proc_schedstat_parse("123 456\n", &stat));
	assert_false(proc_schedstat_parse("99999999999999999999999 1 1", &stat));
	assert_false(proc_schedstat_parse("", &stat));
}

static void a_status_tells_state_switches_and_cpus(void **state)
{
	static const char text[] = "Name:\tx\nState:\tD (disk sleep)\nVmRSS:\t     200 kB\n"
				   "Threads:\t3\nCpus_allowed_list:\t0-3,8\n"
				   "voluntary_ctxt_switches:\t11\n"
				   "nonvoluntary_ctxt_switches:\t22\n";
	struct proc_status status;

	(void)state;
	assert_true(proc_status_parse(text, &status));
	assert_int_equal(status.state, 'D');
	assert_int_equal(status.rss_bytes, 200 * 1024);
	assert_int_equal(status.voluntary, 11);
	assert_int_equal(status.involuntary, 22);
	assert_int_equal(status.cpus_allowed, 5);
	assert_false(proc_status_parse("Name:\tx\n", &status));
	assert_true(proc_status_parse("State:\tR\n", &status));
	assert_true(status.voluntary == UINT64_MAX);
}

static void a_list_of_cpus_that_is_none_counts_nothing(void **state)
{
	(void)state;
	assert_int_equal(proc_list_count("0-1"), 2);
	assert_int_equal(proc_list_count("7"), 1);
	assert_int_equal(proc_list_count("3-1"), 0);
	assert_int_equal(proc_list_count("0-"), 0);
	assert_int_equal(proc_list_count("x"), 0);
	assert_int_equal(proc_list_count("0-99999999999"), 0);
}

static void a_name_with_brackets_does_not_shift_the_fields_of_stat(void **state)
{
	static const char text[] =
		"12 (a) b) S 1 12 12 0 -1 4194304 100 5 2 1 9 8 0 0 20 0 1 0 777 "
		"1 2";
	struct proc_stat stat;

	(void)state;
	assert_true(proc_stat_parse(text, &stat));
	assert_int_equal(stat.minor_faults, 105);
	assert_int_equal(stat.major_faults, 3);
	assert_int_equal(stat.started, 777);
	assert_false(proc_stat_parse("12 (a S", &stat));
	assert_false(proc_stat_parse("12 (a) S 1 2", &stat));
}

static void io_pressure_and_quota_are_read(void **state)
{
	struct proc_io io;
	struct proc_pressure pressure;
	struct proc_throttle throttle;
	struct proc_cpu cpu;

	(void)state;
	assert_true(proc_io_parse("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
				  "write_bytes: 6\ncancelled_write_bytes: 7\n",
		&io));
	assert_int_equal(io.write_calls, 4);
	assert_int_equal(io.write_bytes, 6);
	assert_false(proc_io_parse("rchar: 1\n", &io));
	assert_true(proc_pressure_parse(
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=77\n", &pressure));
	assert_int_equal(pressure.some_us, 77);
	assert_true(pressure.full_us == UINT64_MAX);
	assert_false(proc_pressure_parse("full total=1\n", &pressure));
	assert_true(proc_throttle_parse("nr_throttled 3\nthrottled_usec 5\n", &throttle));
	assert_int_equal(throttle.throttled_ns, 5000);
	assert_true(proc_throttle_parse("nr_throttled 3\nthrottled_time 5\n", &throttle));
	assert_int_equal(throttle.throttled_ns, 5);
	assert_true(proc_cpu_parse("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1", &cpu));
	assert_int_equal(cpu.steal, 8);
	assert_false(proc_cpu_parse("cpu0 1 2 3", &cpu));
}

static void a_line_of_diskstats_that_is_none_is_passed_over(void **state)
{
	const char *text = "rubbish\n 8 0 sda 1 2 3 4 5 6 7 8 9 100 200 0 0\n 8 1 sda1 1\n";
	struct proc_disk disk;

	(void)state;
	assert_true(proc_disk_next(&text, &disk));
	assert_string_equal(disk.name, "sda");
	assert_int_equal(disk.busy_ms, 100);
	assert_int_equal(disk.waited_ms, 200);
	assert_false(proc_disk_next(&text, &disk));
}

static void a_wait_for_a_mutex_is_told_from_one_for_a_condition(void **state)
{
	enum proc_wait wait;
	uint64_t address;

	(void)state;
#ifdef __x86_64__
	assert_true(proc_wait_parse(
		"202 0x7f00 0x80 0x2 0x0 0x0 0x0 0x7ffe 0x7f11\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_LOCK);
	assert_int_equal(address, 0x7f00);
	assert_true(proc_wait_parse(
		"202 0x7f00 0x189 0x2 0x0 0x0 0x0 0x7ffe 0x7f11\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_FUTEX);
	/* Rust's mutex, and its thread that is parked. */
	assert_true(proc_wait_parse(
		"202 0x7f00 0x89 0x2 0x0 0x0 0xffffffff 0x7ffe 0x7f11\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_LOCK);
	assert_true(proc_wait_parse(
		"202 0x7f00 0x89 0xffffffff 0x0 0x0 0xffffffff 0x7ffe 0x7f11\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_FUTEX);
	assert_true(proc_wait_parse("74 0x3 0x0 0x0 0x0 0x0 0x0 0x1 0x2\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_SYNC);
#endif
	assert_true(proc_wait_parse("running\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_NONE);
	assert_true(proc_wait_parse("-1 0x7ffe 0x7f11\n", &wait, &address));
	assert_int_equal(wait, PROC_WAIT_NONE);
	assert_false(proc_wait_parse("", &wait, &address));
	assert_false(proc_wait_parse("202 0x1\n", &wait, &address));
}

/* ---- the watch ---- */

struct tree {
	char root[64];
};

static void put(const struct tree *tree, const char *path, const char *text)
{
	str_auto struct str full = {0};
	struct err err = {0};

	str_addf(&full, "%s%s", tree->root, path);
	for (char *slash = strchr(full.at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full.at, 0777);
		*slash = '/';
	}
	assert_int_equal(io_replace(full.at, IO_SHARED, text, strlen(text), &err), 0);
}

static void put_thread(const struct tree *tree, int pid, int tid, const char *schedstat)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, tid);
	put(tree, path, schedstat);
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	put(tree, path,
		"State:\tS (sleeping)\nVmRSS:\t100 kB\nThreads:\t1\nCpus_allowed_list:\t0-1\n"
		"voluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n");
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	put(tree, path, "running\n");
}

static void put_process(const struct tree *tree, int pid, const char *started)
{
	char path[128], text[256];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	snprintf(text, sizeof(text), "%d (p) S 1 1 1 0 -1 0 10 0 0 0 0 0 0 0 20 0 1 0 %s 1 1", pid,
		started);
	put(tree, path, text);
	snprintf(path, sizeof(path), "/proc/%d/io", pid);
	put(tree, path,
		"rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 0\nwrite_bytes: 0\n");
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	put(tree, path, "State:\tS\nVmRSS:\t100 kB\n");
}

static void take_away(const struct tree *tree, const char *path)
{
	str_auto struct str command = {0};

	str_addf(&command, "rm -rf '%s%s'", tree->root, path);
	assert_int_equal(system(command.at), 0);
}

static int tree_open(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	strcpy(tree->root, "/tmp/assay-proc-XXXXXX");
	*state = tree;
	return !tree || !mkdtemp(tree->root);
}

static int tree_close(void **state)
{
	take_away(*state, "");
	free(*state);
	return 0;
}

/* Facts of a watch that ends now. */
static struct run *watch_finish(struct proc_watch *watch, uint64_t cpu_ns)
{
	struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	const struct proc_watch_end end = {.now_ns = 2000000000, .cpu_ns = cpu_ns};

	assert_int_equal(proc_watch_emit(watch, &end, &sink), 0);
	proc_watch_close(watch);
	return run;
}

static const struct fact_row *fact(const struct run *run, const char *name)
{
	vec_foreach (const struct fact_row, row, &run->facts)
		if (str_equal(run_text(run, row->name), name))
			return row;
	fail_msg("no fact %s", name);
	return NULL;
}

static void a_thread_that_ended_keeps_its_last_reading(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put_process(tree, 10, "100");
	put_thread(tree, 10, 10, "1000000 500000 3\n");
	put_thread(tree, 10, 11, "7000000 100000 3\n");
	watch = proc_watch_open(
		&(struct proc_watch_options){.root = tree->root, .pid = 10}, 1000000000);
	proc_watch_read(watch, 1010000000);
	take_away(tree, "/proc/10/task/11");
	put_thread(tree, 10, 10, "2000000 600000 4\n");
	proc_watch_read(watch, 1100000000);
	run = watch_finish(watch, 9000000);
	assert_true(fact(run, "on_cpu_ns")->value == 9000000);
	assert_true(fact(run, "runq_ns")->value == 700000);
	assert_true(fact(run, "worker_on_cpu_ns")->value == 7000000);
	assert_true(fact(run, "threads_seen")->value == 2);
	assert_true(fact(run, "threads_most")->value == 2);
	assert_true(fact(run, "cpus_allowed")->value == 2);
}

static void children_are_followed_and_a_reused_id_is_another_process(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put_process(tree, 10, "100");
	put_thread(tree, 10, 10, "1000000 0 3\n");
	put(tree, "/proc/10/task/10/children", "20 \n");
	put_process(tree, 20, "200");
	put_thread(tree, 20, 20, "3000000 0 3\n");
	watch = proc_watch_open(
		&(struct proc_watch_options){.root = tree->root, .pid = 10}, 1000000000);
	proc_watch_read(watch, 1010000000);
	put(tree, "/proc/10/task/10/children", "\n");
	put_process(tree, 20, "999"); /* somebody else's now */
	put_thread(tree, 20, 20, "8000000000 0 3\n");
	proc_watch_read(watch, 1100000000);
	run = watch_finish(watch, 4000000);
	assert_true(fact(run, "on_cpu_ns")->value == 4000000);
	assert_true(fact(run, "processes_seen")->value == 2);
	assert_true(fact(run, "write_calls")->value == 4);
}

static void what_an_attached_process_had_before_does_not_count(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put_process(tree, 10, "100");
	put_thread(tree, 10, 10, "5000000000 1000 3\n");
	watch = proc_watch_open(
		&(struct proc_watch_options){.root = tree->root, .pid = 10, .attached = true},
		1000000000);
	put_thread(tree, 10, 10, "5000000400 1500 3\n");
	proc_watch_read(watch, 1100000000);
	run = watch_finish(watch, 0);
	assert_true(fact(run, "on_cpu_ns")->value == 400);
	assert_true(fact(run, "runq_ns")->value == 500);
	assert_true(fact(run, "read_calls")->value == 0);
}

static void processes_too_short_to_be_seen_are_no_measurement(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put_process(tree, 10, "100");
	put_thread(tree, 10, 10, "1000000 500000 3\n");
	watch = proc_watch_open(
		&(struct proc_watch_options){.root = tree->root, .pid = 10}, 1000000000);
	proc_watch_read(watch, 1010000000);
	run = watch_finish(watch, 100000000);
	assert_true(isnan(fact(run, "on_cpu_ns")->value));
	assert_non_null(strstr(run_text(run, fact(run, "on_cpu_ns")->reason), "only 1 %"));
}

static void what_the_machine_does_not_have_is_a_fact_with_a_reason(void **state)
{
	const struct tree *tree = *state;
	run_auto struct run *run = watch_finish(
		proc_watch_open(
			&(struct proc_watch_options){.root = tree->root, .pid = 10}, 1000000000),
		0);
	unsigned known = 0;

	vec_foreach (const struct fact_row, row, &run->facts)
		if (!row->reason)
			known++;
	assert_int_equal(known, 2); /* watched_ns, readings */
	assert_non_null(
		strstr(run_text(run, fact(run, "pressure_cpu_ns")->reason), "/proc/pressure/cpu"));
	assert_true(isnan(fact(run, "steal_ns")->value));
}

static void pressure_and_disks_are_differences(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put(tree, "/proc/pressure/io", "some avg10=0 avg60=0 avg300=0 total=1000\n");
	put(tree, "/proc/diskstats",
		" 8 0 sda 1 2 3 4 5 6 7 8 9 100 200\n 8 1 sdb 1 2 3 4 5 6 7 8 9 1 2\n");
	watch = proc_watch_open(
		&(struct proc_watch_options){.root = tree->root, .pid = 10}, 1000000000);
	put(tree, "/proc/pressure/io", "some avg10=0 avg60=0 avg300=0 total=3500\n");
	put(tree, "/proc/diskstats",
		" 8 0 sda 1 2 3 4 5 6 7 8 9 150 400\n 8 1 sdb 1 2 3 4 5 6 7 8 9 9 2\n");
	run = watch_finish(watch, 0);
	assert_true(fact(run, "pressure_io_ns")->value == 2500000);
	assert_true(fact(run, "disk_busy_ns")->value == 50000000);
	assert_true(fabs(fact(run, "disk_queue")->value - 0.2) < 1e-9);
}

/* A program that we start has its id, and so its group, only after the watch has begun. */
static void being_held_back_is_of_one_control_group(void **state)
{
	const struct tree *tree = *state;
	struct proc_watch *watch;
	run_auto struct run *run = NULL;

	put(tree, "/sys/fs/cgroup/cpu.stat", "nr_throttled 9\nthrottled_usec 900000\n");
	put(tree, "/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 1\nthrottled_usec 1000\n");
	put(tree, "/proc/10/cgroup", "0::/a/b\n");
	put_process(tree, 10, "100");
	watch = proc_watch_open(&(struct proc_watch_options){.root = tree->root}, 1000000000);
	proc_watch_follow(watch, 10);
	put(tree, "/sys/fs/cgroup/a/b/cpu.stat", "nr_throttled 2\nthrottled_usec 1250\n");
	run = watch_finish(watch, 0);
	assert_true(fact(run, "throttled_ns")->value == 250000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_schedstat_has_three_numbers),
		cmocka_unit_test(a_status_tells_state_switches_and_cpus),
		cmocka_unit_test(a_list_of_cpus_that_is_none_counts_nothing),
		cmocka_unit_test(a_name_with_brackets_does_not_shift_the_fields_of_stat),
		cmocka_unit_test(io_pressure_and_quota_are_read),
		cmocka_unit_test(a_line_of_diskstats_that_is_none_is_passed_over),
		cmocka_unit_test(a_wait_for_a_mutex_is_told_from_one_for_a_condition),
		cmocka_unit_test_setup_teardown(
			a_thread_that_ended_keeps_its_last_reading, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(
			children_are_followed_and_a_reused_id_is_another_process, tree_open,
			tree_close),
		cmocka_unit_test_setup_teardown(
			what_an_attached_process_had_before_does_not_count, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(
			processes_too_short_to_be_seen_are_no_measurement, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(
			what_the_machine_does_not_have_is_a_fact_with_a_reason, tree_open,
			tree_close),
		cmocka_unit_test_setup_teardown(
			pressure_and_disks_are_differences, tree_open, tree_close),
		cmocka_unit_test_setup_teardown(
			being_held_back_is_of_one_control_group, tree_open, tree_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
