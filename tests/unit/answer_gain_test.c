/* answer_gain_test.c - what the program gains: by experiments, and by arithmetic where one thread
 * does all of it, all threads do the same, or one runs alone. */
#include "answer_scene.h"

static void one_busy_thread_gains_what_the_samples_say(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct run *baseline = run_open();

	(void)state;
	/* 0.95, 1.0 and 1.05 s of CPU time: a spread of 5 % */
	for (unsigned i = 0; i < 3; i++)
		run_add_execution(
			baseline, &(struct execution_row){.user_ns = 950000000 + 50000000 * i});
	/* One that was stopped when the time was up says nothing about how long they take. */
	run_add_execution(baseline,
		&(struct execution_row){.user_ns = 40000000, .flags = EXECUTION_INTERRUPTED});
	s.evidence.piece[EVIDENCE_BASELINE] = (struct evidence_piece){baseline, "b", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_ONE_THREAD);
	assert_near(s.view.gain, 0.485, 1e-9);
	assert_near(s.view.gain_at, 0.5, 1e-9);
	assert_near(s.view.gain_all, 0.97, 1e-9);
	/* sqrt(0.97 * 0.03 / 100 + (0.97 * 0.05)^2) * 1.96 = 0.101 */
	assert_near(s.view.gain_all_lo, 0.97 - 0.101, 0.001);
	assert_near(s.view.gain_all_hi, 1, 1e-9);
	run_close(baseline);
	scene_done(&s);
}

/* `rounds` samples of two threads, one 0.4 ms behind the other; or first all of one. */
static struct scene scene_of_two(unsigned rounds, bool together)
{
	str_auto struct str text = {0};

	str_add(&text, HEAD);
	for (unsigned i = 0; together && i < rounds; i++)
		str_add(&text, "step 400000\nthread 1 1 prog\n1 main:1;hot:5\n"
			       "step 600000\nthread 1 2 prog\n1 main:1;hot:5\n");
	if (!together)
		str_addf(&text, "%u main:1;hot:5\nthread 1 2 prog\n%u main:1;hot:5\n", rounds,
			rounds);
	return scene_of(text.at, "");
}

static void who_waits_half_of_the_time_gains_half_and_two_busy_threads_gain_nobody_knows(
	void **state)
{
	struct scene s = scene_of(PARSER, "parse:88"), two = scene_of(PARSER, "parse:88");
	struct scene turns = scene_of_two(50, false), together = scene_of_two(50, true);

	(void)state;
	scene_signal(&s, "cpus_used", 0.4);
	scene_signal(&s, "runnable", 0.5); /* it waited for a CPU that others had */
	scene_first(&s);
	assert_near(s.view.gain_all, 0.485, 1e-9);
	scene_signal(&two, "cpus_used", 1.9);
	scene_first(&two);
	assert_true(isnan(two.view.gain));
	assert_int_equal(two.view.gain_source, GAIN_NONE);
	scene_signal(&turns, "cpus_used", 1.0);
	scene_first(&turns); /* one after the other */
	assert_near(turns.view.gain_all, 1, 1e-9);
	scene_signal(&together, "cpus_used", 1.0);
	scene_first(&together);
	assert_true(isnan(together.view.gain));
	scene_done(&s);
	scene_done(&two);
	scene_done(&turns);
	scene_done(&together);
}

/* Two threads that do the same shorten whatever the program waits for; two that do not may each
 * wait for the other. */
static void threads_that_do_the_same_gain_by_arithmetic_and_others_do_not(void **state)
{
	struct scene same = scene_of_two(50, true), half = scene_of_two(50, true);
	struct scene apart =
		scene_of(HEAD "50 main:1;hot:5\nthread 1 2 prog\n50 main:1;cold:9\n", "");

	(void)state;
	scene_signal(&same, "cpus_used", 1.9);
	scene_signal(&same, "runnable", 2);
	scene_first(&same);
	assert_int_equal(same.view.gain_source, GAIN_EVEN_THREADS);
	assert_near(same.view.gain_all, 1, 1e-9);
	assert_near(same.view.gain_all_hi, 1, 1e-9);
	assert_in_range((int)(1000 * same.view.gain_all_lo), 850, 999);
	scene_signal(&half, "cpus_used", 1.2); /* they wait, and nobody knows for whom */
	scene_first(&half);
	assert_near(half.view.gain_all, 0.8, 1e-9);
	assert_near(half.view.gain_all_hi, 1, 1e-9);
	assert_in_range((int)(1000 * half.view.gain_all_lo), 500, 600);
	scene_signal(&apart, "cpus_used", 1.9);
	scene_first(&apart);
	assert_true(isnan(apart.view.gain));
	scene_done(&same);
	scene_done(&half);
	scene_done(&apart);
}

