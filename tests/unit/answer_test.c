/* answer_test.c - which place is named first, and what is said when none can be. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/answer.h"
#include "base/str.h"
#include "model/run.h"
#include "profile_text.h"
#include "render/answer.h"
#include "render/answer_json.h"
#include "render/markdown.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

struct scene {
	struct arena arena;
	struct evidence evidence;
	struct run *runs[EVIDENCE_KINDS];
	struct ledger_row rows[4];
	struct ledger_view ledger;
	struct signals signals;
	struct answer_view view;
};

static void scene_put(struct scene *scene, enum evidence_kind kind, struct run *run)
{
	static const char *const paths[] = {"baseline.assay", "observed.assay", "profile.assay",
		"counters.assay", "causal.assay", "events.assay", "calls.assay", "smaller.assay",
		"smallest.assay"};

	scene->runs[kind] = run;
	scene->evidence.piece[kind] = (struct evidence_piece){run, paths[kind], "", ""};
}

static struct scene scene_of(const char *profile)
{
	struct scene scene = {0};

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		scene.evidence.piece[i] =
			(struct evidence_piece){NULL, "", "it was not asked for", ""};
	if (profile)
		scene_put(&scene, EVIDENCE_PROFILE, profile_text_run(profile));
	return scene;
}

static const struct answer_view *scene_answer(struct scene *scene)
{
	evidence_view_causal(&scene->evidence, &scene->arena);
	answer_make(&scene->evidence, &scene->signals, &scene->ledger, &scene->arena, &scene->view);
	return &scene->view;
}

static void scene_done(struct scene *scene)
{
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		run_close(scene->runs[i]);
	arena_done(&scene->arena);
}

static struct ledger_row row_of(
	const char *name, const char *category, enum hypothesis_verdict verdict, double share)
{
	return (struct ledger_row){.name = name,
		.title = name,
		.category = category,
		.verdict = verdict,
		.why = "two witnesses say so",
		.untested = "",
		.advice = "",
		.falsifier = "a test",
		.next = "",
		.share = share,
		.effort = 1};
}

static void scene_support(struct scene *scene, const char *name, const char *category, double share)
{
	scene->rows[scene->ledger.count] = row_of(name, category, HYPOTHESIS_SUPPORTS, share);
	scene->ledger.rows = scene->rows;
	scene->ledger.count++;
}

/* Experiments on one line: `pairs` of them, the sped-up one taking `ratio` of the time a visit. */
static void experiments_add(
	struct run *run, const char *function, uint32_t line, double ratio, unsigned pairs)
{
	char name[64];
	row_id target, point = run->progress_points.count;

	(void)snprintf(name, sizeof(name), "prog.c:%u", line);
	target = run_add_causal_target(
		run, &(struct causal_target_row){.name = run_intern(run, name),
			     .file = run_intern(run, "prog.c"),
			     .function = run_intern(run, function),
			     .line = line});
	if (!point)
		point = run_add_progress_point(
			run, &(struct progress_point_row){.name = run_intern(run, "round")});
	for (unsigned i = 0; i < 2 * pairs; i++) {
		bool sped = i % 2;
		row_id e = run_add_experiment(
			run, &(struct experiment_row){.target = target,
				     .execution = 1,
				     .pair = 100 * target + i / 2 + 1,
				     .speedup_permille = sped ? 500 : 0,
				     .threads = 1,
				     .wall_ns = 1000000000,
				     .virtual_ns = (uint64_t)(1000000000 * (sped ? ratio : 1)),
				     .samples = 1000,
				     .hits = 500,
				     .hit_ns = 500000000,
				     .ran_ns = 1000000000});

		run_add_visit(run, &(struct visit_row){.experiment = e,
					   .point = point,
					   .arrivals = 10000,
					   .departures = 10000});
	}
}

static struct run *experiments_run(void)
{
	struct run *run = run_open();

	run->command = run_intern(run, "causal");
	run_add_execution(run, &(struct execution_row){.wall_ns = 10000000000});
	return run;
}

