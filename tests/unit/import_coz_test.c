/* import_coz_test.c - coz's files in both forms become experiments, and the experiments the curve
 * that the file was made from. */
#include <errno.h>
#include <math.h>

#include "analyze/causal_view.h"
#include "import_sink.h"
#include "ingest/ingest.h"
#include "model/run.h"

struct taken {
	struct run *run;
	struct arena arena;
	struct import_report report;
	struct err err;
	int r;
};

static void take(struct taken *in, const char *text)
{
	struct ingest ingest;
	struct wire_sink sink;

	*in = (struct taken){.run = run_open()};
	ingest = (struct ingest){.run = in->run};
	sink = ingest_sink(&ingest);
	in->r = import_bytes(text, strlen(text), "t", &sink, &in->report, &in->err);
	assert_int_equal(ingest.malformed, 0);
	ingest_done(&ingest);
}

static void taken_done(struct taken *in)
{
	run_close(in->run);
	arena_done(&in->arena);
}

static void both_forms_say_the_same(void **state)
{
	static const char *const forms[] = {
		"startup\ttime=5\n"
		"experiment\tselected=/src/a.c:12\tspeedup=0.35\tduration=500000000\t"
		"selected-samples=9\n"
		"throughput-point\tname=round\tdelta=41\n"
		"latency-point\tname=request\tarrivals=10\tdepartures=8\tdifference=3\n"
		"runtime\ttime=7\nsamples\tlocation=/src/a.c:12\tcount=9\n",
		"{\"type\":\"startup\",\"time\":5}\n"
		"{\"type\":\"experiment\",\"selected\":\"/src/a.c:12\",\"speedup\":0.35,"
		"\"duration\":500000000,\"selected_samples\":9}\n"
		"{\"type\":\"throughput_point\",\"name\":\"round\",\"delta\":41}\n"
		"{\"type\":\"latency_point\",\"name\":\"request\",\"arrivals\":10,"
		"\"departures\":8,\"difference\":3}\n{\"type\":\"shutdown\",\"time\":9}\n",
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct run *run;
		struct taken in;

		take(&in, forms[i]);
		run = in.run;
		assert_int_equal(in.r, 0);
		assert_string_equal(in.report.kind, i ? "coz-json" : "coz");
		assert_string_equal(run_text(run, run->causal_targets.at[0].name), "a.c:12");
		assert_string_equal(run_text(run, run->causal_targets.at[0].file), "/src/a.c");
		assert_int_equal(run->causal_targets.at[0].line, 12);
		assert_int_equal(run->experiments.at[0].speedup_permille, 350);
		assert_int_equal(run->experiments.at[0].virtual_ns, 500000000);
		assert_int_equal(run->experiments.at[0].pair, 0);
		assert_int_equal(run->experiments.at[0].hits, 9);
		assert_int_equal(run->visits.count, 2);
		assert_int_equal(run->visits.at[0].arrivals, 41);
		assert_int_equal(run->progress_points.at[1].kind, PROGRESS_LATENCY);
		assert_int_equal(run->visits.at[1].open_before, 1);
		assert_int_equal(run->visits.at[1].open_after, 3);
		taken_done(&in);
	}
}

static void older_words_and_whole_functions_are_known(void **state)
{
	struct taken in;

	(void)state;
	take(&in, "experiment\tselected=work:0\tspeedup=1.00\tduration=5\tselected-samples=0\n"
		  "progress-point\tname=a\tdelta=4\n");
	assert_int_equal(in.r, 0);
	assert_string_equal(run_text(in.run, in.run->causal_targets.at[0].name), "work");
	assert_string_equal(run_text(in.run, in.run->causal_targets.at[0].function), "work");
	assert_int_equal(in.run->causal_targets.at[0].line, 0);
	assert_int_equal(in.run->visits.at[0].departures, 4);
	taken_done(&in);
}

static void what_cannot_be_used_is_counted(void **state)
{
	static const char text[] =
		"experiment\tselected=a.c:1\tspeedup=0.00\tduration=5\n"
		"throughput-point\tname=p\tdelta=-4\n"			 /* malformed */
		"experiment\tselected=a.c:1\tspeedup=1.50\tduration=5\n" /* malformed */
		"throughput-point\tname=p\tdelta=9\n"			 /* of no experiment */
		"experiment\tselected=a.c:1\tspeedup=0.50\tduration=0\n" /* no time */
		"news\tfrom=tomorrow\n"
		"experiment\tselected=a.c:1\tspeedup=0.50\tduration=7";
	struct taken in;

	(void)state;
	take(&in, text);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.report.skipped[IMPORT_MALFORMED], 4);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 1);
	assert_int_equal(in.report.skipped[IMPORT_TRUNCATED], 1);
	assert_int_equal(in.run->experiments.count, 1);
	taken_done(&in);
	take(&in, "startup\ttime=5\nruntime\ttime=7\n");
	assert_int_equal(in.r, -EINVAL);
	assert_non_null(strstr(in.err.text, "no experiment"));
	taken_done(&in);
}

