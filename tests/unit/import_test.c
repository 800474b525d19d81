/* import_test.c - perf stat's output becomes events and counts, and what cannot be used is counted
 * by reason. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/stat.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

#define JSON(value, event, runtime, share)                                                         \
	"{\"counter-value\" : \"" value "\", \"unit\" : \"\", \"event\" : \"" event                \
	"\", \"event-runtime\" : " runtime ", \"pcnt-running\" : " share                           \
	", \"metric-value\" : 0.000000, \"metric-unit\" : \"(null)\"}\n"

struct imported {
	struct run *run;
	struct import_report report;
	struct err err;
	int r;
};

static struct imported import(const char *text)
{
	struct imported result = {.run = run_open()};
	struct ingest ingest = {.run = result.run};
	struct wire_sink sink = ingest_sink(&ingest);

	result.r = import_bytes(text, strlen(text), "t", &sink, &result.report, &result.err);
	assert_int_equal(ingest.malformed, 0);
	return result;
}

static const struct event_row *event_at(const struct imported *in, uint32_t i, const char *name)
{
	assert_true(i < in->run->events.count);
	assert_string_equal(run_text(in->run, in->run->events.at[i].name), name);
	return &in->run->events.at[i];
}

/* The count of the whole run. */
static struct count_row count_of(const struct imported *in, uint32_t i)
{
	vec_foreach (const struct count_row, count, &in->run->counts)
		if (count->event == i + 1 && !count->at_ns)
			return *count;
	fail_msg("event %u has no count", i);
	return (struct count_row){0};
}

/* The text of a note, NULL: there is none. */
static const char *note_of(const struct imported *in, const char *code)
{
	vec_foreach (const struct note_row, note, &in->run->notes)
		if (strcmp(run_text(in->run, note->code), code) == 0)
			return run_text(in->run, note->text);
	return NULL;
}

static bool has_note(const struct imported *in, const char *code)
{
	return note_of(in, code) != NULL;
}

static void a_value_that_perf_scaled_is_kept_and_never_scaled_again(void **state)
{
	struct imported in = import(JSON("600.000000", "cycles", "40000000", "40.00"));
	const struct event_row *event = event_at(&in, 0, "cycles");
	struct count_row count = count_of(&in, 0);
	metric_book_auto struct metric_book book = {0};
	arena_auto struct arena arena = {0};
	struct stat_view view;

	(void)state;
	assert_int_equal(in.r, 0);
	assert_string_equal(in.report.kind, "perf-stat-json");
	assert_int_equal(event->flags, EVENT_PRESCALED);
	assert_int_equal(count.value, 600);
	assert_int_equal(count.running_ns, 40000000);
	assert_int_equal(count.enabled_ns, 100000000);
	assert_int_equal(in.run->executions.count, 0);
	assert_true(has_note(&in, "events-multiplexed"));
	stat_view_make(in.run, &book, &arena, &view);
	assert_true(view.events[0].known && view.events[0].scaled);
	assert_true(fabs(view.events[0].value - 600) < 1e-9);
	assert_true(fabs(view.events[0].running_share - 0.4) < 1e-9);
	run_close(in.run);
}

static void what_perf_did_not_count_has_no_count_whatever_the_line_says(void **state)
{
	struct imported in = import(JSON("<not supported>", "branches", "0", "100.00")
			JSON("<not counted>", "cycles", "0", "100.00"));

	(void)state;
	assert_int_equal(event_at(&in, 0, "branches")->status, EVENT_NOT_SUPPORTED);
	assert_int_equal(event_at(&in, 1, "cycles")->status, EVENT_NOT_COUNTED);
	assert_true(*run_text(in.run, in.run->events.at[1].reason));
	assert_int_equal(in.run->counts.count, 0);
	run_close(in.run);
}

static void clocks_are_nanoseconds_and_other_units_keep_their_decimals(void **state)
{
	struct imported in = import("122.28,msec,task-clock,122279200,100.00,0.477,CPUs utilized\n"
				    "3.25,Joules,power/energy-pkg/,99,100.00,,\n"
				    "18446744073709551615,,cycles,5,100.00,,\n");

	(void)state;
	assert_string_equal(in.report.kind, "perf-stat-csv");
	assert_string_equal(run_text(in.run, event_at(&in, 0, "task-clock")->unit), "ns");
	assert_int_equal(count_of(&in, 0).value, 122280000);
	assert_string_equal(
		run_text(in.run, event_at(&in, 1, "power/energy-pkg/")->unit), "Joules");
	assert_int_equal(count_of(&in, 1).value, 3250000);
	assert_true(fabs(in.run->events.at[1].scale - 1e-6) < 1e-15);
	assert_true(count_of(&in, 2).value == UINT64_MAX);
	run_close(in.run);
}