#define TWO_PLACES                                                                                 \
	"event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"                                    \
	"70 main:1;hot:10\n20 main:1;cool:20\n5 main:1;rest:30\n5 main:1;rest:31\n"

static void the_hottest_place_is_named_when_there_is_nothing_else(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	const struct answer_view *view = scene_answer(&scene);

	(void)state;
	assert_int_equal(view->kind, ANSWER_CHANGE);
	assert_string_equal(view->first->function, "hot");
	assert_string_equal(view->first->location, "prog.c:10");
	assert_near(view->first->value, 0.7, 1e-9);
	assert_int_equal(view->first->category, HOTSPOT_CPU);
	assert_true(isnan(view->gain));
	assert_string_equal(view->gain_reason, "it was not asked for");
	assert_non_null(strstr(view->next, "assay causal --progress auto -f prog.c:10"));
	scene_done(&scene);
}

static void an_experiment_that_pays_beats_the_profile_and_a_flat_one_is_not_worth_touching(
	void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	const struct answer_view *view;

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "hot", 10, 1.0, 12);
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
	view = scene_answer(&scene);
	assert_int_equal(view->kind, ANSWER_CHANGE);
	assert_string_equal(view->first->function, "cool");
	assert_near(view->gain, 0.3, 0.001);
	assert_true(view->gain_lo > 0.2 && view->gain_hi < 0.4);
	assert_int_equal(view->flat_count, 1);
	assert_string_equal(view->flat[0].function, "hot");
	assert_non_null(strstr(view->next, "--against latest"));
	scene_done(&scene);
}

static void all_who_ask_share_one_look_at_the_experiments(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	signals_auto struct signals before = {0}, after = {0};

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "hot", 10, 1.0, 12);
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
	scene.evidence.causal_reason = "nobody has looked";
	signals_collect(&scene.evidence, &scene.arena, &before);
	assert_string_equal(signals_find(&before, "best_gain")->reason, "nobody has looked");
	answer_make(&scene.evidence, &scene.signals, &scene.ledger, &scene.arena, &scene.view);
	assert_true(isnan(scene.view.gain));
	scene_answer(&scene);
	signals_collect(&scene.evidence, &scene.arena, &after);
	assert_near(signals_find(&after, "best_gain")->value, 0.3, 0.001);
	assert_near(scene.view.gain, 0.3, 0.001);
	scene_done(&scene);
}

static void a_gain_that_the_samples_hardly_know_is_a_place_of_its_own(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	const struct answer_view *view;

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "elsewhere", 99, 0.8, 12);
	view = scene_answer(&scene);
	assert_string_equal(view->first->location, "prog.c:99");
	scene_done(&scene);
}

static void samples_in_the_allocator_belong_to_who_called_it(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "30 main:1;churn:12;malloc@libc.so.6\n"
				      "30 main:1;churn:13;free@libc.so.6;_int_free@libc.so.6\n"
				      "25 main:1;churn:14\n15 main:1;other:20\n");
	const struct answer_view *view;

	(void)state;
	scene_support(&scene, "allocator_churn", "allocation", 0.6);
	view = scene_answer(&scene);
	assert_string_equal(view->first->function, "churn");
	assert_int_equal(view->first->category, HOTSPOT_ALLOCATION);
	assert_near(view->first->value, 0.85, 1e-9);
	assert_int_equal(view->first->kind_count, 2);
	assert_near(view->first->kinds[0].share, 0.6, 1e-9);
	assert_ptr_equal(view->because, &scene.rows[0]);
	assert_string_equal(view->refute, "a test");
	scene_done(&scene);
}

static void a_machine_that_is_too_small_is_the_answer_and_no_line_is(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	const struct answer_view *view;

	(void)state;
	scene_support(&scene, "cpu_starvation", "starvation", 0.5);
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
	view = scene_answer(&scene);
	assert_int_equal(view->kind, ANSWER_CHANGE);
	assert_null(view->first);
	assert_string_equal(view->because->name, "cpu_starvation");
	scene_done(&scene);
}

