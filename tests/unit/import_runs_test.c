/* import_runs_test.c - hyperfine's and Google Benchmark's files become executions of commands; what
 * they do not hold stays unknown. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/bench.h"
#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/import.h"

struct imported {
	struct run *run;
	struct arena arena;
	struct bench_view view;
	struct import_report report;
	struct err err;
	int r;
};

static void import(struct imported *in, const char *text)
{
	struct ingest ingest = {0};
	struct wire_sink sink = ingest_sink(&ingest);

	*in = (struct imported){.run = run_open()};
	ingest.run = in->run;
	in->r = import_bytes(text, strlen(text), "t", &sink, &in->report, &in->err);
	assert_int_equal(ingest.malformed, 0);
	if (in->r == 0)
		assert_int_equal(
			bench_view_make(in->run, false, &in->arena, &in->view, &in->err), 0);
}

static void done(struct imported *in)
{
	run_close(in->run);
	arena_done(&in->arena);
}

static bool has_note(const struct imported *in, const char *code)
{
	vec_foreach (const struct note_row, note, &in->run->notes)
		if (str_equal(run_text(in->run, note->code), code))
			return true;
	return false;
}

static uint64_t quality(const struct imported *in, const char *name)
{
	uint64_t value = 0;

	assert_true(run_get_quality(in->run, name, &value));
	return value;
}

static void hyperfine_gives_wall_and_exit_and_nothing_else(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"sleep 1\",\"mean\":0.011,\"user\":0.002,"
		    "\"system\":0.001,\"times\":[0.010,0.012],\"exit_codes\":[0,0]}]}");
	assert_int_equal(in.r, 0);
	assert_string_equal(in.report.kind, "hyperfine-json");
	assert_int_equal(in.view.command_count, 1);
	assert_string_equal(in.view.commands[0].name, "sleep 1");
	assert_int_equal(in.view.commands[0].used_count, 2);
	assert_int_equal(bench_run_at(&in.view.commands[0], 1).wall_ns, 12000000);
	assert_true(bench_run_at(&in.view.commands[0], 0).has_exit);
	assert_false(bench_run_at(&in.view.commands[0], 0).has_cpu);
	assert_false(bench_run_at(&in.view.commands[0], 0).has_rss);
	assert_true(isnan(in.view.commands[0].cpu.median));
	assert_true(isnan(in.view.commands[0].rss.median));
	assert_int_equal(quality(&in, "mean_user_ns_of_command_1"), 2000000);
	assert_int_equal(quality(&in, "mean_system_ns_of_command_1"), 1000000);
	assert_true(in.view.blocked);
	done(&in);
}

static void an_exit_code_of_null_is_a_failed_run(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"x\",\"times\":[1,2,3],"
		    "\"exit_codes\":[0,null,7]}]}");
	assert_int_equal(in.view.commands[0].used_count, 1);
	assert_int_equal(in.view.commands[0].failed_count, 2);
	assert_int_equal(in.view.commands[0].failed->number, 2);
	assert_false(bench_run_at(&in.view.commands[0], 1).has_exit);
	assert_int_equal(bench_run_at(&in.view.commands[0], 2).exit_status, 7);
	done(&in);
}

static void memory_that_only_rises_is_a_bound_and_no_peak(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"a\",\"times\":[1,1],"
		    "\"memory_usage_byte\":[1000,9000]},"
		    "{\"command\":\"b\",\"times\":[1],\"memory_usage_byte\":[9000]}]}");
	assert_false(bench_run_at(&in.view.commands[0], 0).has_rss);
	assert_int_equal(in.run->executions.at[0].flags & EXECUTION_RSS_BOUND, EXECUTION_RSS_BOUND);
	assert_true(has_note(&in, "import-rss-running-maximum"));
	done(&in);
	import(&in, "{\"results\":[{\"command\":\"a\",\"times\":[1,1],"
		    "\"memory_usage_byte\":[9216,1024]}]}");
	assert_true(bench_run_at(&in.view.commands[0], 1).has_rss);
	assert_int_equal((long)in.view.commands[0].rss.min, 1024);
	assert_false(has_note(&in, "import-rss-running-maximum"));
	done(&in);
}

static void results_of_one_name_are_told_apart_by_their_parameters(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"s\",\"times\":[1],\"parameters\":{\"n\":\"1\"}},"
		    "{\"command\":\"s\",\"times\":[1],\"parameters\":{\"n\":\"2\"}},"
		    "{\"command\":\"only 3\",\"times\":[1],\"parameters\":{\"n\":\"3\"}}]}");
	assert_string_equal(in.view.commands[0].name, "s [n=1]");
	assert_string_equal(in.view.commands[1].name, "s [n=2]");
	assert_string_equal(in.view.commands[2].name, "only 3");
	done(&in);
}

static void a_command_that_does_not_split_is_kept_as_one_word(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"it's\",\"times\":[1]},"
		    "{\"command\":\"\",\"times\":[1]}]}");
	assert_string_equal(in.view.commands[0].argv[0], "it's");
	assert_null(in.view.commands[0].argv[1]);
	assert_string_equal(in.view.commands[1].argv[0], "");
	done(&in);
}

static void times_that_are_none_are_counted_by_reason(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"x\",\"times\":[-1,\"2\",1e300,null,0.5],"
		    "\"exit_codes\":[0,0,0,0,3]},7]}");
	assert_int_equal(in.report.executions, 1);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 2);
	assert_int_equal(in.report.skipped[IMPORT_MALFORMED], 3);
	/* The exit code is that of the same place. */
	assert_int_equal(in.run->executions.at[0].exit_status, 3);
	done(&in);
}

