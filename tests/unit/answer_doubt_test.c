/* answer_doubt_test.c - what is not known is no reason: gains whose bounds hold 0, methods that are
 * wrong together, and the one measurement that would settle it. */
#include "analyze/causal_view.h"
#include "answer_scene.h"

/* hot() has most of the samples, of two threads that do different things: no gain by arithmetic. */
#define THREE_PLACES HEAD "60 main:1;hot:10\n25 main:1;cool:20\n15 main:1;rest:30\n"

struct doubt {
	struct scene scene;
	struct run *causal;
	struct ledger_row rows[2];
};

static struct doubt doubt_of(const char *profile)
{
	struct doubt d = {.scene = scene_of(profile, "hot:10 cool:20 rest:30")};

	d.scene.evidence.target = "./prog";
	return d;
}

/* Pairs of experiments on a target: the sped-up half takes one or the other part of the time. */
static void doubt_pairs(
	struct doubt *d, row_id target, unsigned permille, unsigned pairs, const double ratios[2])
{
	struct run *run = d->causal;

	for (unsigned i = 0; i < 2 * pairs; i++) {
		bool sped = i % 2;
		row_id e = run_add_experiment(run,
			&(struct experiment_row){.target = target,
				.execution = 1,
				.pair = 10000 * target + permille + i / 2 + 1,
				.speedup_permille = sped ? permille : 0,
				.threads = 1,
				.wall_ns = 1000000000,
				.virtual_ns =
					(uint64_t)(1000000000 * (sped ? ratios[i / 2 % 2] : 1)),
				.samples = 1000,
				.hits = 600,
				.hit_ns = 600000000,
				.ran_ns = 1000000000});

		run_add_visit(run, &(struct visit_row){.experiment = e,
					   .point = 1,
					   .arrivals = 10000,
					   .departures = 10000});
	}
}

static row_id doubt_target(struct doubt *d, const char *function)
{
	struct run *run = d->causal ? d->causal : run_open();

	d->causal = run;
	d->scene.evidence.piece[EVIDENCE_CAUSAL] =
		(struct evidence_piece){run, "causal.assay", "", ""};
	if (!run->progress_points.count) {
		run->command = run_intern(run, "causal");
		run_add_progress_point(
			run, &(struct progress_point_row){.name = run_intern(run, "round")});
		run_add_execution(run, &(struct execution_row){.wall_ns = 10000000000});
	}
	return run_add_causal_target(
		run, &(struct causal_target_row){.name = run_intern(run, function),
			     .file = run_intern(run, "prog.c"),
			     .function = run_intern(run, function)});
}

/* Twelve pairs on a function at 50 %. */
static row_id doubt_try(struct doubt *d, const char *function, double low, double high)
{
	row_id target = doubt_target(d, function);

	doubt_pairs(d, target, 500, 12, (const double[]){low, high});
	return target;
}

static void doubt_noise(struct doubt *d, double others)
{
	d->rows[0] = (struct ledger_row){.name = "noise",
		.title = "noise",
		.category = "noise",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "it was busy",
		.untested = "",
		.advice = "",
		.falsifier = "",
		.next = "",
		.share = (double)NAN};
	d->scene.ledger = (struct ledger_view){.rows = d->rows, .count = 1};
	scene_signal(&d->scene, "others_share", others);
}

static const struct hotspot *doubt_row(const struct doubt *d, const char *function)
{
	for (uint32_t i = 0; i < d->scene.view.hotspot_count; i++)
		if (str_equal(d->scene.view.hotspots[i].function, function))
			return &d->scene.view.hotspots[i];
	fail_msg("%s is no row", function);
	return d->scene.view.hotspots;
}

static void doubt_done(struct doubt *d)
{
	run_close(d->causal);
	scene_done(&d->scene);
}

static void a_gain_that_may_be_none_does_not_put_a_place_first(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);

	(void)state;
	doubt_try(&d, "cool", 0.2, 1.6); /* 10 % on average, and anything from loss to gain */
	assert_string_equal(scene_first(&d.scene)->function, "hot");
	assert_int_equal(doubt_row(&d, "cool")->agree, 1); /* the samples alone */
	assert_int_equal(doubt_row(&d, "cool")->gain_source, GAIN_NONE);
	assert_true(doubt_row(&d, "cool")->open_lo < 0 && doubt_row(&d, "cool")->open_hi > 0.1);
	assert_int_equal(d.scene.view.flat_count, 0);
	doubt_done(&d);
}