static double gain_true(const char *line, double speedup)
{
	return *line == 'a' ? 0.7 * speedup : *line == 'b' ? fmin(speedup, 1.0 / 3) : 0;
}

/* As coz makes it: every 5 %, a third without a speed-up, lines in turns, the speed drifting. */
static void profile_write(struct str *out)
{
	static const char *const lines[] = {"a.c:1", "b.c:2", "c.c:3"};

	for (unsigned i = 0; i < 900; i++) {
		const char *line = lines[i % 3];
		unsigned step = (i / 3) % 30 > 20 ? 0 : (i / 3) % 30;
		double ns = 5e8 * (1 + 0.3 * i / 900) * (1 - gain_true(line, step * 0.05));

		str_addf(out,
			"experiment\tselected=%s\tspeedup=%.2f\tduration=%.0f\tselected-samples=5\n"
			"throughput-point\tname=p\tdelta=100\n",
			line, step * 0.05, ns);
	}
}

static void steps_of_5_percent_give_the_curve(void **state)
{
	str_auto struct str text = {0};
	struct causal_view view;
	struct taken in;

	(void)state;
	profile_write(&text);
	take(&in, text.at);
	assert_int_equal(in.r, 0);
	assert_int_equal(causal_view_make(in.run, NULL, &in.arena, &view, &in.err), 0);
	assert_int_equal(view.target_count, 3);
	assert_int_equal(view.alone, 0);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t level = 0; level < CAUSAL_LEVELS; level++) {
			const struct causal_target_view *target = &view.targets[i];
			double is = gain_true(target->name, causal_levels[level]);

			if (fabs(target->curve.gains[level].gain - is) > 0.03)
				fail_msg("%s at %.2f: %.3f, not %.3f", target->name,
					causal_levels[level], target->curve.gains[level].gain, is);
		}
	assert_false(view.guards[CAUSAL_DOUBT_CROWDED].is_known);
	taken_done(&in);
}

static void each_takes_the_nearest_baseline_and_the_free_one_of_two(void **state)
{
	/* Two pairs of ours: sped and base, sped and base.  Both neighbours of the second sped one
	 * are equally near. */
	struct taken in;
	struct causal_trial *trials;
	uint32_t count;

	(void)state;
	take(&in, "experiment\tselected=a:1\tspeedup=0.50\tduration=10\n"
		  "throughput-point\tname=p\tdelta=1\n"
		  "experiment\tselected=a:1\tspeedup=0.00\tduration=20\n"
		  "throughput-point\tname=p\tdelta=2\n"
		  "experiment\tselected=a:1\tspeedup=0.50\tduration=30\n"
		  "throughput-point\tname=p\tdelta=3\n"
		  "experiment\tselected=a:1\tspeedup=0.00\tduration=40\n"
		  "throughput-point\tname=p\tdelta=4\n"
		  "experiment\tselected=b:1\tspeedup=0.50\tduration=50\n"
		  "throughput-point\tname=p\tdelta=5\n");
	assert_int_equal(
		causal_trials_of_run(in.run, NULL, &in.arena, &trials, &count, &in.err), 0);
	assert_int_equal(count, 2);
	assert_true(trials[0].base.virtual_ns == 20 && trials[1].base.virtual_ns == 40);
	taken_done(&in);
}

static void runs_are_joined_by_names(void **state)
{
	static const char text[] = "experiment\tselected=a.c:1\tspeedup=0.00\tduration=10\n"
				   "throughput-point\tname=p\tdelta=1\n"
				   "experiment\tselected=b.c:1\tspeedup=0.50\tduration=10\n"
				   "throughput-point\tname=q\tdelta=1\n";
	struct run *all = run_open();
	struct taken in;

	(void)state;
	take(&in, text);
	in.run->experiments.at[0].pair = in.run->experiments.at[1].pair = 3;
	run_join_experiments(all, in.run);
	run_join_experiments(all, in.run);
	assert_int_equal(all->causal_targets.count, 2);
	assert_int_equal(all->progress_points.count, 2);
	assert_int_equal(all->experiments.count, 4);
	assert_int_equal(all->experiments.at[3].target, 2);
	assert_int_equal(all->experiments.at[1].pair, 3);
	assert_int_equal(all->experiments.at[3].pair, 6);
	assert_int_equal(all->visits.at[3].experiment, 4);
	assert_int_equal(all->visits.at[3].point, 2);
	assert_int_equal(all->notes.count, 1);
	run_close(all);
	taken_done(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_say_the_same),
		cmocka_unit_test(older_words_and_whole_functions_are_known),
		cmocka_unit_test(what_cannot_be_used_is_counted),
		cmocka_unit_test(steps_of_5_percent_give_the_curve),
		cmocka_unit_test(each_takes_the_nearest_baseline_and_the_free_one_of_two),
		cmocka_unit_test(runs_are_joined_by_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