/* Two threads that are busy, and too much in forty that are not: nothing is compared.  Once this
 * wrote behind an array. */
static void threads_beside_many_short_ones_are_not_compared(void **state)
{
	str_auto struct str text = {0};
	struct scene s;

	(void)state;
	str_add(&text, HEAD "30 main:1;hot:5\nthread 1 2 prog\n30 main:1;hot:5\n");
	for (unsigned i = 0; i < 40; i++)
		str_addf(&text, "thread 1 %u prog\n1 main:1;short:9\n", i + 3);
	s = scene_of(text.at, "");
	scene_signal(&s, "cpus_used", 1.9);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_NONE);
	scene_done(&s);
}

static void a_thread_that_is_nearly_always_busy_may_gain_all(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");

	(void)state;
	scene_signal(&s, "cpus_used", 0.95);
	scene_first(&s);
	assert_near(s.view.gain_all, 0.97 * 0.95, 1e-9);
	assert_near(s.view.gain_all_hi, 1, 1e-9);
	scene_done(&s);
}

static void pairs_add(struct run *run, row_id target, unsigned permille, const double ratios[2])
{
	for (unsigned i = 0; i < 24; i++) {
		bool sped = i % 2;
		double ratio = sped ? ratios[i / 2 % 2] : 1;
		row_id e = run_add_experiment(
			run, &(struct experiment_row){.target = target,
				     .execution = 1,
				     .pair = permille + i / 2,
				     .speedup_permille = sped ? permille : 0,
				     .threads = 1,
				     .wall_ns = 1000000000,
				     .virtual_ns = (uint64_t)(1000000000 * ratio),
				     .samples = 1000,
				     .hits = 900,
				     .hit_ns = 900000000,
				     .ran_ns = 1000000000});

		run_add_visit(run, &(struct visit_row){.experiment = e,
					   .point = run->progress_points.count,
					   .arrivals = 10000,
					   .departures = 10000});
	}
}

/* An experiment on `function` that gains nothing, or everything that its share promises. */
static struct run *experiments_run(const char *function, double ratio)
{
	struct run *run = run_open();
	row_id target = run_add_causal_target(
		run, &(struct causal_target_row){.name = run_intern(run, function),
			     .file = run_intern(run, "prog.c"),
			     .function = run_intern(run, function)});

	run->command = run_intern(run, "causal");
	run_add_progress_point(run, &(struct progress_point_row){.name = run_intern(run, "round")});
	run_add_execution(run, &(struct execution_row){.wall_ns = 10000000000});
	pairs_add(run, target, 500, (const double[]){ratio, ratio});
	return run;
}

static void an_experiment_is_believed_and_confirms_the_place_above_it(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct run *causal = experiments_run("step", 1 - 0.475);

	(void)state;
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){causal, "causal.assay", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_string_equal(s.view.first->function, "parse");
	assert_int_equal(s.view.gain_source, GAIN_EXPERIMENT);
	assert_near(s.view.gain, 0.475, 0.001);
	assert_null(s.view.gain_doubt);
	assert_string_equal(s.view.confidence, "medium"); /* step() and run() have the same time */
	run_close(causal);
	scene_done(&s);
}

static void an_experiment_does_not_tell_callers_with_the_same_time_apart(void **state)
{
	struct scene s =
		scene_of(HEAD "97 main:1;feed:4;parse:88;token:7;scan:10\n3 main:1;feed:6\n",
			"scan:10 feed:4");
	struct run *causal = experiments_run("scan", 1 - 0.475);

	(void)state;
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){causal, "causal.assay", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_string_equal(s.view.first->function, "scan");
	assert_int_equal(s.view.gain_source, GAIN_EXPERIMENT);
	assert_string_equal(s.view.confidence, "medium");
	run_close(causal);
	scene_done(&s);
}

