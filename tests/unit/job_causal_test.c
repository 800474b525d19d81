/* job_causal_test.c - which pair comes next and when there is enough, on programs made up here; and
 * stored experiments taken together. */
#include "job_fixture.h"

#include <errno.h>

#include "analyze/causal_view.h"
#include "job/causal.h"

enum { SITES = 4, PAIRS_MOST = 2000 };

static const struct job_host host = {.command = "causal"};

/* A program whose lines are worth `gain` each when they cost nothing. */
struct program {
	struct run *run;
	struct causal_rounds rounds;
	struct random noise;
	struct causal_place place;
	struct causal_site sites[SITES];
	double gain[SITES];
	uint32_t pairs[SITES]; /* made on each */
	uint8_t levels;	       /* bits of those that were asked for */
	uint32_t order[SITES], seen;
	uint32_t pairs_most; /* 0: as many as it takes */
	uint32_t flags;	     /* EXPERIMENT_*, of all */
	bool is_whole;	     /* whole runs: each half is an execution */
	struct err err;
};

static void begin(struct program *p)
{
	static const char *const names[] = {"a.c:1", "a.c:2", "a.c:3", "a.c:4"};

	*p = (struct program){.run = run_open()};
	p->rounds.run = p->run;
	random_seed(&p->rounds.random, 5);
	random_seed(&p->noise, 6);
	run_add_execution(p->run, &(struct execution_row){.wall_ns = 1000000000});
	run_add_progress_point(
		p->run, &(struct progress_point_row){.name = run_intern(p->run, "round")});
	for (uint32_t i = 0; i < SITES; i++)
		p->sites[i] = (struct causal_site){.name = names[i],
			.file = "a.c",
			.line = i + 1,
			.what = {.places = &p->place, .count = 1},
			.ns = 100 * (i + 1)}; /* the last one is the hottest */
}

static void end(struct program *p)
{
	vec_done(&p->rounds.rows);
	run_close(p->run);
}

/* What the program answers, within one per cent. */
static void answer(struct program *p, const struct causal_choice *choice, uint32_t pair)
{
	uint32_t site = choice->line - 1;
	uint64_t visits = p->is_whole ? 1 : 10000;
	double speedup = choice->speedup_permille / 1000.0;

	if (!p->pairs[site]++)
		p->order[p->seen++] = site;
	for (unsigned level = 0; level < CAUSAL_LEVELS; level++)
		if (causal_levels[level] == speedup)
			p->levels |= (uint8_t)(1u << level);
	while (p->run->causal_targets.count < choice->target)
		run_add_causal_target(p->run,
			&(struct causal_target_row){.name = run_intern(p->run, choice->name),
				.file = run_intern(p->run, choice->file),
				.line = choice->line});
	for (unsigned sped = 0; sped < 2; sped++) {
		double ratio = sped ? 1 / (1 + speedup * p->gain[site]) : 1;
		row_id e = run_add_experiment(p->run,
			&(struct experiment_row){.target = choice->target,
				.execution = p->is_whole ? 2 * pair + sped : 1,
				.flags = p->flags | (p->is_whole ? EXPERIMENT_WHOLE : 0),
				.pair = pair,
				.speedup_permille = sped ? choice->speedup_permille : 0,
				.threads = 1,
				.wall_ns = 1000000000,
				.virtual_ns = (uint64_t)(1e9 * ratio *
							 (0.99 + 0.02 * random_share(&p->noise))),
				.samples = 1000,
				.hits = 500,
				.hit_ns = 500000000,
				.ran_ns = 1000000000});

		run_add_visit(p->run, &(struct visit_row){.experiment = e,
					      .point = 1,
					      .arrivals = visits,
					      .departures = visits});
	}
}

/* Pairs until there is enough; how many that were. */
static uint32_t play(struct program *p, uint32_t sites)
{
	struct causal_choice choice;
	uint32_t pair = 0;
	int r = 1;

	for (; r == 1 && (!p->pairs_most || pair < p->pairs_most);) {
		p->rounds.pairs_left = p->pairs_most ? p->pairs_most - pair : 0;
		r = causal_rounds_next(&p->rounds, p->sites, sites, 1000, &choice, &p->err);
		if (r != 1)
			break;
		assert_true(++pair <= PAIRS_MOST);
		answer(p, &choice, pair);
	}
	if (r < 0)
		fail_msg("%s", p->err.text);
	return pair;
}