static void a_flat_profile_has_nothing_that_stands_out(void **state)
{
	str_auto struct str text = {0};
	struct scene scene;

	(void)state;
	str_add(&text, "event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n");
	for (unsigned i = 0; i < 50; i++)
		str_addf(&text, "2 main:1;f%u:%u\n", i, 10 * i + 2);
	scene = scene_of(text.at);
	scene.evidence.directory = "my out/1";
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_NOTHING);
	assert_null(scene.view.first);
	assert_string_equal(scene.view.next, "assay report 'my out/1/profile.assay' --total");
	scene_done(&scene);
}

static void hot_places_without_a_gain_are_not_called_spread_out(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "70 main:1;hot:10\n22 main:1;cool:20\n8 main:1;rest:30\n");

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "hot", 10, 1.0, 12);
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 1.0, 12);
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_NOTHING);
	assert_int_equal(scene.view.flat_count, 2);
	assert_non_null(
		strstr(scene.view.sentence, "hot() has 70 % of the CPU time, but experiments "
					    "find no gain there, nor at the other hot places"));
	assert_non_null(strstr(scene.view.refute, "when hot() is 50 % faster"));
	assert_non_null(strstr(scene.view.next, "assay causal --progress auto --budget 2m"));
	scene_done(&scene);
}

static void the_largest_place_without_a_gain_speaks_for_all_of_them(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "70 main:1;hot:10\n22 main:1;cool:20\n8 main:1;rest:30\n");

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "hot", 10, 1.0, 12);
	/* A little, and too little: so it is the first of them, with 8 % of the time. */
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "rest", 30, 0.999, 12);
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 1.0, 12);
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_NOTHING);
	assert_string_equal(scene.view.flat[0].function, "rest");
	assert_non_null(strstr(scene.view.sentence, "hot() has 70 % of the CPU time, but"));
	scene_done(&scene);
}

static void without_samples_it_is_not_measured_because(void **state)
{
	struct scene scene = scene_of(NULL);

	(void)state;
	scene.evidence.piece[EVIDENCE_PROFILE].reason = "perf_event_paranoid is 4";
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_NOT_MEASURED);
	assert_non_null(strstr(scene.view.sentence, "perf_event_paranoid is 4"));
	scene_done(&scene);
}

static void the_next_command_can_be_typed(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "90 main;a::run(int)\n10 main;cool\n");

	(void)state;
	scene.evidence.directory = "my out/1";
	scene.evidence.target = "'./my prog' 1";
	scene_answer(&scene);
	assert_string_equal(
		scene.view.next, "assay causal --progress auto -f a::run -- './my prog' 1");
	scene_done(&scene);

	scene = scene_of(NULL);
	scene.evidence.target = "'./my prog' 1";
	scene_answer(&scene);
	assert_string_equal(scene.view.next, "assay doctor './my prog'");
	scene_done(&scene);
}

static void noise_is_the_answer_only_when_nothing_else_is(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "1 a:1\n1 b:2\n1 c:3\n1 d:4\n1 e:5\n1 f:6\n1 g:7\n1 h:8\n"
				      "1 i:9\n1 j:10\n1 k:11\n1 l:12\n");

	(void)state;
	scene_support(&scene, "noise", "noise", (double)NAN);
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_NOISY);
	scene_done(&scene);
	scene = scene_of(TWO_PLACES);
	scene_support(&scene, "noise", "noise", (double)NAN);
	assert_int_equal(scene_answer(&scene)->kind, ANSWER_CHANGE);
	scene_done(&scene);
}

static void a_machine_that_was_not_quiet_takes_a_step_off(void **state)
{
	static const char *const quiet = "high", *const busy = "medium";

	(void)state;
	for (unsigned noisy = 0; noisy < 2; noisy++) {
		struct scene scene = scene_of(TWO_PLACES);

		scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
		experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
		if (noisy)
			scene_support(&scene, "noise", "noise", (double)NAN);
		assert_string_equal(scene_answer(&scene)->confidence, noisy ? busy : quiet);
		assert_int_equal(scene.view.confidence_reason != NULL, noisy);
		scene_done(&scene);
	}
}