static void an_experiment_that_contradicts_one_busy_thread_is_said_and_makes_it_less_sure(
	void **state)
{
	struct scene s = scene_of(PARSER, "parse:88"), flat = scene_of(PARSER, "parse:88");
	struct run *low = experiments_run("step", 0.88), *none = experiments_run("step", 1);

	(void)state;
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){low, "causal.assay", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_EXPERIMENT);
	assert_non_null(strstr(s.view.gain_doubt, "one of them is wrong"));
	assert_string_not_equal(s.view.confidence, "high");
	assert_true(s.view.first->agree < s.view.first->asked);
	flat.evidence.piece[EVIDENCE_CAUSAL] =
		(struct evidence_piece){none, "causal.assay", "", ""};
	scene_signal(&flat, "cpus_used", 1.0);
	scene_first(&flat); /* one busy thread cannot hide what takes 97 % of its time */
	assert_string_equal(flat.view.first->function, "parse");
	assert_int_equal(flat.view.gain_source, GAIN_ONE_THREAD);
	assert_non_null(flat.view.gain_doubt);
	run_close(low);
	run_close(none);
	scene_done(&s);
	scene_done(&flat);
}

/* The program reads and then sorts; the progress was visited while it read, where the place has all
 * of the time. */
static void one_busy_thread_gains_no_more_than_the_share_of_its_samples(void **state)
{
	static const char phases[] = HEAD "60 main:1;parse:88;step:9\n40 main:2;other:7\n";
	struct scene more = scene_of(phases, "parse:88"), wide = scene_of(phases, "parse:88");
	struct run *part = experiments_run("step", 0.5), *vague = experiments_run("step", 0.5);

	(void)state;
	more.evidence.piece[EVIDENCE_CAUSAL] =
		(struct evidence_piece){part, "causal.assay", "", ""};
	scene_signal(&more, "cpus_used", 1.0);
	scene_first(&more);
	assert_int_equal(more.view.gain_source, GAIN_ONE_THREAD);
	assert_near(more.view.gain, 0.3, 1e-9);
	assert_non_null(strstr(more.view.gain_doubt, "they saw a part of the run"));
	vague->experiments.count = 0;
	vague->visits.count = 0;
	pairs_add(vague, 1, 500, (const double[]){0.45, 0.75}); /* 40 %, and a quarter around it */
	wide.evidence.piece[EVIDENCE_CAUSAL] =
		(struct evidence_piece){vague, "causal.assay", "", ""};
	scene_signal(&wide, "cpus_used", 1.0);
	scene_first(&wide);
	assert_int_equal(wide.view.gain_source, GAIN_EXPERIMENT);
	assert_true(wide.view.gain_hi < 0.41 && wide.view.gain_lo > 0 &&
		    wide.view.gain <= wide.view.gain_hi);
	assert_int_equal(wide.view.gain_all_source, GAIN_ONE_THREAD);
	assert_near(wide.view.gain_all, 0.6, 1e-9);
	run_close(part);
	run_close(vague);
	scene_done(&more);
	scene_done(&wide);
}

static void a_level_whose_bounds_hold_nothing_is_not_the_one_that_is_shown(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct run *causal = experiments_run("step", 0.05);

	(void)state;
	causal->experiments.count = 0;
	causal->visits.count = 0;
	pairs_add(causal, 1, 500, (const double[]){0.1, 1.6});
	pairs_add(causal, 1, 1000, (const double[]){0.04, 0.05});
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){causal, "causal.assay", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_true(s.view.gain_lo > 0);
	run_close(causal);
	scene_done(&s);
}

static void experiments_that_exclude_the_arithmetic_of_several_threads_are_said(void **state)
{
	struct scene s = scene_of_two(50, true);
	struct run *causal = experiments_run("hot", 1);
	str_auto struct str text = {0};
	struct jsonw json = {.out = &text};
	struct answer_page page = {.view = &s.view, .evidence = &s.evidence, .target = ""};

	(void)state;
	causal->experiments.count = 0;
	causal->visits.count = 0;
	pairs_add(causal, 1, 500, (const double[]){0.78, 1.18}); /* 2 %, -9 to 13 */
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){causal, "causal.assay", "", ""};
	scene_signal(&s, "cpus_used", 1.9);
	scene_signal(&s, "runnable", 2);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_EVEN_THREADS);
	assert_true(s.view.first->open_hi > 0.08 && s.view.first->open_hi < s.view.gain_lo);
	assert_non_null(strstr(s.view.gain_doubt, "one of them is wrong"));
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_non_null(strstr(text.at, "\"gain_open\": {"));
	run_close(causal);
	scene_done(&s);
}