static void any_separator_is_found_and_may_stand_inside_an_event(void **state)
{
	static const char *const separators[] = {",", ";", "|", "\t", " ", "::", "~~", "\xc2\xa7"};

	(void)state;
	for (size_t i = 0; i < sizeof(separators) / sizeof(*separators); i++) {
		const char *s = separators[i];
		arena_auto struct arena arena = {0};
		char *text = arena_format(&arena,
			"# started on a day\n\n<not counted>%s%scpu/event=0xc0,umask=0x1/u%s0%s100.00%s%s\n"
			"7%s%scpu/event=0xc0,umask=0x2/%s55%s50.00%s%s\n",
			s, s, s, s, s, s, s, s, s, s, s, s);
		struct imported in = import(text);

		assert_int_equal(in.r, 0);
		assert_int_equal(
			event_at(&in, 0, "cpu/event=0xc0,umask=0x1/u")->status, EVENT_NOT_COUNTED);
		event_at(&in, 1, "cpu/event=0xc0,umask=0x2/");
		assert_int_equal(count_of(&in, 1).value, 7);
		assert_int_equal(count_of(&in, 1).enabled_ns, 110);
		run_close(in.run);
	}
}

static void intervals_are_kept_and_summed(void **state)
{
	struct imported in = import("     0.050106003,5,,page-faults,100,100.00,,\n"
				    "     0.100328840,<not counted>,,page-faults,0,100.00,,\n"
				    "     0.121203326,7,,page-faults,50,50.00,,\n");

	(void)state;
	assert_int_equal(in.run->events.count, 1);
	assert_int_equal(in.run->counts.count, 3);
	assert_int_equal(in.run->counts.at[0].at_ns, 50106003);
	assert_int_equal(in.run->counts.at[0].value, 5);
	assert_int_equal(in.run->counts.at[1].at_ns, 121203326);
	assert_int_equal(count_of(&in, 0).value, 12);
	assert_int_equal(count_of(&in, 0).running_ns, 150);
	assert_int_equal(count_of(&in, 0).enabled_ns, 200);
	assert_string_equal(note_of(&in, "counts-incomplete"),
		"not counted in some intervals or on some CPUs: page-faults; totals cover the "
		"rest");
	run_close(in.run);
}

static void cpus_cores_and_threads_are_summed(void **state)
{
	static const char *const texts[] = {
		"CPU0,3,,cs,9,100.00,,\nCPU1,4,,cs,9,100.00,,\n",
		"S0-D0-C0,1,3,,cs,9,100.00,,\nS0-D0-C1,1,4,,cs,9,100.00,,\n",
		"bash-12,3,,cs,9,100.00,,\nls-13,4,,cs,9,100.00,,\n",
		"     1.000000001,S0,2,3,,cs,9,100.00,,\n     1.000000001,S1,2,4,,cs,9,100.00,,\n",
		/* NOLINTNEXTLINE(bugprone-suspicious-missing-comma): two lines of one text */
		"{\"cpu\" : \"0\", \"counter-value\" : \"3.000000\", \"event\" : \"cs\", "
		"\"event-runtime\" : 9, \"pcnt-running\" : 100.00}\n"
		"{\"cpu\" : \"1\", \"counter-value\" : \"4.000000\", \"event\" : \"cs\", "
		"\"event-runtime\" : 9, \"pcnt-running\" : 100.00}\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct imported in = import(texts[i]);

		assert_int_equal(in.r, 0);
		assert_int_equal(in.run->events.count, 1);
		assert_int_equal(count_of(&in, 0).value, 7);
		assert_true(has_note(&in, "counts-summed"));
		run_close(in.run);
	}
}

static void the_same_event_asked_for_twice_stays_two_events(void **state)
{
	struct imported in = import("5,,cycles,9,100.00,,\n6,,cycles,9,100.00,,\n");

	(void)state;
	assert_int_equal(in.run->events.count, 2);
	assert_int_equal(count_of(&in, 0).value, 5);
	assert_int_equal(count_of(&in, 1).value, 6);
	run_close(in.run);
}