static void every_line_is_tried_the_hottest_first_and_then_it_stops(void **state)
{
	struct program p;
	uint32_t pairs;

	(void)state;
	begin(&p);
	p.gain[3] = 0.4;
	p.gain[0] = 0.1;
	pairs = play(&p, SITES);
	assert_int_equal(p.seen, SITES);
	assert_int_equal(p.order[0], 3);
	assert_true(pairs >= 4 * SITES);
	assert_int_equal(p.levels, 0x0f);
	end(&p);
}

static void what_is_found_lies_within_its_bounds_when_it_stops(void **state)
{
	struct causal_view view;
	struct arena arena = {0};
	struct program p;

	(void)state;
	begin(&p);
	p.gain[3] = 0.5;
	play(&p, SITES);
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_true(view.flat_from >= 1);
	assert_string_equal(view.targets[0].name, "a.c:4");
	for (unsigned i = 0; i < CAUSAL_LEVELS; i++) {
		const struct causal_gain *gain = &view.targets[0].curve.gains[i];

		assert_true(gain->is_known);
		assert_true(gain->hi - gain->lo <= 0.0601);
	}
	arena_done(&arena);
	end(&p);
}

static void a_line_that_brings_something_gets_more_pairs_than_one_that_does_not(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	p.gain[0] = 0.6; /* the coolest one */
	play(&p, SITES);
	for (unsigned i = 1; i < SITES; i++)
		assert_true(p.pairs[0] > p.pairs[i]);
	end(&p);
}

static void whole_runs_of_two_executions_are_a_pair(void **state)
{
	struct causal_view view;
	struct arena arena = {0};
	struct program p;

	(void)state;
	begin(&p);
	p.run->progress_points.at[0].kind = PROGRESS_END;
	p.is_whole = true;
	p.gain[3] = 0.5;
	play(&p, SITES);
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_true(view.point->is_end);
	assert_true(view.pairs >= 4 * SITES);
	assert_string_equal(view.targets[0].name, "a.c:4");
	for (unsigned i = 0; i < CAUSAL_DOUBTS; i++)
		assert_false(view.guards[i].is_bad); /* one visit is not few, timers set no pace */
	arena_done(&arena);
	end(&p);
}

static void who_does_not_set_the_pace_gets_no_gain_but_costs(void **state)
{
	static const struct {
		uint32_t flags;
		enum causal_pace pace;
		enum causal_doubt doubt;
	} cases[] = {
		{EXPERIMENT_PACE | EXPERIMENT_CLOCK, CAUSAL_PACE_CLOCK, CAUSAL_DOUBT_PACED},
		{EXPERIMENT_PACE | EXPERIMENT_PEER, CAUSAL_PACE_PEER, CAUSAL_DOUBT_PEER},
		{EXPERIMENT_PACE, CAUSAL_PACE_OWN, CAUSAL_DOUBTS},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		bool own = cases[i].pace == CAUSAL_PACE_OWN;
		struct causal_view view;
		struct arena arena = {0};
		struct program p;

		begin(&p);
		p.gain[3] = 0.5;
		p.flags = cases[i].flags;
		play(&p, SITES);
		assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
		assert_int_equal(view.pace, cases[i].pace);
		for (unsigned d = 0; d < CAUSAL_DOUBTS; d++)
			assert_int_equal(view.guards[d].is_bad, d == cases[i].doubt);
		assert_int_equal(view.targets[0].curve.gains[1].is_known, own);
		assert_int_equal(causal_class_pays(view.targets[0].curve.class), own);
		assert_true(view.work_ns > 99000 && view.work_ns < 101000);
		arena_done(&arena);
		end(&p);
	}
}