/* A promise by arithmetic is for half of the time; the change took away three quarters of it. */
static void a_promise_by_arithmetic_is_held_against_what_the_place_got(void **state)
{
	struct run *before = profile_text_run(HEAD "80 main:1;parse:4;step:9\n20 main:2;other:7\n");
	struct run *after = profile_text_run(HEAD "20 main:1;parse:4;step:9\n20 main:2;other:7\n");
	struct round_evidence evidence = {.before_profile = before, .after_profile = after};
	struct manifest_promise promise = {
		.function = "parse", .gain = 0.4, .lo = 0.38, .hi = 0.42, .at = 0.5};
	arena_auto struct arena arena = {0};
	struct causal_gain gain;

	(void)state;
	assert_int_equal(round_place(&evidence, &promise, &arena, &gain), ROUND_PLACE_FASTER);
	assert_near(gain.speedup, 0.75, 1e-9);
	assert_near(gain.gain, 0.6, 1e-9);
	assert_near(gain.lo, 0.57, 1e-9);
	promise.gain = (double)NAN;
	assert_int_equal(round_place(&evidence, &promise, &arena, &gain), ROUND_PLACE_UNKNOWN);
	run_close(before);
	run_close(after);
}

/* Samples of the place and of the rest, before and after. */
static void a_place_is_faster_only_beyond_what_samples_runs_and_machine_differ_by(void **state)
{
	static const struct {
		unsigned before[2], after[2];
		double others;
		enum round_place place;
	} cases[] = {
		{{800, 1200}, {400, 1200}, 0, ROUND_PLACE_FASTER},
		{{800, 1200}, {400, 1200}, 0.9, ROUND_PLACE_FASTER},
		{{800, 1200}, {640, 1200}, 0, ROUND_PLACE_FASTER},
		{{800, 1200}, {640, 1200}, 0.9, ROUND_PLACE_UNCHANGED}, /* busy: no fifth is seen */
		{{800, 1200}, {760, 1200}, 0, ROUND_PLACE_UNCHANGED},
		{{800, 1200}, {800, 1200}, 0, ROUND_PLACE_UNCHANGED},
		{{800, 1200}, {900, 1200}, 0, ROUND_PLACE_UNCHANGED}, /* slower: nothing was due */
		{{800, 1200}, {560, 840}, 0, ROUND_PLACE_UNCHANGED},  /* the machine is faster */
		{{20, 1980}, {14, 1980}, 0, ROUND_PLACE_UNCHANGED},   /* six samples fewer */
		{{1960, 40}, {200, 40}, 0, ROUND_PLACE_FASTER},	      /* all of the program */
		{{1960, 40}, {1900, 40}, 0, ROUND_PLACE_UNCHANGED},
		{{800, 1200}, {0, 1200}, 0, ROUND_PLACE_FASTER}, /* gone */
	};
	struct manifest_promise promise = {
		.function = "parse", .gain = 0.4, .lo = 0.38, .hi = 0.42, .at = 0.5};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		arena_auto struct arena arena = {0};
		struct causal_gain gain;
		struct run *runs[2];
		struct round_evidence evidence = {.others_share = cases[i].others};

		for (unsigned after = 0; after < 2; after++) {
			const unsigned *n = after ? cases[i].after : cases[i].before;

			runs[after] = profile_text_run(arena_format(&arena,
				HEAD "%u main:1;parse:4;step:9\n%u main:2;other:7\n", n[0], n[1]));
		}
		evidence.before_profile = runs[0];
		evidence.after_profile = runs[1];
		if (round_place(&evidence, &promise, &arena, &gain) != cases[i].place)
			fail_msg("case %u", i);
		run_close(runs[0]);
		run_close(runs[1]);
	}
}

