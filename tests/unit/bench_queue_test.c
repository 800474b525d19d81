/* bench_queue_test.c - corrected wall time: when it is known, and who is judged by it. */
#include "queue_fixture.h"

#include "analyze/ab.h"
#include "model/history.h"

#define SLEPT                                                                                      \
	"more than 5 % of its time it neither ran nor waited for a CPU (it slept, or the host "    \
	"had the CPU)"

/* Why the corrected time of two runs is not known, of which the second is `odd`. */
static const char *reason_of(struct execution_row odd)
{
	struct execution_row plain = run_of(1, 100, 20);
	struct fixture f;
	const char *reason;

	begin(&f);
	run_add_execution(f.run, &plain);
	run_add_execution(f.run, &odd);
	make(&f);
	reason = f.view.commands[0].uncorrected;
	assert_int_equal(isnan(f.view.commands[0].queue_share), reason != NULL);
	assert_int_equal(f.view.commands[0].corrected.count, reason ? 0 : 2);
	end(&f);
	return reason;
}

static struct execution_row with_flags(unsigned flags)
{
	struct execution_row row = run_of(1, 100, 20);

	row.flags |= flags;
	return row;
}

static void one_run_that_cannot_be_corrected_leaves_the_command_uncorrected(void **state)
{
	struct execution_row row = run_of(1, 100, 20);

	(void)state;
	assert_null(reason_of(row));
	assert_string_equal(reason_of(with_flags(EXECUTION_PARALLEL)),
		"more than one thread or process used CPU time");
	assert_string_equal(
		reason_of(with_flags(EXECUTION_LEFTOVERS)), "it left processes running");
	assert_string_equal(reason_of(with_flags(EXECUTION_THROTTLED)),
		"the CPU quota of its control group was used up");
	assert_string_equal(
		reason_of(with_flags(EXECUTION_NO_USAGE)), "the imported file does not have it");
	row.queue_ns = row.wall_ns; /* a file that lies */
	assert_non_null(reason_of(row));
	row = run_of(1, 100, 20);
	row.flags = 0; /* a file of an older version */
	assert_non_null(strstr(reason_of(row), "an older version"));
}

static void a_warm_up_needs_no_correction(void **state)
{
	struct fixture f;
	struct execution_row plain = run_of(1, 100, 20);
	struct execution_row warm = with_flags(EXECUTION_WARMUP | EXECUTION_PARALLEL);

	(void)state;
	begin(&f);
	run_add_execution(f.run, &warm);
	run_add_execution(f.run, &plain);
	make(&f);
	assert_null(f.view.commands[0].uncorrected);
	assert_int_equal(f.view.commands[0].corrected.count, 1);
	assert_true(f.view.commands[0].corrected.median == 100 * MS);
	assert_true(fabs(f.view.commands[0].queue_share - 20.0 / 120) < 1e-9);
	end(&f);
}

/* A tick of a clock comes no earlier when nobody waits for a CPU. */
static void a_program_that_sleeps_is_not_corrected(void **state)
{
	struct execution_row row = run_of(1, 100, 20);

	(void)state;
	row.wall_ns += 10 * MS; /* 4.8 % of the 210 that both took without the wait */
	assert_null(reason_of(row));
	row.wall_ns += 2 * MS; /* 5.7 % of that, but 4.8 % with the wait */
	assert_string_equal(reason_of(row), SLEPT);
}

/* 8 ms of work in every 16 ms: beside others the wait takes the place of the sleep. */
static void a_sleep_that_the_waits_used_up_is_noticed_by_how_often_it_slept(void **state)
{
	enum { TICKS = 60 };
	struct execution_row row = run_of(1, 8 * TICKS, 7.5 * TICKS);

	(void)state;
	row.wall_ns += TICKS * MS / 8; /* 1.5 % */
	assert_null(reason_of(row));
	row.voluntary_switches = TICKS;
	assert_string_equal(
		reason_of(row), "it sleeps often, and a sleep can hide a wait for a CPU");
	row.voluntary_switches = 16 + 5; /* 8 for each of two runs, one for each 100 ms of 580 */
	assert_null(reason_of(row));
	row.voluntary_switches++;
	assert_non_null(reason_of(row));
}