static void a_wide_interval_around_nothing_is_open_and_not_flat(void **state)
{
	struct doubt wide =
		doubt_of(HEAD "75 main:1;hot:10\n15 main:1;cool:20\n10 main:1;rest:30\n");
	struct doubt narrow = doubt_of(THREE_PLACES);
	const struct hotspot *hot;

	(void)state;
	doubt_try(&wide, "hot", 0.8, 1.2); /* its share would be 30 %: less than that */
	scene_first(&wide.scene);
	hot = doubt_row(&wide, "hot");
	assert_int_equal(wide.scene.view.flat_count, 0);
	assert_true(hot->open_hi > 0.08 && hot->open_hi < 0.2);
	assert_true(hot->agree < hot->asked); /* it is not what its share suggests */
	assert_string_equal(wide.scene.view.first->function, "cool");
	assert_true(hot->rank > doubt_row(&wide, "cool")->rank); /* by what its bounds allow */
	doubt_try(&narrow, "hot", 0.98, 1.02);
	scene_first(&narrow.scene);
	assert_int_equal(narrow.scene.view.flat_count, 1);
	assert_string_equal(narrow.scene.view.flat[0].function, "hot");
	doubt_done(&wide);
	doubt_done(&narrow);
}

static void one_level_that_is_low_does_not_make_flat_what_another_leaves_open(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);
	row_id target;

	(void)state;
	target = doubt_try(&d, "hot", 0.95, 0.998);
	doubt_pairs(&d, target, 1000, 4, (const double[]){0.6, 1.0});
	scene_first(&d.scene);
	assert_int_equal(d.scene.view.flat_count, 0);
	assert_near(doubt_row(&d, "hot")->open_at, 1, 1e-9); /* that one leaves room */
	assert_true(doubt_row(&d, "hot")->open_lo <= 0 && doubt_row(&d, "hot")->open_hi > 0.3);
	assert_int_equal(doubt_row(&d, "hot")->gain_source, GAIN_NONE);
	doubt_done(&d);
}

/* Two targets of one function, as two of its lines are, in any order. */
static void a_flat_line_does_not_speak_for_a_function_with_an_open_one(void **state)
{
	static const double ratios[][2] = {{0.99, 1.01}, {0.2, 1.6}};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct doubt d = doubt_of(THREE_PLACES);

		doubt_try(&d, "hot", ratios[i][0], ratios[i][1]);
		doubt_try(&d, "hot", ratios[!i][0], ratios[!i][1]);
		scene_first(&d.scene);
		assert_int_equal(d.scene.view.flat_count, 0);
		assert_true(doubt_row(&d, "hot")->open_at > 0);
		assert_int_equal(doubt_row(&d, "hot")->gain_source, GAIN_NONE);
		assert_true(isnan(doubt_row(&d, "hot")->gain));
		assert_int_equal(doubt_row(&d, "hot")->asked, 1); /* nothing speaks against it */
		doubt_done(&d);
	}
}

