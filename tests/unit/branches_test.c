/* branches_test.c - branches of hand-made runs: stacks, samples, a simulator's places. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/branches.h"
#include "analyze/cpu_book.h"
#include "analyze/site_summary.h"
#include "model/run.h"
#include "source/branch_filter.h"

enum { COND = 1 << BRANCH_TYPE_SHIFT, CALL = 4 << BRANCH_TYPE_SHIFT, RET = 6 << BRANCH_TYPE_SHIFT };

/* A run with one event and locations 1.. of one module at 0x100, 0x200.., named f1, f2.. in line
 * 1, 2.. of prog.c. */
static struct run *run_make(const char *event, unsigned locations)
{
	struct run *run = run_open();

	run_add_event(run, &(struct event_row){.name = run_intern(run, event), .scale = 1});
	run_add_thread(run, &(struct thread_row){1, 1, run_intern(run, "main")});
	run_add_module(run, &(struct module_row){run_intern(run, "/bin/prog"), 0, 0});
	for (unsigned i = 1; i <= locations; i++) {
		char name[8] = {'f', (char)('0' + i), 0};
		row_id function, frame;

		function = run_add_function(run, &(struct function_row){
							 .name = run_intern(run, name),
							 .file = run_intern(run, "prog.c"),
							 .module = 1,
						 });
		frame = run_add_frame(
			run, &(struct frame_row){function, 0, run_intern(run, "prog.c"), i});
		run_add_location(run, &(struct location_row){1, i * 0x100, frame, 0});
		run_add_stack(run, &(struct stack_row){0, i});
	}
	return run;
}

static row_id sample_add(struct run *run, uint64_t period, unsigned at)
{
	return run_add_sample(
		run, &(struct sample_row){.period = period, .event = 1, .thread = 1, .stack = at});
}

static void branch_add(
	struct run *run, row_id sample, unsigned from, unsigned to, uint32_t flags, uint32_t cycles)
{
	run_add_branch(run, &(struct branch_row){sample, from, to, cycles, flags});
}

static struct branches_view view_of(const struct run *run, const struct branches_options *options)
{
	static const struct branches_options none;
	struct branches_view view = {0};
	struct err err = {0};

	assert_int_equal(branches_make(run, options ? options : &none, &view, &err), 0);
	return view;
}

static void a_site_is_a_pair_of_ends_and_its_entries_are_counted(void **state)
{
	run_auto struct run *run = run_make("cycles", 4);
	branches_auto struct branches_view view = {0};
	row_id sample = sample_add(run, 1000, 1);

	(void)state;
	branch_add(run, sample, 1, 2, BRANCH_MISPREDICTED | COND, 0);
	branch_add(run, sample, 1, 2, BRANCH_PREDICTED | COND, 0);
	branch_add(run, sample, 1, 3, BRANCH_PREDICTED | COND, 0);
	sample = sample_add(run, 1000, 1);
	branch_add(run, sample, 1, 2, BRANCH_MISPREDICTED | COND, 0);
	branch_add(run, sample, 4, 1, 0, 0);
	view = view_of(run, NULL);
	assert_int_equal(view.witness, BRANCHES_STACKS);
	assert_int_equal(view.samples, 2);
	assert_int_equal(view.longest, 3);
	assert_int_equal(view.sites.count, 3);
	assert_int_equal(view.all.count, 5);
	assert_int_equal(view.all.mispredicted, 2);
	assert_int_equal(view.all.predicted, 2);
	assert_true(fabs(view.all.miss_rate - 0.5) < 1e-12);
	/* The worst first: 1 -> 2, three entries, two wrong. */
	assert_int_equal(view.sites.at[0].from.addr, 0x100);
	assert_int_equal(view.sites.at[0].to.addr, 0x200);
	assert_int_equal(view.sites.at[0].tally.count, 3);
	assert_true(fabs(view.sites.at[0].tally.miss_rate - 2.0 / 3) < 1e-12);
	assert_true(fabs(view.sites.at[0].share - 1) < 1e-12);
	assert_string_equal(view.sites.at[0].from.function, "f1");
	assert_int_equal(view.sites.at[0].to.line, 2);
	assert_string_equal(branch_type_name(view.sites.at[0].type), "cond");
}