static void code_without_lines_is_named_by_its_function(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "90 main;hot\n10 main;cool\n");

	(void)state;
	scene.evidence.target = "./prog 'a b'";
	scene_answer(&scene);
	assert_string_equal(scene.view.first->location, "hot()");
	assert_int_equal(scene.view.first->line, 0);
	assert_string_equal(scene.view.next, "assay causal --progress auto -f hot -- ./prog 'a b'");
	scene_done(&scene);
}

static void a_program_without_names_is_said_to_have_none(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "90 start@libc.so.6;?\n10 start@libc.so.6;?;cool@libm.so\n");

	(void)state;
	scene_answer(&scene);
	assert_true(scene.view.first->has_no_name);
	assert_string_equal(scene.view.first->location, "[prog]");
	assert_non_null(strstr(scene.view.sentence, "get the function names of [prog]"));
	assert_string_equal(scene.view.next, "assay doctor prog");
	scene_done(&scene);
}

static void a_library_of_the_system_is_not_what_to_change(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "90 ?;compare@/usr/lib/libc.so.6\n10 ?\n");

	(void)state;
	scene_answer(&scene);
	assert_string_equal(scene.view.first->function, "compare");
	assert_non_null(
		strstr(scene.view.sentence, "look at the callers of compare() in libc.so.6 first"));
	scene_done(&scene);
}

static void experiments_that_failed_are_not_advised_again(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);

	(void)state;
	scene.evidence.piece[EVIDENCE_CAUSAL].reason = "no progress point was visited";
	scene.evidence.no_experiments = true;
	scene.evidence.directory = "elsewhere/1";
	scene.evidence.input = "in.txt";
	scene_answer(&scene);
	assert_string_equal(scene.view.next, "assay annotate elsewhere/1/profile.assay hot");
	assert_null(strstr(scene.view.refute, "causal"));
	assert_non_null(strstr(scene.view.why, "unknown"));
	scene_done(&scene);
}

/* grep -r: 13 % in read() with a supported explanation, 63 % elsewhere. */
static void a_small_place_with_a_reason_does_not_come_before_a_large_one(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "80 main;search:10\n20 main;fetch:20;read@libc.so.6\n");

	(void)state;
	scene_support(&scene, "syscall_overhead", "syscall", 0.2);
	scene_answer(&scene);
	assert_string_equal(scene.view.first->function, "search");
	scene_done(&scene);
	scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
			 "60 main;search:10\n40 main;fetch:20;read@libc.so.6\n");
	scene_support(&scene, "syscall_overhead", "syscall", 0.4);
	scene_answer(&scene);
	assert_string_equal(scene.view.first->function, "fetch");
	scene_done(&scene);
}

static void a_lock_is_explained_at_the_work_that_is_done_under_it(void **state)
{
	struct scene scene =
		scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
			 "80 main;count:10\n2 main;count:9;pthread_mutex_lock@libc.so.6\n"
			 "18 main;cut:20\n");

	(void)state;
	scene_support(&scene, "lock_thrash", "lock", 0.5);
	scene_answer(&scene);
	assert_string_equal(scene.view.first->location, "prog.c:10");
	assert_string_equal(scene.view.because->name, "lock_thrash");
	assert_int_equal(scene.view.first->category, HOTSPOT_LOCK);
	scene_done(&scene);
}

static void slow_memory_is_explained_where_the_time_is_not_at_a_few_page_faults(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "95 main;walk:10\n5 main;fill:20;mmap@libc.so.6\n");

	(void)state;
	scene_support(&scene, "memory_latency", "memory", 0.5);
	scene_answer(&scene);
	assert_string_equal(scene.view.first->location, "prog.c:10");
	assert_string_equal(scene.view.because->name, "memory_latency");
	scene_done(&scene);
}

static void page_faults_explain_a_place_only_where_they_are_most_of_it(void **state)
{
	struct scene few = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				    "78 main;grow:10\n22 main;grow:11;mmap@libc.so.6\n");
	struct scene most = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				     "40 main;grow:10\n60 main;grow:11;mmap@libc.so.6\n");

	(void)state;
	scene_support(&few, "page_fault_storm", "fault", 0.22);
	scene_answer(&few);
	assert_string_equal(few.view.first->function, "grow");
	assert_null(few.view.because);
	scene_support(&most, "page_fault_storm", "fault", 0.6);
	scene_answer(&most);
	assert_string_equal(most.view.because->name, "page_fault_storm");
	scene_done(&few);
	scene_done(&most);
}