static void repeated_runs_and_cgroups_are_told_apart_from_the_event(void **state)
{
	struct imported in = import("5,,page-faults,16.67%,829682,100.00,2.432,K/sec\n"
				    "6,,page-faults,/a,829682,100.00,,\n");

	(void)state;
	event_at(&in, 0, "page-faults");
	event_at(&in, 1, "page-faults cgroup=/a");
	assert_true(has_note(&in, "counts-are-means"));
	run_close(in.run);
}

static void core_types_of_a_hybrid_cpu_are_labels(void **state)
{
	struct imported in =
		import("5,,cpu_core/cycles/,9,100.00,,\n6,,cpu_atom/cycles/u,9,100.00,,\n"
		       "7,,cpu_core/event=0x3c/,9,100.00,,\n");

	(void)state;
	assert_string_equal(run_text(in.run, event_at(&in, 0, "cycles")->core), "cpu_core");
	assert_string_equal(run_text(in.run, event_at(&in, 1, "cycles:u")->core), "cpu_atom");
	assert_string_equal(
		run_text(in.run, event_at(&in, 2, "cpu_core/event=0x3c/")->core), "cpu_core");
	run_close(in.run);
}

static void duration_time_is_the_wall_time_of_an_execution(void **state)
{
	struct imported in = import("711947,ns,duration_time,711947,100.00,,\n"
				    "5,,page-faults,9,100.00,,\n");

	(void)state;
	assert_int_equal(in.run->executions.count, 1);
	assert_int_equal(in.run->executions.at[0].wall_ns, 711947);
	assert_int_equal(in.run->executions.at[0].flags, EXECUTION_NO_USAGE);
	assert_int_equal(count_of(&in, 1).execution, 1);
	run_close(in.run);
}

static void what_cannot_be_true_is_not_trusted(void **state)
{
	struct imported in = import("0,,context-switches:u,9,100.00,,\n"
				    "4000,,instructions,9,0.00,,\n0,,branches,90,100.00,,\n"
				    "0,,cycles,90,100.00,,\n");

	(void)state;
	assert_int_equal(event_at(&in, 0, "context-switches:u")->status, EVENT_NOT_TRUSTED);
	assert_int_equal(event_at(&in, 1, "instructions")->status, EVENT_NOT_TRUSTED);
	assert_int_equal(event_at(&in, 2, "branches")->status, EVENT_COUNTED);
	assert_string_equal(
		note_of(&in, "counters-zero"), "counted nothing while running: branches, cycles");
	run_close(in.run);
}

static void lines_that_cannot_be_used_are_counted_by_reason(void **state)
{
	struct imported in = import(
		"hello from the program\n{broken\n{}\n"
		"{\"metric-value\" : 1.5, \"metric-unit\" : \"x\"}\n" JSON("-5", "a", "1", "100.00")
			JSON("5", "", "1", "100.00") JSON("99999999999999999999", "b", "1",
				"100.00") JSON("5", "c", "1", "100.00"));

	(void)state;
	assert_int_equal(in.r, 0);
	assert_int_equal(in.report.lines, 8);
	assert_int_equal(in.report.skipped[IMPORT_FOREIGN], 1);
	assert_int_equal(in.report.skipped[IMPORT_MALFORMED], 2);
	assert_int_equal(in.report.skipped[IMPORT_METRIC], 2);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 2);
	assert_true(has_note(&in, "import-lines-skipped"));
	run_close(in.run);
}

static void metric_lines_of_the_field_format_are_no_loss(void **state)
{
	struct imported in =
		import("5,,cycles,9,100.00,,\n,,,,,0.50,stalled cycles per insn\nnoise, noise\n");

	(void)state;
	assert_int_equal(in.report.skipped[IMPORT_METRIC], 1);
	assert_int_equal(in.report.skipped[IMPORT_FOREIGN], 1);
	run_close(in.run);
}

static void a_last_line_that_is_cut_off_costs_only_itself(void **state)
{
	static const char *const texts[] = {
		JSON("5", "a", "1", "100.00") "{\"counter-value\" : \"6.0",
		"5;;a;1;100.00;;\n6;;b;1;10",
		"5;;a;1;100.00;;\r\n6",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct imported in = import(texts[i]);

		assert_int_equal(in.r, 0);
		assert_int_equal(in.run->events.count, 1);
		assert_int_equal(in.report.skipped[IMPORT_TRUNCATED], 1);
		assert_true(has_note(&in, "import-lines-skipped"));
		run_close(in.run);
	}
}