static void a_pair_that_other_programs_robbed_is_counted_and_not_used(void **state)
{
	struct causal_view view;
	struct arena arena = {0};
	struct program p;
	uint32_t pairs;

	(void)state;
	begin(&p);
	p.pairs_most = 20;
	play(&p, SITES);
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_int_equal(view.disturbed, 0);
	pairs = view.pairs;
	p.run->experiments.at[0].flags |= EXPERIMENT_ROBBED; /* a half of each of two pairs */
	p.run->experiments.at[3].flags |= EXPERIMENT_ROBBED;
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_int_equal(view.disturbed, 2);
	assert_int_equal(view.pairs, pairs - 2);
	arena_done(&arena);
	end(&p);
}

static void the_end_judges_where_whole_runs_were_made(void **state)
{
	struct causal_view view;
	struct arena arena = {0};
	struct program p;

	(void)state;
	begin(&p);
	run_add_progress_point(p.run, &(struct progress_point_row){.name = run_intern(p.run, "end"),
					      .kind = PROGRESS_END});
	play(&p, 1);
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_string_equal(view.point->name, "round");
	run_add_visit(p.run,
		&(struct visit_row){.experiment = 1, .point = 2, .arrivals = 1, .departures = 1});
	assert_int_equal(causal_view_make(p.run, NULL, &arena, &view, &p.err), 0);
	assert_string_equal(view.point->name, "end");
	assert_int_equal(causal_view_make(p.run, "round", &arena, &view, &p.err), 0);
	assert_string_equal(view.point->name, "round");
	arena_done(&arena);
	end(&p);
}

static void with_time_for_few_pairs_few_lines_are_tried(void **state)
{
	static const struct {
		uint32_t pairs, lines;
	} cases[] = {{5, 1}, {15, 1}, {20, 2}, {35, 3}, {100, SITES}};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct program p;

		begin(&p);
		p.pairs_most = cases[i].pairs;
		p.gain[3] = p.gain[2] = p.gain[1] = p.gain[0] = 0.4;
		play(&p, SITES);
		assert_int_equal(p.seen, cases[i].lines);
		assert_true(p.pairs[3]); /* the hottest */
		end(&p);
		begin(&p);
		p.pairs_most = cases[i].pairs;
		for (unsigned k = 0; k < SITES; k++) {
			p.sites[k].is_fixed = true;
			p.gain[k] = 0.4;
		}
		play(&p, SITES);
		assert_int_equal(p.seen, cases[i].lines);
		assert_true(p.pairs[0]); /* the one named first */
		end(&p);
	}
}

static void targets_are_numbered_in_the_order_they_were_tried(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	play(&p, SITES);
	for (uint32_t i = 0; i < SITES; i++)
		assert_int_equal(p.rounds.rows.at[p.order[i]], i + 1);
	assert_int_equal(p.rounds.tried, SITES);
	end(&p);
}

static void only_the_levels_that_were_named_are_tried(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	p.gain[3] = 0.4;
	p.rounds.levels_left_out = (uint8_t) ~(1u << 1);
	play(&p, SITES);
	assert_int_equal(p.levels, 1u << 1);
	end(&p);
}

static void a_line_without_code_any_more_is_given_up(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	p.sites[3].what.count = 0;
	play(&p, SITES);
	assert_int_equal(p.pairs[3], 0);
	assert_int_equal(p.seen, SITES - 1);
	end(&p);
}

static void a_line_that_became_hot_later_is_taken_in(void **state)
{
	struct program p;
	uint32_t before;

	(void)state;
	begin(&p);
	before = play(&p, 2);
	assert_int_equal(p.seen, 2);
	play(&p, SITES);
	assert_int_equal(p.seen, SITES);
	assert_true(before > 0);
	end(&p);
}

static void nothing_to_try_is_enough(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	assert_int_equal(play(&p, 0), 0);
	end(&p);
}

static void a_judge_that_does_not_exist_ends_it(void **state)
{
	struct causal_choice choice;
	struct program p;

	(void)state;
	begin(&p);
	p.gain[3] = 0.4;
	play(&p, SITES);
	p.rounds.judge = "another";
	assert_true(causal_rounds_next(&p.rounds, p.sites, SITES, 1000, &choice, &p.err) < 0);
	end(&p);
}

/* ---- options ---- */