/* A server has no whole runs; its rates while it was watched are known. */
static void a_program_without_an_end_tells_its_rates_all_the_same(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	struct run *watched = run_open();
	const struct signal *share;
	struct signals signals;

	(void)state;
	run_add_execution(watched, &(struct execution_row){.wall_ns = 1000,
					   .user_ns = 100,
					   .system_ns = 300,
					   .flags = EXECUTION_INTERRUPTED});
	scene_put(&scene, EVIDENCE_OBSERVED, watched);
	signals_collect(&scene.evidence, &scene.arena, &signals);
	share = signals_find(&signals, "kernel_share");
	assert_true(share->value > 0.749 && share->value < 0.751);
	assert_string_equal(share->path, "observed.assay");
	assert_true(isnan(signals_find(&signals, "wall_ns")->value)); /* of a part: no such thing */
	signals_done(&signals);
	scene_done(&scene);
}

static void a_name_of_cpp_is_said_without_parameters_and_quoted_for_the_shell(void **state)
{
	struct scene scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
				      "90 main;Graph::follow(int) const\n10 main;cool\n");

	(void)state;
	scene_answer(&scene);
	assert_string_equal(scene.view.first->location, "Graph::follow()");
	assert_string_equal(scene.view.first->call, "Graph::follow()");
	assert_string_equal(scene.view.first->function, "Graph::follow(int) const");
	assert_non_null(strstr(scene.view.next, "-f Graph::follow "));
	scene_done(&scene);
	scene = scene_of("event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
			 "90 main;(anonymous namespace)::shade(int) [clone .cold]\n");
	scene_answer(&scene);
	assert_string_equal(scene.view.first->call, "shade()");
	assert_non_null(strstr(scene.view.next, "-f '(anonymous namespace)::shade' "));
	scene_done(&scene);
}

static void every_form_says_the_place_the_gain_and_what_was_not_measured(void **state)
{
	struct scene scene = scene_of(TWO_PLACES);
	str_auto struct str text = {0}, agent = {0}, json_text = {0}, report = {0}, table = {0},
			    queries = {0};
	struct paper paper = {.out = &text}, plain = {.out = &agent, .ascii = true};
	struct jsonw json = {.out = &json_text};
	struct answer_page page = {.view = &scene.view,
		.evidence = &scene.evidence,
		.target = "./prog 1",
		.directory = "assay-out/1",
		.run_id = "1"};
	unsigned lines = 0;

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "hot", 10, 1.0, 12);
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
	scene_answer(&scene);
	answer_text(&paper, &page);
	assert_non_null(strstr(text.at, "Change first  prog.c:20"));
	assert_non_null(strstr(text.at, "Hot, but not worth changing"));
	assert_non_null(strstr(text.at, "Not measured"));
	for (const char *at = text.at; *at; at++)
		lines += *at == '\n';
	assert_true(lines <= 40);
	answer_agent(&plain, &page);
	assert_non_null(strstr(agent.at, "where: prog.c:20 cool()"));
	for (lines = 0; *agent.at && agent.len; agent.len--)
		lines += agent.at[agent.len - 1] == '\n';
	assert_true(lines <= 40);
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_non_null(strstr(json_text.at, "\"location\": \"prog.c:20\""));
	answer_markdown(&report, &page);
	assert_null(strstr(report.at, "SELECT"));
	assert_non_null(strstr(report.at, "- prog.c:20 50 % faster makes the program "));
	queries_sql(&queries, &page);
	assert_non_null(strstr(queries.at, "\nSELECT 'prog.c:20 (CPU), samples', (SELECT "));
	hotspot_markdown(&table, &page);
	assert_non_null(strstr(table.at, "| 1 | `prog.c:20` `cool`"));
	scene_done(&scene);
}