static void little_waiting_leaves_wall_time(void **state)
{
	struct execution_row one = run_of(1, 100, 1), two = run_of(2, 100, 0);
	struct fixture f;

	(void)state;
	begin(&f);
	run_add_execution(f.run, &one);
	run_add_execution(f.run, &two);
	make(&f);
	assert_int_equal(f.view.time, BENCH_WALL_NS);
	end(&f);
	one.queue_ns += MS / 10; /* of 101 ms */
	begin(&f);
	run_add_execution(f.run, &one);
	run_add_execution(f.run, &two);
	make(&f);
	assert_int_equal(f.view.time, BENCH_CORRECTED_NS);
	end(&f);
}

static void commands_are_compared_without_the_time_of_others(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add_beside_others(f.run, 1, 110);
	add_beside_others(f.run, 2, 100);
	make(&f);
	assert_int_equal(f.view.time, BENCH_CORRECTED_NS);
	assert_int_equal(f.view.fastest, 1);
	assert_string_equal(f.view.ratios[0].wall.name, "corrected wall");
	assert_int_equal(f.view.ratios[0].wall.outcome, COMPARE_REGRESSED);
	assert_true(fabs(f.view.ratios[0].wall.effect - 0.1) < 0.005);
	end(&f);
}

static void ab_of(struct fixture *f, struct ab_view *ret_ab)
{
	const struct compare_rule rule = {0};

	make(f);
	assert_int_equal(ab_view_make(&f->view, &rule, &f->arena, ret_ab, &f->err), 0);
}

static void ab_decides_by_it_and_shows_wall_time_beside(void **state)
{
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	add_beside_others(f.run, 1, 100);
	add_beside_others(f.run, 2, 110);
	ab_of(&f, &ab);
	assert_true(ab.corrected);
	assert_int_equal(ab.deciding_count, 2);
	assert_string_equal(ab.metrics[AB_WALL].name, "corrected wall");
	assert_int_equal(ab.metrics[AB_WALL].outcome, COMPARE_REGRESSED);
	assert_int_equal(ab.verdict.outcome, COMPARE_REGRESSED);
	assert_true(ab.verdict.confirmed);
	assert_non_null(ab_metric_named(&ab, "wall"));
	assert_int_equal(ab_metric_named(&ab, "wall")->outcome, COMPARE_INCONCLUSIVE);
	end(&f);
}

static void one_side_that_cannot_be_corrected_leaves_both_with_wall_time(void **state)
{
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	add_beside_others(f.run, 1, 100);
	add_beside_others(f.run, 2, 110);
	f.run->executions.at[RUNS].flags |= EXECUTION_PARALLEL;
	ab_of(&f, &ab);
	assert_false(ab.corrected);
	assert_string_equal(ab.metrics[AB_WALL].name, "wall");
	assert_int_equal(ab.metrics[AB_WALL].outcome, COMPARE_INCONCLUSIVE);
	end(&f);
}

/* Peak memory and faults are two, with wall time beside corrected wall time or without. */
static void wall_time_that_decides_nothing_raises_no_other_p(void **state)
{
	struct fixture f;
	struct ab_view ab;

	(void)state;
	begin(&f);
	add_beside_others(f.run, 1, 100);
	add_beside_others(f.run, 2, 110);
	for (unsigned i = 0; i < 2 * RUNS; i++) {
		f.run->executions.at[i].max_rss_kib += i * 7 % 5;
		f.run->executions.at[i].minor_faults = 100 + i * 5 % 7;
	}
	ab_of(&f, &ab);
	assert_int_equal(ab.metric_count, AB_METRICS);
	assert_int_equal((int)ab_metric_named(&ab, "memory")->correction, 2);
	assert_int_equal((int)ab_metric_named(&ab, "faults")->correction, 2);
	assert_int_equal((int)ab_metric_named(&ab, "wall")->correction, 1);
	end(&f);
}

static void a_gate_judges_by_it(void **state)
{
	struct gate_pair pair;

	(void)state;
	gate_begin(&pair, 100, 130);
	gate_judge(&pair);
	assert_true(pair.view.commands[0].corrected);
	assert_null(pair.view.commands[0].uncorrected);
	assert_int_equal(pair.view.verdict.decision, GATE_FAIL);
	assert_string_equal(pair.view.verdict.item->comparison.name, "corrected wall");
	assert_string_equal(pair.view.commands[0].plain_wall.comparison.name, "wall");
	assert_int_equal(pair.view.commands[0].plain_wall.comparison.outcome, COMPARE_INCONCLUSIVE);
	gate_end(&pair);
}