static void what_was_tried_and_is_open_is_not_called_not_tried(void **state)
{
	struct doubt d = doubt_of(HEAD "90 main:1;hot:10\n10 main:1;rest:30\n");
	str_auto struct str table = {0}, json_text = {0};
	struct jsonw json = {.out = &json_text};
	struct answer_page page = {.view = &d.scene.view,
		.evidence = &d.scene.evidence,
		.target = "./prog",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	doubt_try(&d, "hot", 0.2, 1.2);
	assert_string_equal(scene_first(&d.scene)->function, "hot");
	assert_true(str_starts(d.scene.view.gain_reason, "experiments leave it open: "));
	hotspot_markdown(&table, &page);
	assert_non_null(strstr(table.at, "| open (-"));
	assert_non_null(strstr(table.at, "| not tried |")); /* rest() */
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_non_null(strstr(json_text.at, "\"gain_open\": {"));
	doubt_done(&d);
}

/* Experiments were made, and tell no gain: no row denies them. */
static void a_place_of_a_paced_program_says_who_sets_the_pace(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);
	str_auto struct str table = {0}, json_text = {0};
	struct jsonw json = {.out = &json_text};
	struct answer_page page = {.view = &d.scene.view,
		.evidence = &d.scene.evidence,
		.target = "./prog",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	doubt_try(&d, "hot", 0.9, 0.9);
	vec_foreach (struct experiment_row, e, &d.causal->experiments)
		e->flags = EXPERIMENT_PACE | (e->speedup_permille ? 0 : EXPERIMENT_CLOCK);
	scene_first(&d.scene);
	assert_int_equal(d.scene.evidence.causal->pace, CAUSAL_PACE_CLOCK);
	assert_true(d.scene.view.hotspot_count >= 3);
	for (uint32_t i = 0; i < d.scene.view.hotspot_count; i++)
		assert_true(str_starts(d.scene.view.hotspots[i].gain_reason, "a clock sets "));
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_null(strstr(json_text.at, "no experiment was made"));
	hotspot_markdown(&table, &page);
	assert_null(strstr(table.at, "not tried"));
	assert_non_null(strstr(table.at, "| not known |"));
	doubt_done(&d);
}

static void a_first_place_that_could_not_be_tried_says_why(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES), others = doubt_of(THREE_PLACES);

	(void)state;
	doubt_try(&d, "rest", 0.2, 1.8);
	d.scene.evidence.untried[0] =
		(struct evidence_untried){"hot", "the program has no function 'hot'"};
	d.scene.evidence.untried_count = 1;
	assert_string_equal(scene_first(&d.scene)->function, "hot");
	assert_string_equal(d.scene.view.gain_reason,
		"no experiment could be made on this place: the program has no function 'hot'");
	assert_string_equal(d.scene.view.next, "assay annotate profile.assay hot");
	doubt_try(&others, "rest", 0.2, 1.8);
	assert_string_equal(scene_first(&others.scene)->function, "hot");
	assert_string_equal(others.scene.view.gain_reason,
		"no experiment was made on this place before their time ended");
	doubt_done(&d);
	doubt_done(&others);
}

static void methods_of_the_same_busy_minutes_count_as_one(void **state)
{
	(void)state;
	for (unsigned noisy = 0; noisy < 2; noisy++) {
		struct doubt d = doubt_of(THREE_PLACES);
		str_auto struct str text = {0};
		struct paper paper = {.out = &text};
		struct answer_page page = {.view = &d.scene.view,
			.evidence = &d.scene.evidence,
			.target = "./prog",
			.directory = "d",
			.run_id = "1"};
		const struct hotspot *first;

		doubt_try(&d, "cool", 0.69, 0.71);
		if (noisy)
			doubt_noise(&d, 0.56);
		first = scene_first(&d.scene);
		assert_string_equal(first->function, "cool");
		assert_int_equal(first->agree, noisy ? 1 : 2);
		assert_int_equal(first->asked, noisy ? 1 : 2);
		assert_int_equal(first->counts_once, noisy);
		assert_string_equal(d.scene.view.confidence, noisy ? "medium" : "high");
		answer_text(&paper, &page);
		assert_non_null(strstr(
			text.at, noisy ? "(samples + experiments)" : "(samples, experiments)"));
		doubt_done(&d);
	}
}

static void counts_are_a_method_of_their_own_on_a_busy_machine(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);
	struct ledger_witness witnesses[] = {
		{.witness = "rusage", .verdict = HYPOTHESIS_SUPPORTS, .words = ""},
		{.witness = "simulation", .verdict = HYPOTHESIS_SUPPORTS, .words = ""}};
	const struct hotspot *first;

	(void)state;
	doubt_noise(&d, 0.3);
	d.rows[1] = d.rows[0];
	d.rows[1].name = "branches";
	d.rows[1].category = "cpu";
	d.rows[1].witnesses = witnesses;
	d.rows[1].witness_count = 2;
	d.scene.ledger.count = 2;
	first = scene_first(&d.scene);
	assert_string_equal(first->function, "hot");
	assert_int_equal(first->evidence_count, 3);
	assert_int_equal(first->asked, 2); /* samples with rusage, and the simulation */
	assert_int_equal(first->agree, 2);
	doubt_done(&d);
}