static void an_entry_that_does_not_say_how_it_was_predicted_is_in_no_rate(void **state)
{
	run_auto struct run *run = run_make("cycles", 2);
	branches_auto struct branches_view view = {0};

	(void)state;
	branch_add(run, sample_add(run, 1, 1), 1, 2, 0, 0);
	view = view_of(run, NULL);
	assert_true(isnan(view.all.miss_rate));
	assert_true(isnan(view.sites.at[0].tally.miss_rate));
	assert_true(isnan(view.sites.at[0].cycles) && isnan(view.sites.at[0].ipc));
	assert_true(fabs(view.sites.at[0].share - 1) < 1e-12);
	assert_false(view.has_types);
}

static void not_taken_and_wrong_path_entries_are_told_apart(void **state)
{
	run_auto struct run *run = run_make("cycles", 2);
	branches_auto struct branches_view view = {0};
	row_id sample = sample_add(run, 1, 1);

	(void)state;
	branch_add(run, sample, 1, 2, BRANCH_PREDICTED | BRANCH_NOT_TAKEN | COND, 0);
	branch_add(run, sample, 1, 2, BRANCH_PREDICTED | 1 << BRANCH_SPEC_SHIFT, 0);
	branch_add(run, sample, 1, 2, BRANCH_PREDICTED | 3 << BRANCH_SPEC_SHIFT, 0);
	view = view_of(run, NULL);
	assert_int_equal(view.all.count, 3);
	assert_int_equal(view.all.not_taken, 1);
	assert_int_equal(view.all.wrong_path, 1);
	assert_true(view.has_not_taken && view.has_speculation && view.has_types);
}

static void the_cycles_of_an_entry_belong_to_the_block_from_the_branch_before(void **state)
{
	run_auto struct run *run = run_make("cycles", 4);
	branches_auto struct branches_view view = {0};
	row_id sample = sample_add(run, 1, 1);

	(void)state;
	/* Newest first: 4 -> 1 came after 2 -> 3, so its block is 3..4. */
	branch_add(run, sample, 4, 1, BRANCH_PREDICTED, 10);
	branch_add(run, sample, 2, 3, BRANCH_PREDICTED, 30);
	sample = sample_add(run, 1, 1);
	branch_add(run, sample, 4, 1, BRANCH_PREDICTED, 20);
	branch_add(run, sample, 2, 3, BRANCH_PREDICTED, 0);
	view = view_of(run, NULL);
	assert_int_equal(view.blocks.count, 1);
	assert_int_equal(view.blocks.at[0].start, 0x300);
	assert_int_equal(view.blocks.at[0].end, 0x400);
	assert_int_equal(view.blocks.at[0].times, 2);
	assert_int_equal(view.blocks.at[0].cycles, 30);
	assert_string_equal(view.blocks.at[0].path, "/bin/prog");
	view.blocks.at[0].instructions = 45;
	branches_add_instructions(&view);
	vec_foreach (const struct branch_site, site, &view.sites) {
		if (site->from.addr != 0x400) {
			assert_true(isnan(site->ipc));
			assert_true(fabs(site->cycles - 30) < 1e-12);
			continue;
		}
		assert_true(fabs(site->cycles - 15) < 1e-12);
		assert_true(fabs(site->ipc - 3) < 1e-12); /* 2 * 45 / 30 */
	}
}

static void a_filter_keeps_the_types_that_were_asked_for(void **state)
{
	run_auto struct run *run = run_make("cycles", 3);
	branches_auto struct branches_view view = {0};
	struct branches_options options = {0};
	row_id sample = sample_add(run, 1, 1);
	struct err err = {0};

	(void)state;
	branch_add(run, sample, 1, 2, COND, 0);
	branch_add(run, sample, 2, 3, CALL, 0);
	branch_add(run, sample, 3, 1, RET, 0);
	assert_int_equal(branch_types_parse("cond,ret", &options.types, &err), 0);
	view = view_of(run, &options);
	assert_int_equal(view.all.count, 2);
	assert_int_equal(view.sites.count, 2);
	assert_int_equal(branch_types_parse("any", &options.types, &err), 0);
	assert_int_equal(options.types, 0);
	assert_int_equal(branch_types_parse("cond,,ret", &options.types, &err), -EINVAL);
	assert_int_equal(branch_types_parse("sideways", &options.types, &err), -EINVAL);
	assert_non_null(strstr(err.text, "sideways"));
	assert_non_null(strstr(err.hint, "cond"));
}