#define READS                                                                                      \
	"supported: perf.data, perf script text, folded stacks, pprof, callgrind.out, "            \
	"cachegrind.out, profile.coz, perf stat -j and -x SEPARATOR, JSON of hyperfine and "       \
	"Google Benchmark, and logs with perf.profile.* events"

static void a_file_of_which_nothing_can_be_used_is_refused(void **state)
{
	static const struct {
		const char *text, *sentence, *hint;
	} cases[] = {
		{"", "t is empty", READS},
		{"a,b,c\n1,2,3\n", "t: unknown file format", READS},
		{"\n Performance counter stats for 'true':\n\n 0.4 msec task-clock\n",
			"t: unknown file format",
			"this is perf stat's output for people; record with `perf stat -j` or `perf "
			"stat -x,`"},
		{"{\"counter-value\" : 5}\n", "t: unknown file format", READS},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct imported in = import(cases[i].text);

		assert_int_equal(in.r, -EINVAL);
		assert_string_equal(in.err.text, cases[i].sentence);
		assert_string_equal(in.err.hint, cases[i].hint);
		assert_int_equal(in.run->events.count, 0);
		run_close(in.run);
	}
}

/* What perf derived itself on a real PMU driver is the vector: 0.5 instructions per cycle and
 * 0.997561 GHz stand in the file. */
static void metrics_of_a_real_recording_agree_with_perf(void **state)
{
	const char *shared = getenv("ASSAY_SHARED"), *source = getenv("ASSAY_SOURCE");
	metric_book_auto struct metric_book book = {0};
	arena_auto struct arena arena = {0};
	struct imported in = {.run = run_open()};
	struct ingest ingest = {.run = in.run};
	struct wire_sink sink = ingest_sink(&ingest);
	char path[512];
	struct stat_view view;
	unsigned seen = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s%s/perfdata/perf-stat-j.arm64_tcg_mux.jsonl",
		shared	 ? shared
		: source ? source
			 : ".",
		shared ? "" : "/../shared");
	if (import_file(path, &(struct quota){0}, &sink, &in.report, &in.err) < 0) {
		print_message("# skip: %s\n", in.err.text);
		run_close(in.run);
		skip();
	}
	assert_int_equal(in.run->events.count, 18);
	assert_int_equal(metric_book_load(&book, &in.err), 0);
	stat_view_make(in.run, &book, &arena, &view);
	for (uint32_t i = 0; i < view.metric_count; i++) {
		const struct metric_result *row = &view.metrics[i];

		if (strcmp(row->metric->name, "ipc") == 0 && ++seen)
			assert_true(fabs(row->value - 0.5) < 1e-6);
		if (strcmp(row->metric->name, "ghz") == 0 && ++seen)
			assert_true(fabs(row->value - 0.997561) < 1e-6);
		if (strcmp(row->metric->name, "backend_stall_share") == 0 && ++seen)
			assert_false(row->known); /* the emulator opens it and never counts */
	}
	assert_int_equal(seen, 3);
	run_close(in.run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_that_perf_scaled_is_kept_and_never_scaled_again),
		cmocka_unit_test(what_perf_did_not_count_has_no_count_whatever_the_line_says),
		cmocka_unit_test(clocks_are_nanoseconds_and_other_units_keep_their_decimals),
		cmocka_unit_test(any_separator_is_found_and_may_stand_inside_an_event),
		cmocka_unit_test(intervals_are_kept_and_summed),
		cmocka_unit_test(cpus_cores_and_threads_are_summed),
		cmocka_unit_test(the_same_event_asked_for_twice_stays_two_events),
		cmocka_unit_test(repeated_runs_and_cgroups_are_told_apart_from_the_event),
		cmocka_unit_test(core_types_of_a_hybrid_cpu_are_labels),
		cmocka_unit_test(duration_time_is_the_wall_time_of_an_execution),
		cmocka_unit_test(what_cannot_be_true_is_not_trusted),
		cmocka_unit_test(lines_that_cannot_be_used_are_counted_by_reason),
		cmocka_unit_test(metric_lines_of_the_field_format_are_no_loss),
		cmocka_unit_test(a_last_line_that_is_cut_off_costs_only_itself),
		cmocka_unit_test(a_file_of_which_nothing_can_be_used_is_refused),
		cmocka_unit_test(metrics_of_a_real_recording_agree_with_perf),
	};

	return cmocka_run_group_tests_name("import", tests, NULL, NULL);
}