static void who_agrees_is_not_named_where_others_of_the_same_minutes_object(void **state)
{
	struct doubt d = doubt_of(HEAD "93 main:1;hot:10\n7 main:1;rest:30\n");
	str_auto struct str text = {0}, report = {0}, names = {0};
	struct paper paper = {.out = &text};
	struct answer_page page = {.view = &d.scene.view,
		.evidence = &d.scene.evidence,
		.target = "./prog",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	doubt_try(&d, "hot", 0.8, 1.2); /* less than its share suggests */
	doubt_noise(&d, 0.3);
	assert_string_equal(scene_first(&d.scene)->function, "hot");
	assert_int_equal(d.scene.view.first->agree, 0);
	hotspot_mechanisms(&names, d.scene.view.first);
	assert_int_equal(names.len, 0);
	answer_text(&paper, &page);
	assert_non_null(strstr(text.at, "0 of 1 independent methods agree\n"));
	answer_markdown(&report, &page);
	assert_non_null(strstr(report.at, "methods that agree: 0 of 1\n"));
	assert_non_null(strstr(report.at, "| 0 of 1 | "));
	doubt_done(&d);
}

/* Samples and schedstat are two methods on a quiet machine. */
static void noise_that_joins_the_methods_is_the_reason_of_a_low_confidence(void **state)
{
	struct ledger_witness witness = {
		.witness = "schedstat", .verdict = HYPOTHESIS_SUPPORTS, .words = ""};

	(void)state;
	for (unsigned noisy = 0; noisy < 2; noisy++) {
		struct doubt d = doubt_of(THREE_PLACES);

		doubt_noise(&d, 0.3);
		d.rows[1] = d.rows[0];
		d.rows[1].category = "cpu";
		d.rows[1].witnesses = &witness;
		d.rows[1].witness_count = 1;
		d.scene.ledger =
			(struct ledger_view){.rows = d.rows + !noisy, .count = noisy ? 2 : 1};
		scene_first(&d.scene);
		assert_int_equal(d.scene.view.first->evidence_count, 2);
		assert_string_equal(d.scene.view.confidence, noisy ? "low" : "medium");
		assert_int_equal(d.scene.view.confidence_reason != NULL, noisy);
		assert_true(!noisy || str_starts(d.scene.view.confidence_reason, "lower, "));
		doubt_done(&d);
	}
}

/* ---- the ledger ---- */

/* A row of cpu time that samples and experiments support. */
static void doubt_explain(struct doubt *d, double share, bool is_aside)
{
	static struct ledger_witness witnesses[] = {
		{.witness = "samples", .verdict = HYPOTHESIS_SUPPORTS, .words = ""},
		{.witness = "experiments", .verdict = HYPOTHESIS_SUPPORTS, .words = ""}};

	d->rows[0] = (struct ledger_row){.name = "row",
		.title = "row",
		.category = "cpu",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "both say so",
		.untested = "",
		.advice = "do it",
		.falsifier = "a test",
		.next = "",
		.share = share,
		.is_place = true,
		.is_aside = is_aside,
		.witnesses = witnesses,
		.witness_count = 2};
	d->scene.ledger = (struct ledger_view){.rows = d->rows, .count = 1};
}

static void an_explanation_of_where_is_the_reason_of_no_other_place(void **state)
{
	static const char gained[] = "make it faster: if the program gains less than ";

	(void)state;
	for (unsigned is_aside = 0; is_aside < 2; is_aside++) {
		struct doubt d = doubt_of(THREE_PLACES);

		doubt_try(&d, "hot", 0.99, 1.01);
		doubt_try(&d, "cool", 0.69, 0.71);
		/* About hot(); aside it belongs to nobody, however large cool() is. */
		doubt_explain(&d, is_aside ? 0.2 : 0.6, is_aside);
		assert_string_equal(scene_first(&d.scene)->function, "cool");
		assert_string_equal(d.scene.view.flat[0].function, "hot");
		assert_null(d.scene.view.because);
		assert_string_equal(answer_advice(&d.scene.view), "");
		assert_true(str_starts(d.scene.view.refute, gained));
		doubt_done(&d);
	}
}

static void a_proven_gain_says_itself_what_would_refute_it(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);

	(void)state;
	doubt_try(&d, "hot", 0.69, 0.71);
	doubt_explain(&d, 0.6, false);
	assert_string_equal(scene_first(&d.scene)->function, "hot");
	assert_ptr_equal(d.scene.view.because, d.rows);
	assert_string_equal(answer_advice(&d.scene.view), "do it");
	assert_non_null(strstr(d.scene.view.refute, "% for every 50 % there"));
	assert_int_equal(d.scene.view.first->agree, 2);
	doubt_done(&d);
}