static void a_filter_on_a_run_without_types_is_refused_with_the_way_out(void **state)
{
	run_auto struct run *run = run_make("cycles", 2);
	struct branches_options options = {.types = 1 << 1};
	struct branches_view view = {0};
	struct err err = {0};

	(void)state;
	branch_add(run, sample_add(run, 1, 1), 1, 2, BRANCH_PREDICTED, 0);
	assert_int_equal(branches_make(run, &options, &view, &err), -EINVAL);
	assert_non_null(strstr(err.hint, "record"));
	options.unfiltered = true; /* the PMU has filtered already */
	assert_int_equal(branches_make(run, &options, &view, &err), 0);
	assert_int_equal(view.all.count, 1);
	branches_done(&view);
}

static void samples_of_mispredictions_have_one_end_and_no_rate(void **state)
{
	run_auto struct run *run = run_make("branch-misses:pp", 2);
	branches_auto struct branches_view view = {0};

	(void)state;
	sample_add(run, 100, 1);
	sample_add(run, 300, 2);
	sample_add(run, 100, 1);
	view = view_of(run, NULL);
	assert_int_equal(view.witness, BRANCHES_SAMPLED);
	assert_true(view.precise);
	assert_int_equal(view.sites.count, 2);
	assert_false(view.sites.at[0].has_to);
	assert_int_equal(view.sites.at[0].tally.mispredicted, 300);
	assert_true(fabs(view.sites.at[0].share - 0.6) < 1e-12);
	assert_int_equal(view.sites.at[1].tally.count, 2);
	assert_true(isnan(view.all.miss_rate));
}

static void samples_of_time_say_nothing_about_branches(void **state)
{
	run_auto struct run *run = run_make("cpu-clock", 1);
	branches_auto struct branches_view view = {0};

	(void)state;
	sample_add(run, 1, 1);
	view = view_of(run, NULL);
	assert_int_equal(view.witness, BRANCHES_UNSEEN);
	assert_non_null(strstr(view.sites_reason, "branch stacks"));
}

static row_id simulated_event(struct run *run, const char *name)
{
	return run_add_event(
		run, &(struct event_row){
			     .name = run_intern(run, name), .flags = EVENT_SIMULATED, .scale = 1});
}

static void place_add(
	struct run *run, row_id event, const char *function, uint32_t line, uint64_t value)
{
	run_add_place(run, &(struct place_row){event, run_intern(run, function),
				   run_intern(run, "prog.c"), line, value});
}

static void a_simulator_tells_rates_by_line(void **state)
{
	run_auto struct run *run = run_open();
	row_id taken = simulated_event(run, "conditional-branches");
	row_id missed = simulated_event(run, "conditional-branch-misses");
	row_id indirect = simulated_event(run, "indirect-branches");
	branches_auto struct branches_view view = {0};

	(void)state;
	place_add(run, taken, "hot", 7, 1000);
	place_add(run, missed, "hot", 7, 400);
	place_add(run, taken, "cold", 9, 5000);
	place_add(run, missed, "cold", 9, 1);
	place_add(run, indirect, "hot", 7, 50);
	view = view_of(run, NULL);
	assert_int_equal(view.witness, BRANCHES_SIMULATED);
	assert_int_equal(view.sites.count, 3);
	assert_string_equal(view.sites.at[0].from.function, "hot");
	assert_true(fabs(view.sites.at[0].tally.miss_rate - 0.4) < 1e-12);
	assert_int_equal(view.sites.at[0].tally.predicted, 600);
	assert_int_equal(view.all.count, 6050);
	assert_true(fabs(view.all.miss_rate - 401.0 / 6050) < 1e-12);
	assert_int_equal(view.types.count, 2);
}