static void what_is_no_target_is_refused_before_the_program_runs(void **state)
{
	static const char *const wrong[] = {"no_such_function_here", NULL};
	char name[] = "/proc/self/exe", *words[] = {name, NULL}, none[] = "./none",
	     *no[] = {none, NULL};
	const struct causal_job_options fixed = {.run = {.argv = words}, .fixed = wrong};
	const struct causal_job_options progress = {
		.run = {.argv = words}, .progress = "none.c:12"};
	const struct causal_job_options missing = {.run = {.argv = no}};
	const struct causal_job_options *const cases[] = {&fixed, &progress, &missing};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct causal_job job;
		struct err err = {0};

		causal_job_open(&job, cases[i], &host);
		assert_true(causal_job_measure(&job, &err) < 0);
		assert_true(*err.text);
		assert_int_equal(job.run->executions.count, 0);
		causal_job_done(&job);
	}
}

/* ---- stored runs ---- */

static void stored_put(const char *path, const char *target, const char *fingerprint, uint64_t ns)
{
	struct program p;

	begin(&p);
	play(&p, 1);
	p.run->target = run_intern(p.run, target);
	p.run->fingerprint = run_intern(p.run, fingerprint);
	p.run->started_ns = ns;
	run_put(path, p.run);
	end(&p);
}

static void stored_runs_are_one_and_other_machines_are_told(void **state)
{
	static const char *const same[] = {"a.assay", "b.assay", NULL}, *const mixed[] = {"a.assay",
										"c.assay", NULL};
	struct run *run = NULL, *kept = NULL;
	struct err err = {0};
	uint32_t both;

	(void)state;
	stored_put("a.assay", "./p", "here", 20);
	stored_put("b.assay", "./p", "here", 10);
	stored_put("c.assay", "./q", "there", 30);
	assert_int_equal(causal_load_stored(&host, same, "all.assay", &run, &err), 0);
	both = run->experiments.count;
	assert_string_equal(run_text(run, run->target), "./p");
	assert_int_equal(run->started_ns, 10);
	assert_int_equal(run->causal_targets.count, 1);
	assert_false(run_notes(run, "mixed-machines"));
	assert_int_equal(job_load_run(&host, "all.assay", &kept, &err), 0);
	assert_int_equal(kept->experiments.count, both);
	run_close(kept);
	run_close(run);
	assert_int_equal(causal_load_stored(&host, mixed, NULL, &run, &err), 0);
	assert_string_equal(run_text(run, run->target), "./p; ./q");
	assert_true(run_notes(run, "mixed-machines"));
	run_close(run);
}

static void a_run_without_experiments_is_refused(void **state)
{
	static const char *const paths[] = {"empty.assay", NULL};
	struct run *empty = run_open(), *run = NULL;
	struct err err = {0};

	(void)state;
	run_put("empty.assay", empty);
	assert_int_equal(causal_load_stored(&host, paths, NULL, &run, &err), -ENODATA);
	assert_string_equal(err.text, "empty.assay has no causal experiments");
	assert_null(run);
	run_close(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_line_is_tried_the_hottest_first_and_then_it_stops),
		cmocka_unit_test(what_is_found_lies_within_its_bounds_when_it_stops),
		cmocka_unit_test(
			a_line_that_brings_something_gets_more_pairs_than_one_that_does_not),
		cmocka_unit_test(whole_runs_of_two_executions_are_a_pair),
		cmocka_unit_test(who_does_not_set_the_pace_gets_no_gain_but_costs),
		cmocka_unit_test(a_pair_that_other_programs_robbed_is_counted_and_not_used),
		cmocka_unit_test(the_end_judges_where_whole_runs_were_made),
		cmocka_unit_test(with_time_for_few_pairs_few_lines_are_tried),
		cmocka_unit_test(targets_are_numbered_in_the_order_they_were_tried),
		cmocka_unit_test(only_the_levels_that_were_named_are_tried),
		cmocka_unit_test(a_line_without_code_any_more_is_given_up),
		cmocka_unit_test(a_line_that_became_hot_later_is_taken_in),
		cmocka_unit_test(nothing_to_try_is_enough),
		cmocka_unit_test(a_judge_that_does_not_exist_ends_it),
		in_folder(what_is_no_target_is_refused_before_the_program_runs),
		in_folder(stored_runs_are_one_and_other_machines_are_told),
		in_folder(a_run_without_experiments_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