static void experiments_on_one_place_do_not_agree_with_another(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);

	(void)state;
	doubt_try(&d, "hot", 0.2, 1.6); /* open */
	doubt_try(&d, "cool", 0.69, 0.71);
	doubt_explain(&d, 0.6, false);
	scene_first(&d.scene);
	assert_ptr_equal(doubt_row(&d, "hot")->because, d.rows);
	assert_true(doubt_row(&d, "hot")->open_at > 0);
	assert_int_equal(doubt_row(&d, "hot")->agree, 1);
	assert_int_equal(doubt_row(&d, "hot")->asked, 1);
	doubt_done(&d);
}

/* ---- next ---- */

struct next_case {
	const char *what;
	double first[2], second[2]; /* 0: not tried */
	double others;
	const char *next;
};

static void the_next_command_settles_what_is_open(void **state)
{
	static const struct next_case cases[] = {
		{"nothing was tried", {0}, {0}, 0,
			"assay causal --progress auto -f prog.c:10 -- ./prog"},
		{"proven and alone", {0.69, 0.71}, {0}, 0,
			"change it, then: assay run --against latest -- ./prog"},
		{"proven and far ahead", {0.6, 0.62}, {0.9, 0.92}, 0,
			"change it, then: assay run --against latest -- ./prog"},
		{"two that overlap", {0.65, 0.8}, {0.7, 0.85}, 0,
			"assay causal --progress auto -f hot -f cool --speedup 50 --budget 60s -- "
			"./prog"},
		{"two that overlap and are known well", {0.74, 0.76}, {0.741, 0.761}, 0,
			"change it, then: assay run --against latest -- ./prog"},
		{"proven, and one that may be more", {0.78, 0.82}, {0.3, 1.5}, 0,
			"assay causal --progress auto -f hot -f cool --speedup 50 --budget 60s -- "
			"./prog"},
		{"open and alone", {0.2, 1.2}, {0}, 0,
			"assay causal --progress auto -f hot --speedup 50 --budget 60s -- ./prog"},
		{"proven beside other programs", {0.69, 0.71}, {0}, 0.56,
			"again when the machine is quiet (other programs had 56 % of the CPUs): "
			"assay run -- ./prog"},
		{"not tried, beside other programs", {0}, {0}, 0.3,
			"again when the machine is quiet (other programs had 30 % of the CPUs): "
			"assay run -- ./prog"},
		{"noise that is not theirs", {0.69, 0.71}, {0}, 0.02,
			"change it, then: assay run --against latest -- ./prog"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct doubt d = doubt_of(THREE_PLACES);

		if (cases[i].first[0] > 0)
			doubt_try(&d, "hot", cases[i].first[0], cases[i].first[1]);
		if (cases[i].second[0] > 0)
			doubt_try(&d, "cool", cases[i].second[0], cases[i].second[1]);
		if (cases[i].others > 0)
			doubt_noise(&d, cases[i].others);
		scene_first(&d.scene);
		if (!str_equal(d.scene.view.next, cases[i].next))
			fail_msg("%s: %s", cases[i].what, d.scene.view.next);
		doubt_done(&d);
	}
}

/* Without a loop in it, and nobody counted how often it is called: its caller may be the place. */
static void a_proven_place_without_a_loop_is_not_called_high(void **state)
{
	(void)state;
	for (unsigned looped = 0; looped < 2; looped++) {
		struct doubt d = doubt_of(THREE_PLACES);

		for (uint32_t i = 1; i < d.scene.code.count && !looped; i++)
			d.scene.loops[i] = HOT_CODE_KNOWN;
		doubt_try(&d, "hot", 0.69, 0.71);
		assert_string_equal(scene_first(&d.scene)->function, "hot");
		assert_string_equal(d.scene.view.confidence, looped ? "high" : "medium");
		doubt_done(&d);
	}
}

static void what_the_next_command_would_settle_is_not_called_high(void **state)
{
	static const struct {
		double first[2], second[2];
		const char *confidence, *reason;
	} cases[] = {
		{{0.6, 0.62}, {0.9, 0.92}, "high", NULL},     /* far ahead */
		{{0.74, 0.76}, {0.741, 0.761}, "high", NULL}, /* a draw: change either */
		{{0.65, 0.8}, {0.7, 0.85}, "medium", "lower, because cool() may gain more"},
		{{0.78, 0.82}, {0.3, 1.5}, "medium", "lower, because cool() may gain more"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct doubt d = doubt_of(THREE_PLACES);

		doubt_try(&d, "hot", cases[i].first[0], cases[i].first[1]);
		doubt_try(&d, "cool", cases[i].second[0], cases[i].second[1]);
		assert_string_equal(scene_first(&d.scene)->function, "hot");
		assert_string_equal(d.scene.view.confidence, cases[i].confidence);
		assert_int_equal(!d.scene.view.confidence_reason, !cases[i].reason);
		if (cases[i].reason)
			assert_string_equal(d.scene.view.confidence_reason, cases[i].reason);
		doubt_done(&d);
	}
}

static void a_place_whose_callers_were_not_seen_is_not_called_high(void **state)
{
	static const char *const flags[] = {"flags", "flags broken", "flags truncated"};

	(void)state;
	for (unsigned i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		char profile[400];
		struct doubt d;

		(void)snprintf(profile, sizeof(profile),
			"%s%s\n600 hot:5\nflags\n400 main:7;cool:9\n", HEAD, flags[i]);
		d = doubt_of(profile);
		doubt_try(&d, "hot", 0.69, 0.71);
		assert_string_equal(scene_first(&d.scene)->function, "hot");
		assert_string_equal(d.scene.view.confidence, i ? "medium" : "high");
		if (i)
			assert_string_equal(d.scene.view.confidence_reason,
				"its callers are not known: 100 % of its stacks could not be "
				"unwound to the end (`assay doctor PROGRAM` shows what unwinding "
				"needs)");
		doubt_done(&d);
	}
}

/* The bounds of hot() and cool() overlap: neither samples nor one proven gain say which is first.
 */
static void beside_others_no_place_is_first_that_experiments_do_not_put_there(void **state)
{
	static const struct {
		double first[2], second[2], others;
		enum answer_kind kind;
	} cases[] = {
		{{0.2, 1.6}, {0.3, 1.5}, 0.56, ANSWER_NOISY},
		{{0.2, 1.6}, {0.3, 1.5}, 0.02, ANSWER_CHANGE},	 /* the program's own noise */
		{{0.2, 1.6}, {0.99, 1.01}, 0.56, ANSWER_CHANGE}, /* the other one is flat */
		{{0.2, 1.6}, {0, 0}, 0.56, ANSWER_CHANGE},
		{{0, 0}, {0.3, 1.5}, 0.56, ANSWER_CHANGE},
		{{0.68, 0.83}, {0.7, 0.85}, 0.56, ANSWER_NOISY}, /* both gain something */
		{{0.68, 0.83}, {0.7, 0.85}, 0.02, ANSWER_CHANGE},
		{{0.6, 0.62}, {0.9, 0.92}, 0.56, ANSWER_CHANGE},     /* far ahead */
		{{0.74, 0.76}, {0.741, 0.761}, 0.56, ANSWER_CHANGE}, /* a draw: change either */
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct doubt d = doubt_of(THREE_PLACES);
		const struct answer_view *view = &d.scene.view;

		if (cases[i].first[0] > 0)
			doubt_try(&d, "hot", cases[i].first[0], cases[i].first[1]);
		if (cases[i].second[0] > 0)
			doubt_try(&d, "cool", cases[i].second[0], cases[i].second[1]);
		doubt_noise(&d, cases[i].others);
		scene_answer(&d.scene);
		if (view->kind != cases[i].kind)
			fail_msg("case %u: %s", i, view->sentence);
		if (view->kind == ANSWER_NOISY) {
			assert_null(view->first);
			assert_true(str_starts(view->sentence,
				"the machine was too noisy to tell which is first, hot() ("));
			assert_non_null(strstr(view->sentence, "% faster) or cool(): it was busy"));
			assert_true(str_starts(view->next, "again when the machine is quiet "));
			assert_true(view->hotspot_count == 3); /* they are shown */
		}
		doubt_done(&d);
	}
}

static void a_round_on_a_busy_machine_is_made_again_as_a_round(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);

	(void)state;
	d.scene.evidence.against = "my out/1";
	doubt_noise(&d, 0.3);
	scene_first(&d.scene);
	assert_non_null(strstr(d.scene.view.next, ": assay run --against 'my out/1' -- ./prog"));
	doubt_done(&d);
}

static void experiments_go_to_the_program_that_the_time_is_in(void **state)
{
	struct doubt d = doubt_of(THREE_PLACES);

	(void)state;
	d.scene.evidence.follows = "/bin/my prog";
	scene_first(&d.scene);
	assert_string_equal(d.scene.view.next,
		"assay causal --progress auto --follow '/bin/my prog' -f prog.c:10 -- ./prog");
	doubt_done(&d);
}

/* ---- who sets the pace ---- */

/* A timer ends a wait for each visit in all of them: only the marks tell a clock from a sleep. */
static void a_clock_is_known_by_its_marks_and_by_timers_where_nothing_is_marked(void **state)
{
	static const struct {
		uint32_t flags, other; /* of two experiments in three, and of the third */
		double share;
	} cases[] = {
		{EXPERIMENT_PACE | EXPERIMENT_CLOCK, EXPERIMENT_PACE, 2.0 / 3},
		{EXPERIMENT_PACE, EXPERIMENT_PACE, 0},
		{EXPERIMENT_PACE | EXPERIMENT_PEER, EXPERIMENT_PACE | EXPERIMENT_CLOCK, 1.0 / 3},
		{EXPERIMENT_PACE, EXPERIMENT_PACE | EXPERIMENT_CLOCK | EXPERIMENT_CUT, 0},
		{0, 0, 1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct doubt d = doubt_of(THREE_PLACES);
		signals_auto struct signals signals = {0};
		uint32_t seen = 0;

		doubt_try(&d, "hot", 0.9, 0.9);
		vec_foreach (struct experiment_row, e, &d.causal->experiments) {
			e->timer = 10000;
			e->flags = e->speedup_permille ? EXPERIMENT_PACE
				   : seen++ % 3 == 2   ? cases[i].other
						       : cases[i].flags;
			if (!cases[i].flags)
				e->flags = EXPERIMENT_INSIDE;
		}
		evidence_view_causal(&d.scene.evidence, &d.scene.arena);
		signals_collect(&d.scene.evidence, &d.scene.arena, &signals);
		assert_near(signals_find(&signals, "clock_share")->value, cases[i].share, 1e-9);
		doubt_done(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gain_that_may_be_none_does_not_put_a_place_first),
		cmocka_unit_test(a_wide_interval_around_nothing_is_open_and_not_flat),
		cmocka_unit_test(one_level_that_is_low_does_not_make_flat_what_another_leaves_open),
		cmocka_unit_test(a_flat_line_does_not_speak_for_a_function_with_an_open_one),
		cmocka_unit_test(what_was_tried_and_is_open_is_not_called_not_tried),
		cmocka_unit_test(a_place_of_a_paced_program_says_who_sets_the_pace),
		cmocka_unit_test(a_first_place_that_could_not_be_tried_says_why),
		cmocka_unit_test(methods_of_the_same_busy_minutes_count_as_one),
		cmocka_unit_test(counts_are_a_method_of_their_own_on_a_busy_machine),
		cmocka_unit_test(who_agrees_is_not_named_where_others_of_the_same_minutes_object),
		cmocka_unit_test(noise_that_joins_the_methods_is_the_reason_of_a_low_confidence),
		cmocka_unit_test(an_explanation_of_where_is_the_reason_of_no_other_place),
		cmocka_unit_test(a_proven_gain_says_itself_what_would_refute_it),
		cmocka_unit_test(experiments_on_one_place_do_not_agree_with_another),
		cmocka_unit_test(the_next_command_settles_what_is_open),
		cmocka_unit_test(a_proven_place_without_a_loop_is_not_called_high),
		cmocka_unit_test(what_the_next_command_would_settle_is_not_called_high),
		cmocka_unit_test(a_place_whose_callers_were_not_seen_is_not_called_high),
		cmocka_unit_test(beside_others_no_place_is_first_that_experiments_do_not_put_there),
		cmocka_unit_test(a_round_on_a_busy_machine_is_made_again_as_a_round),
		cmocka_unit_test(experiments_go_to_the_program_that_the_time_is_in),
		cmocka_unit_test(
			a_clock_is_known_by_its_marks_and_by_timers_where_nothing_is_marked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