static void event_count(struct run *run, const char *name, uint64_t value)
{
	row_id event =
		run_add_event(run, &(struct event_row){.name = run_intern(run, name), .scale = 1});

	run_add_count(run, &(struct count_row){event, 1, 0, value, 100, 100});
}

/* 100,000 branches, 1,000,000 instructions, 2,000,000 cycles and so many misses. */
static void judge(uint64_t misses, struct arena *arena, struct site_summary *ret_summary)
{
	run_auto struct run *run = run_open();
	metric_book_auto struct metric_book book = {0};
	branches_auto struct branches_view view = {0};
	struct err err = {0};

	run_add_execution(run, &(struct execution_row){.wall_ns = 1000});
	event_count(run, "branches", 100000);
	event_count(run, "branch-misses", misses);
	event_count(run, "instructions", 1000000);
	event_count(run, "cycles", 2000000);
	assert_int_equal(metric_book_load(&book, &err), 0);
	site_summary_make(run, &book, branches_metrics, arena, ret_summary);
	view = view_of(run, NULL);
	branches_judge(&view, arena, ret_summary);
	assert_string_equal(ret_summary->engine, "pmu");
	assert_true(site_summary_metric(ret_summary, "branch_miss_rate")->known);
}

static void many_mispredictions_are_the_verdict_with_their_price(void **state)
{
	arena_auto struct arena arena = {0};
	struct site_summary summary;

	(void)state;
	judge(20000, &arena, &summary); /* 20 per 1,000, 20 cycles each: 400,000 of 2,000,000 */
	assert_int_equal(summary.verdict.category, VERDICT_BAD_SPECULATION);
	assert_true(fabs(summary.verdict.share - 0.2) < 1e-9);
	assert_int_equal(summary.verdict.confidence, VERDICT_MEDIUM);
	judge(100, &arena, &summary);
	assert_int_equal(summary.verdict.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(summary.verdict.why, "do not explain"));
}

static void events_under_the_names_of_a_cpu_give_the_same_rates_and_price(void **state)
{
	static const char *const names[][4] = {
		{"cpu_cycles", "inst_retired", "br_retired", "br_mis_pred_retired"},
		{"CPU_CLK_UNHALTED.CORE", "INST_RETIRED.ANY", "BR_INST_RETIRED.ALL_BRANCHES",
			"BR_MISP_RETIRED.ALL_BRANCHES"},
		{"ls_not_halted_cyc:u", "ex_ret_instr:u", "ex_ret_brn:u", "ex_ret_brn_misp:u"},
		{"cycles", "instructions", "armv8_pmuv3_0/br_retired/",
			"armv8_pmuv3_0/br_mis_pred_retired/"},
	};
	static const uint64_t values[] = {2000000, 1000000, 100000, 20000};
	cpu_book_auto struct cpu_book cpus = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(cpu_book_load(&cpus, &err), 0);
	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		run_auto struct run *run = run_open();
		metric_book_auto struct metric_book book = {0};
		branches_auto struct branches_view view = {0};
		arena_auto struct arena arena = {0};
		struct site_summary summary;

		run_add_execution(run, &(struct execution_row){.wall_ns = 1000});
		for (unsigned k = 0; k < 4; k++)
			event_count(run, names[i][k], values[k]);
		assert_int_equal(metric_book_load(&book, &err), 0);
		assert_int_equal(
			cpu_book_metrics(&cpus, run, branches_sets, false, &book, &err), 0);
		site_summary_make(run, &book, branches_metrics, &arena, &summary);
		view = view_of(run, NULL);
		branches_judge(&view, &arena, &summary);
		assert_true(fabs(site_summary_metric(&summary, "branch_miss_rate")->value - 0.2) <
			    1e-12);
		assert_int_equal(summary.verdict.category, VERDICT_BAD_SPECULATION);
		assert_true(fabs(summary.verdict.share - 0.2) < 1e-9);
	}
}