static void what_is_no_document_is_refused_with_its_place(void **state)
{
	static const char *const texts[] = {
		"{\"results\":[{\"command\":\"x\",\"times\":[1e999]}]}",
		"{\"results\":[{\"command\":\"x\",\"times\":[NaN]}]}",
		"{\"results\":[{\"command\":\"x\",\"times\":[0.1,",
		"{\"results\":[{\"command\":\"\xff\xfe\",\"times\":[1]}]}",
		"{\"results\":{\"command\":\"x\",\"times\":[1]}}",
		"{\"context\":{\"num_cpus\":1},\"benchmarks\":\"none\"}",
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct imported in;

		import(&in, texts[i]);
		assert_true(in.r < 0);
		assert_non_null(strstr(in.err.text, "has nothing to import"));
		done(&in);
	}
}

static void nesting_without_end_is_refused(void **state)
{
	str_auto struct str text = {0};
	struct imported in;

	(void)state;
	str_add(&text, "{\"results\":[{\"command\":\"x\",\"times\":");
	str_add_repeat(&text, '[', 100000);
	import(&in, str_text(&text));
	assert_true(in.r < 0);
	done(&in);
}

#define RUN(name, time, more)                                                                      \
	"{\"name\":\"" name "\",\"run_name\":\"" name "\",\"run_type\":\"iteration\","             \
	"\"iterations\":100,\"real_time\":" time ",\"cpu_time\":" time                             \
	",\"time_unit\":\"us\"" more "}"

static void each_repetition_of_google_benchmark_is_a_run_of_1000_iterations(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"context\":{\"num_cpus\":4,\"load_avg\":[2.0]},\"benchmarks\":[" RUN(
			    "BM_a/1", "1.5", ",\"bytes_per_second\":2.5") "," RUN("BM_a/1", "1.7",
			    "") "," RUN("BM_b", "2", "") "]}");
	assert_string_equal(in.report.kind, "gbench-json");
	assert_int_equal(in.view.command_count, 2);
	assert_string_equal(in.view.commands[0].name, "BM_a/1 x1000");
	assert_int_equal(in.view.commands[0].used_count, 2);
	assert_int_equal(bench_run_at(&in.view.commands[0], 1).wall_ns, 1700000);
	assert_true(bench_run_at(&in.view.commands[0], 0).has_cpu);
	assert_false(bench_run_at(&in.view.commands[0], 0).has_usage);
	assert_int_equal(quality(&in, "measured_ns_of_command_1"), 320000);
	assert_int_equal(in.run->events.count, 1);
	assert_int_equal(in.run->counts.at[0].value, 2500000);
	done(&in);
}

static void aggregates_are_no_runs(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"context\":{\"num_cpus\":4},\"benchmarks\":[{\"name\":\"BM_a_mean\","
		    "\"run_name\":\"BM_a\",\"run_type\":\"aggregate\",\"aggregate_name\":\"mean\","
		    "\"repetitions\":5,\"real_time\":3,\"time_unit\":\"ns\"},{\"name\":\"BM_o_cv\","
		    "\"real_time\":0.1}]}");
	assert_int_equal(in.r, 0);
	assert_int_equal(in.report.executions, 0);
	assert_int_equal(in.report.commands, 2);
	assert_string_equal(in.view.commands[1].name, "BM_o x1000");
	assert_int_equal(quality(&in, "mean_wall_ns_of_command_1"), 3000);
	assert_int_equal(quality(&in, "repetitions_of_command_1"), 5);
	assert_int_equal(in.report.skipped[IMPORT_METRIC], 2);
	done(&in);
}

static void a_benchmark_that_failed_has_no_time(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"benchmarks\":[" RUN("BM_a", "0", ",\"error_occurred\":true") "," RUN(
			    "BM_s", "0", ",\"skipped\":true") ",{\"name\":\"BM_w\",\"real_time\":1,"
							      "\"time_unit\":\"weeks\"}]}");
	assert_int_equal(in.view.commands[0].failed_count, 1);
	assert_int_equal(in.view.commands[0].used_count, 0);
	assert_int_equal(in.view.commands[1].run_count, 0);
	assert_int_equal(in.view.commands[2].run_count, 0);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 1);
	done(&in);
}

static void runs_in_blocks_make_no_pairs(void **state)
{
	struct imported in;

	(void)state;
	import(&in, "{\"results\":[{\"command\":\"a\",\"times\":[1,1.1,1.05,1.2,1.01,1.02,1.1]},"
		    "{\"command\":\"b\",\"times\":[2,2.1,2.05,2.2,2.01,2.02,2.1]}]}");
	assert_int_equal(in.view.ratio_count, 1);
	assert_true(in.view.ratios[0].wall.advisory);
	done(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hyperfine_gives_wall_and_exit_and_nothing_else),
		cmocka_unit_test(an_exit_code_of_null_is_a_failed_run),
		cmocka_unit_test(memory_that_only_rises_is_a_bound_and_no_peak),
		cmocka_unit_test(results_of_one_name_are_told_apart_by_their_parameters),
		cmocka_unit_test(a_command_that_does_not_split_is_kept_as_one_word),
		cmocka_unit_test(times_that_are_none_are_counted_by_reason),
		cmocka_unit_test(what_is_no_document_is_refused_with_its_place),
		cmocka_unit_test(nesting_without_end_is_refused),
		cmocka_unit_test(each_repetition_of_google_benchmark_is_a_run_of_1000_iterations),
		cmocka_unit_test(aggregates_are_no_runs),
		cmocka_unit_test(a_benchmark_that_failed_has_no_time),
		cmocka_unit_test(runs_in_blocks_make_no_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