static void history_add(struct history *history, double wall_ns)
{
	vec_push(&history->rows, ((struct history_row){.command = "one",
					 .fingerprint = "key",
					 .wall_ns = wall_ns,
					 .cpu_ns = (double)NAN,
					 .max_rss_bytes = (double)NAN}));
}

/* What wall time varies by from day to day is what was taken out. */
static void the_history_of_wall_time_is_no_noise_of_corrected_wall_time(void **state)
{
	struct history history = {0};
	struct gate_pair pair;

	(void)state;
	for (unsigned i = 0; i < 10; i++)
		history_add(&history, i % 2 ? 2e8 : 1e8);
	gate_begin(&pair, 100, 130);
	pair.input.history = &history;
	pair.input.fingerprint = "key";
	gate_judge(&pair);
	assert_true(pair.view.commands[0].corrected);
	assert_int_equal(pair.view.commands[0].items[0].noise.entries, 0);
	assert_int_equal(pair.view.verdict.decision, GATE_FAIL);
	gate_end(&pair);
	gate_begin(&pair, 100, 130);
	pair.input.history = &history;
	pair.input.fingerprint = "key";
	pair.now.run->executions.at[0].flags |= EXECUTION_PARALLEL;
	gate_judge(&pair);
	assert_int_equal(pair.view.commands[0].items[0].noise.entries, 10);
	gate_end(&pair);
	history_done(&history);
}

static void a_gate_knows_why_a_side_is_not_corrected(void **state)
{
	struct gate_pair pair;

	(void)state;
	gate_begin(&pair, 100, 130);
	pair.then.run->executions.at[0].flags |= EXECUTION_LEFTOVERS;
	pair.now.run->executions.at[0].flags |= EXECUTION_PARALLEL;
	gate_judge(&pair);
	assert_false(pair.view.commands[0].corrected);
	assert_string_equal(pair.view.commands[0].uncorrected, "it left processes running");
	assert_true(pair.view.commands[0].may_have_waited);
	gate_end(&pair);
}

/* Whether a run of one thread or more, in which tasks waited for this long, is worth a word. */
static bool is_contested(unsigned flags, double queue_ms, uint64_t pressure_ns)
{
	struct execution_row row = run_of(1, 100, queue_ms);
	const struct bench_command *command;
	struct fixture f;
	bool contested;

	row.flags |= flags;
	row.pressure_ns = pressure_ns;
	begin(&f);
	run_add_execution(f.run, &row);
	make(&f);
	command = &f.view.commands[0];
	contested = bench_may_have_waited(&command, 1);
	end(&f);
	return contested;
}

static void waiting_is_worth_a_word_only_where_there_may_have_been_some(void **state)
{
	const unsigned many = EXECUTION_PARALLEL, told = EXECUTION_PRESSURE;

	(void)state;
	assert_true(is_contested(0, 20, 0));
	assert_false(is_contested(0, 0.5, 0));
	assert_true(is_contested(many, 20, 0)); /* nobody knows */
	assert_true(is_contested(many | told, 20, 20 * MS));
	assert_false(is_contested(many | told, 20, 5 * MS));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_that_cannot_be_corrected_leaves_the_command_uncorrected),
		cmocka_unit_test(a_warm_up_needs_no_correction),
		cmocka_unit_test(a_program_that_sleeps_is_not_corrected),
		cmocka_unit_test(a_sleep_that_the_waits_used_up_is_noticed_by_how_often_it_slept),
		cmocka_unit_test(little_waiting_leaves_wall_time),
		cmocka_unit_test(commands_are_compared_without_the_time_of_others),
		cmocka_unit_test(ab_decides_by_it_and_shows_wall_time_beside),
		cmocka_unit_test(one_side_that_cannot_be_corrected_leaves_both_with_wall_time),
		cmocka_unit_test(wall_time_that_decides_nothing_raises_no_other_p),
		cmocka_unit_test(a_gate_judges_by_it),
		cmocka_unit_test(the_history_of_wall_time_is_no_noise_of_corrected_wall_time),
		cmocka_unit_test(a_gate_knows_why_a_side_is_not_corrected),
		cmocka_unit_test(waiting_is_worth_a_word_only_where_there_may_have_been_some),
	};

	return cmocka_run_group_tests_name("bench_queue", tests, NULL, NULL);
}