/* Waits are not sampled: there is no share, and no "not measured of the CPU time". */
static void a_place_without_a_share_is_not_a_share_of_anything(void **state)
{
	struct hotspot wait = {.rank = 1,
		.location = "prog.c:9",
		.function = "wait_long",
		.call = "wait_long()",
		.file = "prog.c",
		.metric = "wall time",
		.value = (double)NAN,
		.category = HOTSPOT_LOCK,
		.gain = 0.01,
		.gain_lo = -0.02,
		.gain_hi = 0.04,
		.gain_at = 0.5,
		.score = 3};
	struct hotspot untried = wait;
	struct scene scene = scene_of(TWO_PLACES);
	str_auto struct str report = {0}, table = {0};
	struct answer_page page = {.view = &scene.view,
		.evidence = &scene.evidence,
		.target = "./prog",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	untried.gain = (double)NAN;
	scene_answer(&scene);
	scene.view.hotspots = &untried;
	scene.view.hotspot_count = 1;
	scene.view.flat = &wait;
	scene.view.flat_count = 1;
	answer_markdown(&report, &page);
	hotspot_markdown(&table, &page);
	assert_null(strstr(report.at, "not measured of"));
	assert_null(strstr(table.at, "not measured of"));
	assert_non_null(strstr(table.at, "| lock | not measured | not tried |"));
	assert_non_null(strstr(report.at, "`wait_long`: gain 1.0 % (-2.0 to 4.0)"));
	assert_non_null(strstr(report.at, "Expected: unknown.\n"));
	scene_done(&scene);
}

/* That a place pays is where, and not why it is slow there. */
static void an_experiment_is_no_cause_and_what_the_counters_excluded_is_said(void **state)
{
	struct ledger_witness samples = {
		.witness = "samples", .verdict = HYPOTHESIS_REJECTS, .words = "1 % of the samples"};
	struct ledger_witness both[] = {
		samples, {.witness = "simulation",
				 .verdict = HYPOTHESIS_REJECTS,
				 .words = "0.003 per 1000 instructions (ll_load_mpki < 0.3)"}};
	struct scene scene = scene_of(TWO_PLACES);
	str_auto struct str report = {0};
	struct answer_page page = {.view = &scene.view,
		.evidence = &scene.evidence,
		.target = "./prog",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	scene_put(&scene, EVIDENCE_CAUSAL, experiments_run());
	experiments_add(scene.runs[EVIDENCE_CAUSAL], "cool", 20, 0.7, 12);
	scene.rows[0] = row_of("loads wait", "memory", HYPOTHESIS_REJECTS, (double)NAN);
	scene.rows[0].witnesses = both;
	scene.rows[0].witness_count = 2;
	scene.rows[0].decider = &both[1];
	scene.rows[0].by_counters = true;
	scene.rows[1] = row_of("faults", "fault", HYPOTHESIS_REJECTS, (double)NAN);
	scene.rows[1].witnesses = &samples;
	scene.rows[1].witness_count = 1;
	scene.rows[1].decider = &samples;
	scene.ledger = (struct ledger_view){.rows = scene.rows, .count = 2};
	scene_answer(&scene);
	assert_non_null(scene.view.first);
	assert_true(scene.view.gain > 0);
	assert_null(scene.view.cause);
	assert_true(str_starts(scene.view.why, "unknown: samples and experiments show where"));
	answer_markdown(&report, &page);
	assert_non_null(strstr(report.at, "## Why it is slow there\n\nUnknown: "));
	assert_non_null(strstr(report.at,
		"Excluded by the counters:\n\n- loads wait: 0.003 per 1000 instructions "
		"(ll_load_mpki < 0.3) [simulation]\n"));
	assert_non_null(strstr(report.at,
		"Excluded by other numbers:\n\n- faults: 1 % of the samples [samples]\n"));
	scene_done(&scene);
}

static void a_supported_explanation_is_the_cause_unless_it_is_only_a_place(void **state)
{
	struct scene scene = scene_of(TWO_PLACES), place = scene_of(TWO_PLACES);

	(void)state;
	scene_support(&scene, "branches", "cpu", 0.6);
	scene_answer(&scene);
	assert_string_equal(scene.view.cause, "two witnesses say so");
	scene_done(&scene);
	scene_support(&place, "one_hot_function", "cpu", 0.6);
	place.rows[0].is_place = true;
	scene_answer(&place);
	assert_non_null(place.view.because);
	assert_null(place.view.cause);
	scene_done(&place);
}

static void what_was_not_sampled_is_never_shown_as_a_number(void **state)
{
	const struct hotspot wait = {.rank = 1,
		.location = "w.c:7",
		.function = "wait",
		.call = "wait()",
		.file = "w.c",
		.line = 7,
		.metric = "time off the CPU",
		.value = (double)NAN,
		.category = HOTSPOT_OFF_CPU,
		.gain_hi = 0.01,
		.gain_at = 0.5,
		.why = ""};
	struct scene scene = scene_of(TWO_PLACES);
	str_auto struct str text = {0};
	struct paper paper = {.out = &text};
	struct answer_page page = {
		.view = &scene.view, .evidence = &scene.evidence, .target = "", .directory = ""};

	(void)state;
	scene_answer(&scene);
	scene.view.hotspots = scene.view.flat = &wait;
	scene.view.hotspot_count = scene.view.flat_count = 1;
	answer_text(&paper, &page);
	answer_agent(&paper, &page);
	assert_null(strstr(text.at, "nan"));
	assert_non_null(strstr(text.at, "w.c:7  wait()  gain 0.0 % (0.0 to 1.0)"));
	assert_non_null(strstr(text.at, "1. w.c:7 wait() off-CPU share not measured agree"));
	scene_done(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_hottest_place_is_named_when_there_is_nothing_else),
		cmocka_unit_test(
			an_experiment_that_pays_beats_the_profile_and_a_flat_one_is_not_worth_touching),
		cmocka_unit_test(all_who_ask_share_one_look_at_the_experiments),
		cmocka_unit_test(a_gain_that_the_samples_hardly_know_is_a_place_of_its_own),
		cmocka_unit_test(samples_in_the_allocator_belong_to_who_called_it),
		cmocka_unit_test(a_machine_that_is_too_small_is_the_answer_and_no_line_is),
		cmocka_unit_test(a_flat_profile_has_nothing_that_stands_out),
		cmocka_unit_test(hot_places_without_a_gain_are_not_called_spread_out),
		cmocka_unit_test(the_largest_place_without_a_gain_speaks_for_all_of_them),
		cmocka_unit_test(without_samples_it_is_not_measured_because),
		cmocka_unit_test(the_next_command_can_be_typed),
		cmocka_unit_test(noise_is_the_answer_only_when_nothing_else_is),
		cmocka_unit_test(a_machine_that_was_not_quiet_takes_a_step_off),
		cmocka_unit_test(code_without_lines_is_named_by_its_function),
		cmocka_unit_test(a_program_without_names_is_said_to_have_none),
		cmocka_unit_test(a_library_of_the_system_is_not_what_to_change),
		cmocka_unit_test(experiments_that_failed_are_not_advised_again),
		cmocka_unit_test(a_small_place_with_a_reason_does_not_come_before_a_large_one),
		cmocka_unit_test(a_lock_is_explained_at_the_work_that_is_done_under_it),
		cmocka_unit_test(
			slow_memory_is_explained_where_the_time_is_not_at_a_few_page_faults),
		cmocka_unit_test(page_faults_explain_a_place_only_where_they_are_most_of_it),
		cmocka_unit_test(a_program_without_an_end_tells_its_rates_all_the_same),
		cmocka_unit_test(a_name_of_cpp_is_said_without_parameters_and_quoted_for_the_shell),
		cmocka_unit_test(every_form_says_the_place_the_gain_and_what_was_not_measured),
		cmocka_unit_test(a_place_without_a_share_is_not_a_share_of_anything),
		cmocka_unit_test(an_experiment_is_no_cause_and_what_the_counters_excluded_is_said),
		cmocka_unit_test(a_supported_explanation_is_the_cause_unless_it_is_only_a_place),
		cmocka_unit_test(what_was_not_sampled_is_never_shown_as_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