static void threads_that_take_turns_gain_what_one_does_alone(void **state)
{
	str_auto struct str text = {0};
	struct scene s;

	(void)state;
	/* 60 ms of one thread alone, then 40 ms of it beside another. */
	str_add(&text, HEAD "60 main:1;run:2;hot:5\n");
	for (unsigned i = 0; i < 40; i++)
		str_add(&text, "step 400000\nthread 1 2 prog\n1 main:1;other:9\n"
			       "step 600000\nthread 1 1 prog\n1 main:1;run:2;hot:5\n");
	s = scene_of(text.at, "hot:5");
	scene_signal(&s, "cpus_used", 1.4);
	assert_string_equal(scene_first(&s)->function, "hot");
	assert_int_equal(s.view.gain_source, GAIN_ALONE);
	assert_in_range((int)(1000 * s.view.gain_all_lo), 430, 600);
	assert_near(s.view.gain_all_hi, 1, 0.01);
	scene_done(&s);
	/* CPU time that nobody sampled may be another thread's. */
	s = scene_of(text.at, "hot:5");
	scene_signal(&s, "cpus_used", 1.9);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_NONE);
	scene_done(&s);
}

#define GO "@/usr/lib/go.so" /* not the program's own code */

/* The sweeper's lock is the collector's, and what runs beside the one thread is no other work. */
static void one_thread_beside_a_collector_gains_its_share_at_least(void **state)
{
	str_auto struct str text = {0};
	struct run *causal = experiments_run("merge", 0.4);
	struct scene s;

	(void)state;
	str_add(&text, HEAD "1 main:1;walk:9\n");
	for (unsigned i = 0; i < 60; i++)
		str_addf(&text,
			"step 400000\nthread 1 2 prog\n"
			"1 runtime.gcenable.func1" GO ":1;runtime.bgsweep" GO ":2;%s\n"
			"step 600000\nthread 1 1 prog\n1 main:1;merge:2%s\n",
			i % 2 ? "runtime.lock2" GO ":3" : "runtime.sweepone" GO ":4",
			i % 2 ? "" : ";runtime.mallocgc" GO ":5");
	str_add(&text, "40 main:1;walk:9\n");
	s = scene_of(text.at, "merge:2");
	scene_signal(&s, "cpus_used", 1.6);
	scene_signal(&s, "collector_samples", 0.37);
	assert_string_equal(scene_first(&s)->function, "merge");
	assert_near(s.view.first->garbage, 0.37, 1e-9);
	assert_int_equal(s.view.gain_source, GAIN_BESIDE_RUNTIME);
	assert_in_range((int)(1000 * s.view.gain_all_lo), 450, 600);
	assert_true(s.view.gain_all_hi > 0.65);
	for (uint32_t i = 0; i < s.view.hotspot_count; i++) {
		const struct hotspot *spot = &s.view.hotspots[i];

		assert_string_not_equal(spot->function, "runtime.lock2");
		if (str_starts(spot->function, "runtime."))
			assert_true(isnan(spot->gain) && spot->category == HOTSPOT_ALLOCATION);
	}
	causal->experiments.count = 0; /* an experiment proves it, and tells not all */
	causal->visits.count = 0;
	pairs_add(causal, 1, 500, (const double[]){0.75, 0.8});
	s.evidence.piece[EVIDENCE_CAUSAL] = (struct evidence_piece){causal, "causal.assay", "", ""};
	assert_string_equal(scene_first(&s)->function, "merge");
	assert_int_equal(s.view.gain_source, GAIN_EXPERIMENT);
	assert_int_equal(s.view.gain_all_source, GAIN_BESIDE_RUNTIME);
	assert_true(s.view.gain_all_hi > 0.65);
	run_close(causal);
	scene_done(&s);
}

static void the_own_time_of_the_caller_may_go_with_the_work(void **state)
{
	/* A list is walked by a function, and once more by who calls it. */
	struct scene s =
		scene_of(HEAD "60 main:1;parse:2;fetch:3;stale:5\n39 main:1;parse:2;fetch:4\n"
			      "1 main:1;parse:7\n",
			"stale:5 fetch:4 fetch:3 parse:2");
	struct scene whole = scene_of(HEAD "60 main:1;hot:5\n40 main:2\n", "hot:5 main:2");

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	assert_string_equal(scene_first(&s)->function, "stale");
	assert_near(s.view.gain_all, 0.6, 1e-9);
	assert_true(s.view.gain_all_lo < 0.6 && s.view.gain_all_lo > 0.45);
	assert_near(s.view.gain_all_hi, 1, 1e-9);
	assert_true(s.view.gain_hi < 0.4);	/* half as fast is about the place alone */
	scene_signal(&whole, "cpus_used", 1.0); /* main() does everything else too */
	scene_first(&whole);
	assert_true(whole.view.gain_all_hi < 0.8);
	scene_done(&s);
	scene_done(&whole);
}