static void nothing_counted_is_said_and_never_healthy(void **state)
{
	run_auto struct run *run = run_make("cycles", 2);
	metric_book_auto struct metric_book book = {0};
	branches_auto struct branches_view view = {0};
	arena_auto struct arena arena = {0};
	struct site_summary summary;
	struct err err = {0};

	(void)state;
	for (unsigned i = 0; i < 20; i++)
		branch_add(run, sample_add(run, 1, 1), 1, 2,
			i ? BRANCH_PREDICTED : BRANCH_MISPREDICTED, 0);
	assert_int_equal(metric_book_load(&book, &err), 0);
	site_summary_make(run, &book, branches_metrics, &arena, &summary);
	view = view_of(run, NULL);
	branches_judge(&view, &arena, &summary);
	assert_int_equal(summary.metric_count, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_false(summary.metrics[i].known);
		assert_true(*summary.metrics[i].reason != '\0');
	}
	assert_true(isnan(summary.verdict.share));
	assert_true(*summary.verdict.share_reason != '\0');
	assert_int_equal(summary.verdict.category, VERDICT_UNCLEAR); /* 5 % is not above 5 % */
}

static void a_handful_of_branch_stacks_has_no_cause(void **state)
{
	static const unsigned samples[] = {1, 49, 50};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		run_auto struct run *run = run_make("cycles", 2);
		metric_book_auto struct metric_book book = {0};
		branches_auto struct branches_view view = {0};
		arena_auto struct arena arena = {0};
		struct site_summary summary;
		struct err err = {0};

		for (unsigned k = 0; k < samples[i]; k++)
			branch_add(run, sample_add(run, 1, 1), 1, 2, BRANCH_MISPREDICTED, 0);
		assert_int_equal(metric_book_load(&book, &err), 0);
		site_summary_make(run, &book, branches_metrics, &arena, &summary);
		view = view_of(run, NULL);
		branches_judge(&view, &arena, &summary);
		assert_int_equal(summary.verdict.category,
			samples[i] < 50 ? VERDICT_UNCLEAR : VERDICT_BAD_SPECULATION);
		assert_int_equal(strstr(summary.verdict.why, "too few to name a cause") != NULL,
			samples[i] < 50);
	}
}

static void words_become_filters_of_the_kernel(void **state)
{
	enum { ANY = 1 << 3, ANY_RETURN = 1 << 5, CONDITIONAL = 1 << 10 };
	struct err err = {0};
	uint64_t bits = 0;

	(void)state;
	assert_int_equal(branch_filter_parse(NULL, &bits, &err), 0);
	assert_int_equal(bits, ANY);
	assert_int_equal(branch_filter_parse("cond,ret", &bits, &err), 0);
	assert_int_equal(bits, CONDITIONAL | ANY_RETURN);
	assert_int_equal(branch_filter_parse("cond,uncond", &bits, &err), 0);
	assert_int_equal(bits, ANY);
	assert_int_equal(branch_filter_parse("upwards", &bits, &err), -EINVAL);
	assert_non_null(strstr(err.hint, "ind_call"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_site_is_a_pair_of_ends_and_its_entries_are_counted),
		cmocka_unit_test(an_entry_that_does_not_say_how_it_was_predicted_is_in_no_rate),
		cmocka_unit_test(not_taken_and_wrong_path_entries_are_told_apart),
		cmocka_unit_test(the_cycles_of_an_entry_belong_to_the_block_from_the_branch_before),
		cmocka_unit_test(a_filter_keeps_the_types_that_were_asked_for),
		cmocka_unit_test(a_filter_on_a_run_without_types_is_refused_with_the_way_out),
		cmocka_unit_test(samples_of_mispredictions_have_one_end_and_no_rate),
		cmocka_unit_test(samples_of_time_say_nothing_about_branches),
		cmocka_unit_test(a_simulator_tells_rates_by_line),
		cmocka_unit_test(many_mispredictions_are_the_verdict_with_their_price),
		cmocka_unit_test(events_under_the_names_of_a_cpu_give_the_same_rates_and_price),
		cmocka_unit_test(nothing_counted_is_said_and_never_healthy),
		cmocka_unit_test(a_handful_of_branch_stacks_has_no_cause),
		cmocka_unit_test(words_become_filters_of_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