static void what_is_collected_may_go_with_who_allocates(void **state)
{
	static const char text[] = HEAD "20 main:1;merge:2;runtime.mallocgc:5\n20 main:3;walk:4\n"
					"60 runtime.gcBgMarkWorker:1;runtime.gcDrain:2\n";
	struct scene s = scene_of(text, "merge:2"), unknown = scene_of(text, "merge:2");
	unsigned seen = 0;

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_signal(&s, "collector_samples", 0.6);
	scene_first(&s);
	for (uint32_t i = 0; i < s.view.hotspot_count; i++) {
		const struct hotspot *spot = &s.view.hotspots[i];

		seen += str_equal(spot->function, "merge") || str_equal(spot->function, "walk");
		if (str_equal(spot->function, "merge")) {
			assert_near(spot->gain_all, 0.2, 1e-9);
			assert_in_range((int)(1000 * spot->gain_all_hi), 800, 1000);
		}
		if (str_equal(spot->function, "walk"))
			assert_true(spot->gain_all_hi < 0.3);
	}
	assert_int_equal(seen, 2);
	scene_signal(&unknown, "cpus_used", 1.0);
	scene_first(&unknown);
	for (uint32_t i = 0; i < unknown.view.hotspot_count; i++)
		if (str_equal(unknown.view.hotspots[i].function, "merge"))
			assert_true(unknown.view.hotspots[i].gain_all_hi < 0.3);
	scene_done(&s);
	scene_done(&unknown);
}

/* What sweep() frees is what grow() took; walk() takes nothing. */
static void what_is_freed_may_go_with_who_allocates(void **state)
{
	struct scene s =
		scene_of(HEAD "50 main:1;grow:2;malloc@/usr/lib/libc.so.6:5\n"
			      "20 main:3;walk:4\n"
			      "30 main:2;sweep:7;cfree@@GLIBC_2.2.5@/usr/lib/libc.so.6:5\n",
			"grow:2 walk:4 sweep:7");
	unsigned seen = 0;

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	for (uint32_t i = 0; i < s.view.hotspot_count; i++) {
		const struct hotspot *spot = &s.view.hotspots[i];

		if (str_equal(spot->function, "grow"))
			seen += spot->gain_all_lo < 0.5 && spot->gain_all_hi > 0.8;
		if (str_equal(spot->function, "walk"))
			seen += spot->gain_all_hi < 0.3;
		if (str_equal(spot->function, "sweep"))
			seen += spot->gain_all_hi < 0.45;
	}
	assert_int_equal(seen, 3);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_busy_thread_gains_what_the_samples_say),
		cmocka_unit_test(
			who_waits_half_of_the_time_gains_half_and_two_busy_threads_gain_nobody_knows),
		cmocka_unit_test(threads_that_do_the_same_gain_by_arithmetic_and_others_do_not),
		cmocka_unit_test(threads_beside_many_short_ones_are_not_compared),
		cmocka_unit_test(a_thread_that_is_nearly_always_busy_may_gain_all),
		cmocka_unit_test(an_experiment_is_believed_and_confirms_the_place_above_it),
		cmocka_unit_test(an_experiment_does_not_tell_callers_with_the_same_time_apart),
		cmocka_unit_test(
			an_experiment_that_contradicts_one_busy_thread_is_said_and_makes_it_less_sure),
		cmocka_unit_test(one_busy_thread_gains_no_more_than_the_share_of_its_samples),
		cmocka_unit_test(a_level_whose_bounds_hold_nothing_is_not_the_one_that_is_shown),
		cmocka_unit_test(
			experiments_that_exclude_the_arithmetic_of_several_threads_are_said),
		cmocka_unit_test(a_promise_by_arithmetic_is_held_against_what_the_place_got),
		cmocka_unit_test(
			a_place_is_faster_only_beyond_what_samples_runs_and_machine_differ_by),
		cmocka_unit_test(threads_that_take_turns_gain_what_one_does_alone),
		cmocka_unit_test(one_thread_beside_a_collector_gains_its_share_at_least),
		cmocka_unit_test(the_own_time_of_the_caller_may_go_with_the_work),
		cmocka_unit_test(what_is_collected_may_go_with_who_allocates),
		cmocka_unit_test(what_is_freed_may_go_with_who_allocates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
