/* answer_level_test.c - at which level of the stack the answer is, and what the program gains when
 * one thread does all of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/algorithm.h"
#include "analyze/answer.h"
#include "analyze/hot_code.h"
#include "analyze/round.h"
#include "base/jsonw.h"
#include "base/str.h"
#include "model/manifest.h"
#include "model/run.h"
#include "profile_text.h"
#include "render/answer.h"
#include "render/answer_json.h"
#include "render/markdown.h"

#define HEAD "event cpu-clock ns\nthread 1 1 prog\nperiod 1000000\n"
#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

struct scene {
	struct arena arena;
	struct evidence evidence;
	struct run *run;
	struct hot_code code;
	uint32_t *loops, *callee;
	struct signal rows[4];
	struct signals signals;
	struct ledger_view ledger;
	struct answer_view view;
};

static bool location_is(const struct run *run, row_id location, const char *function, unsigned line)
{
	row_id frame = run->locations.at[location - 1].frame;

	while (frame && run->frames.at[frame - 1].outer)
		frame = run->frames.at[frame - 1].outer;
	return frame && run->frames.at[frame - 1].line == line &&
	       str_equal(run_text(run,
				 run->functions.at[run->frames.at[frame - 1].function - 1].name),
		       function);
}

/* `loops`: "parse:88 walk:7", the places that are in a loop of their function; NULL: the code was
 * not looked at. */
static struct scene scene_of(const char *profile, const char *loops)
{
	struct scene s = {0};
	char word[64], *line;
	int len;

	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		s.evidence.piece[i] = (struct evidence_piece){NULL, "", "it was not asked for", ""};
	s.run = profile_text_run(profile);
	s.evidence.piece[EVIDENCE_PROFILE] =
		(struct evidence_piece){s.run, "profile.assay", "", ""};
	s.code.count = s.run->locations.count + 1;
	s.loops = arena_take(&s.arena, s.code.count * sizeof(*s.loops));
	s.callee = arena_take(&s.arena, s.code.count * sizeof(*s.callee));
	for (uint32_t i = 1; i < s.code.count; i++)
		s.loops[i] = HOT_CODE_KNOWN;
	for (; loops && sscanf(loops, " %63s%n", word, &len) == 1; loops += len) {
		line = strrchr(word, ':');
		*line++ = '\0';
		for (uint32_t i = 1; i < s.code.count; i++)
			if (location_is(s.run, i, word, (unsigned)atoi(line)))
				s.loops[i] |= 1;
	}
	if (!loops)
		s.code.count = 0;
	return s;
}

static const struct hotspot *scene_first(struct scene *s)
{
	s->code.loops = s->loops;
	s->code.callee = s->callee;
	s->evidence.code = &s->code;
	evidence_view_causal(&s->evidence, &s->arena);
	answer_make(&s->evidence, &s->signals, &s->ledger, &s->arena, &s->view);
	assert_non_null(s->view.first);
	return s->view.first;
}

static void scene_signal(struct scene *s, const char *name, double value)
{
	s->rows[s->signals.rows.count] = (struct signal){.name = name, .value = value};
	s->signals.rows.at = s->rows;
	s->signals.rows.count++;
}

static void scene_done(struct scene *s)
{
	run_close(s->run);
	arena_done(&s->arena);
}

#define PARSER                                                                                     \
	HEAD "95 main:1;run:5;parse:88;step:10\n2 main:1;run:5;parse:90\n3 main:1;run:6;other:3\n"

static void a_small_function_without_a_loop_means_its_caller_that_has_one(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88 main:1");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "parse");
	assert_string_equal(first->location, "prog.c:88");
	assert_near(first->value, 0.97, 1e-9);
	assert_string_equal(s.view.sentence,
		"change prog.c:88, in parse() first: 97 % of the CPU time is below it, 95 % in "
		"step(); reached through parse() <- run() <- main()");
	assert_int_equal(first->chain_count, 4);
	assert_int_equal(first->chain_place, 1);
	assert_string_equal(first->chain[0].function, "step");
	assert_near(first->chain[0].self, 0.95, 1e-9);
	assert_near(first->chain[1].total, 0.97, 1e-9);
	assert_near(first->chain[1].self, 0.02, 1e-9);
	assert_string_equal(first->chain[3].call, "main()");
	assert_near(first->chain[3].total, 1, 1e-9);
	assert_true(isnan(first->chain[0].entries));
	assert_int_equal(s.view.hotspot_count, 2); /* step() is shown in the chain, not again */
	assert_string_equal(s.view.hotspots[1].function, "other");
	scene_done(&s);
}

static void experiments_are_about_the_place_with_what_it_calls(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88 main:1"), blind = scene_of(PARSER, NULL);
	const struct evidence_piece *profile = &s.evidence.piece[EVIDENCE_PROFILE];
	struct hotspot_target targets[4];

	(void)state;
	s.code.loops = s.loops;
	s.code.callee = s.callee;
	assert_int_equal(hotspot_functions(profile, &s.code, 0.08, &s.arena, targets, 4), 1);
	assert_string_equal(targets[0].function, "parse");
	assert_true(targets[0].with_callees);
	profile = &blind.evidence.piece[EVIDENCE_PROFILE];
	assert_int_equal(hotspot_functions(profile, NULL, 0.08, &blind.arena, targets, 4), 1);
	assert_string_equal(targets[0].function, "step");
	assert_false(targets[0].with_callees);
	scene_done(&s);
	scene_done(&blind);
}

static void a_function_that_has_the_loop_itself_is_the_place_and_so_it_is_when_nobody_looked(
	void **state)
{
	struct scene s = scene_of(PARSER, "step:10 parse:88 main:1"),
		     blind = scene_of(PARSER, NULL);

	(void)state;
	assert_string_equal(scene_first(&s)->function, "step");
	assert_int_equal(s.view.first->chain_place, 0);
	assert_string_equal(scene_first(&blind)->function, "step");
	scene_done(&s);
	scene_done(&blind);
}

static void who_makes_copies_and_destroys_values_is_the_place(void **state)
{
	static const char *const values[][2] = {
		{"ns::Value::Value(ns::Value&)", "ns::Value::~Value()"},
		{"ns::V<a::b>::V", "ns::V<a::b>::operator=="}, {"operator<<", "a::operator->"},
		{"a::T::clone", "b::U::clone"}};
	static const char *const others[][2] = {{"ns::Value::value", "Value"},
		{"a::main::{lambda()#1}::operator()", "ns::Val::Value"}};
	char profile[512], loops[256];

	(void)state;
	for (unsigned i = 0; i < 6; i++) {
		const char *const *names = i < 4 ? values[i] : others[i - 4];
		struct scene s;

		(void)snprintf(profile, sizeof(profile),
			HEAD "45 main:1;run:5;scan:88;%s:10\n25 main:1;run:5;scan:90;%s:12\n"
			     "20 main:1;run:5;scan:95\n10 main:1;run:7;other:3\n",
			names[0], names[1]);
		(void)snprintf(
			loops, sizeof(loops), "%s:10 %s:12 run:5 main:1", names[0], names[1]);
		s = scene_of(profile, loops);
		assert_string_equal(scene_first(&s)->function, i < 4 ? "scan" : names[0]);
		scene_done(&s);
	}
}

/* An interpreter: its loop does everything, so it is not why one thing is slow. */
static void a_loop_that_does_many_things_is_not_why_one_of_them_is_slow(void **state)
{
	struct scene s = scene_of(HEAD "25 main:1;execute:9;get:20\n20 main:1;execute:8;set:30\n"
				       "20 main:1;execute:7;add:40\n20 main:1;execute:6;cat:50\n"
				       "15 main:1;execute:5\n",
		"execute:9 execute:8 execute:7 execute:6 execute:5");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "get");
	scene_done(&s);
}

/* Copying and freeing: what they have in common is append(), not the parser's loop above. */
static void a_function_with_several_costs_below_it_is_the_place(void **state)
{
	struct scene s = scene_of(HEAD "58 main:1;parse:5;token:6;append:7;copy:8\n"
				       "40 main:1;parse:5;token:6;append:9;drop:10\n2 main:2\n",
		"parse:5");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "append");
	assert_near(s.view.first->value, 0.98, 1e-9);
	scene_done(&s);
}

/* main() says how often everything is done. */
static void main_is_not_the_place_of_what_it_calls(void **state)
{
	struct scene s = scene_of(HEAD "95 main:3;hash:10\n5 main:4\n", "main:3");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "hash");
	scene_done(&s);
}

/* A transform without a loop, 4 KB of it: there is enough in it to change. */
static void a_large_function_without_a_loop_is_the_place(void **state)
{
	struct scene s = scene_of(
		HEAD "95 main:1;update:4;transform:10\n5 main:2;other:7\n", "update:4 main:1");

	(void)state;
	vec_foreach (struct function_row, function, &s.run->functions)
		if (str_equal(run_text(s.run, function->name), "transform"))
			function->size_bytes = 4096;
	assert_string_equal(scene_first(&s)->function, "transform");
	scene_done(&s);
}

/* Half of its time before and behind a loop of a few rounds: the calls are many. */
static void a_tiny_function_with_a_short_loop_means_its_caller(void **state)
{
	struct scene s = scene_of(HEAD
		"55 main:1;lookup:4;hash:10\n40 main:1;lookup:4;hash:9\n5 main:2;other:7\n",
		"hash:10 lookup:4");

	(void)state;
	vec_foreach (struct function_row, function, &s.run->functions)
		if (str_equal(run_text(s.run, function->name), "hash"))
			function->size_bytes = 90;
	assert_string_equal(scene_first(&s)->function, "lookup");
	scene_done(&s);
}

/* Hardly anything goes further in: what does is not why. */
static void a_chain_ends_where_the_time_is(void **state)
{
	struct scene s = scene_of(
		HEAD "98 main:1;run:4;work:7\n2 main:1;run:4;work:8;push:9\n", "work:7 work:8");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "work");
	assert_int_equal(first->chain_place, 0);
	assert_null(strstr(s.view.sentence, "push"));
	scene_done(&s);
}

/* All samples are in its loop, but that has three rounds: the calls are what is many. */
static void a_small_function_with_few_rounds_means_its_caller_and_counts_are_shown(void **state)
{
	struct scene s = scene_of(
		HEAD "95 main:1;run:2;lookup:4;hash:10\n5 main:2;other:7\n", "hash:10 lookup:4");
	const struct algorithm_loop loop = {"prog.c", 10, 1000000, 3000000};
	const struct algorithm_function counted[] = {
		{"hash", 1000000, NULL, 0, &loop, 1, 0.9, 0.95},
		{"lookup", 20, NULL, 0, NULL, 0, 0.1, 0.05},
	};
	const struct algorithm_view view = {.functions = counted, .function_count = 2};
	const struct hotspot *first;

	(void)state;
	assert_string_equal(scene_first(&s)->function, "hash");
	s.evidence.algorithm = &view;
	first = scene_first(&s);
	assert_string_equal(first->function, "lookup");
	assert_near(first->chain[0].entries, 1e6, 1);
	assert_near(first->chain[1].entries, 20, 1e-9);
	assert_true(isnan(first->chain[2].entries));
	assert_non_null(strstr(first->algorithm, "hash(): "));
	scene_done(&s);
}

static void recursion_counts_once_and_is_a_loop(void **state)
{
	struct scene s = scene_of(HEAD "50 main:1;walk:5;walk:5;walk:5;visit:9\n"
				       "40 main:1;walk:5;visit:9\n10 main:2;other:7\n",
		"");
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "walk");
	assert_near(first->value, 0.9, 1e-9);
	assert_near(first->chain[first->chain_place].total, 0.9, 1e-9);
	assert_int_equal(first->chain_count, 3);
	scene_done(&s);
}

/* middle() ends with a call of leaf(), which the compiler made a jump: half of the stacks lack it.
 * The call in outer() names it. */
static void a_tail_call_does_not_split_a_chain(void **state)
{
	struct scene s = scene_of(HEAD "50 main:1;outer:5;middle:7;leaf:9\n"
				       "50 main:1;outer:5;leaf:9\n",
		"middle:7 leaf:0");

	(void)state;
	for (uint32_t i = 1; i < s.code.count; i++)
		for (uint32_t f = 0;
			location_is(s.run, i, "outer", 5) && f < s.run->functions.count; f++)
			if (str_equal(run_text(s.run, s.run->functions.at[f].name), "middle"))
				s.callee[i] = f + 1;
	scene_first(&s);
	assert_string_equal(s.view.first->function, "middle");
	assert_near(s.view.first->value, 1, 1e-9);
	assert_int_equal(s.view.first->chain_count, 4);
	assert_near(s.view.first->chain[1].total, 1, 1e-9);
	assert_int_equal(s.view.hotspot_count, 1);
	scene_done(&s);
}

static void a_wrapper_of_the_allocator_means_its_caller(void **state)
{
	struct scene s = scene_of(HEAD "90 main:1;build:5;xmalloc:7;malloc@/usr/lib/libc.so.6\n"
				       "10 main:2;other:7\n",
		NULL);
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_string_equal(first->function, "build");
	assert_int_equal(first->category, HOTSPOT_ALLOCATION);
	scene_done(&s);
}

static void a_sort_that_calls_back_is_the_loop_of_who_called_it(void **state)
{
	struct scene s = scene_of(HEAD
		"90 main:1;order:5;qsort@/usr/lib/libc.so.6:3;compare:7\n10 main:2;other:7\n",
		"qsort:3");

	(void)state;
	assert_string_equal(scene_first(&s)->function, "order");
	scene_done(&s);
}

static void an_interrupt_is_no_system_call(void **state)
{
	struct scene s = scene_of(HEAD
		"70 main:1;work:5\n"
		"20 main:1;work:5;asm_sysvec_apic_timer_interrupt@[kernel];schedule@[kernel]\n"
		"10 main:1;work:6;entry_SYSCALL_64@[kernel];ksys_read@[kernel]\n",
		NULL);
	const struct hotspot *first = scene_first(&s);

	(void)state;
	assert_int_equal(s.view.hotspot_count, 1); /* one place, one row */
	assert_near(first->value, 1, 1e-9);
	assert_int_equal(first->kind_count, 2);
	assert_int_equal(first->kinds[0].category, HOTSPOT_CPU);
	assert_near(first->kinds[0].share, 0.9, 1e-9);
	assert_int_equal(first->kinds[1].category, HOTSPOT_SYSCALL);
	scene_done(&s);
}

/* The same as signals: what the kernel did in the interrupt is nobody's system call. */
static void signals_of_the_kernel_leave_interrupts_out(void **state)
{
	struct scene s = scene_of(HEAD
		"70 main:1;work:5\n"
		"20 main:1;work:5;asm_sysvec_apic_timer_interrupt@[kernel];schedule@[kernel]\n"
		"10 main:1;work:6;entry_SYSCALL_64@[kernel];schedule@[kernel]\n",
		NULL);
	signals_auto struct signals signals = {0};

	(void)state;
	signals_collect(&s.evidence, &s.arena, &signals);
	assert_near(signals_find(&signals, "entry_samples")->value, 0.1, 1e-9);
	assert_non_null(strstr(signals_find(&signals, "entry_samples")->query, "NOT IN"));
	scene_done(&s);
}

static void a_name_is_said_without_template_arguments_and_path(void **state)
{
	struct scene s =
		scene_of(HEAD "90 main:1;ns::adapter<char, std::alloc<char> >::write(int):5\n"
			      "10 main:2;(anonymous namespace)::stream::operator<<(int):7\n",
			NULL);

	(void)state;
	assert_string_equal(scene_first(&s)->call, "ns::adapter::write()");
	assert_string_equal(s.view.hotspots[1].call, "stream::operator<<()");
	scene_done(&s);
	s = scene_of(HEAD "90 main:1;github.com/them/parse/css.(*Parser).next:5\n", NULL);
	assert_string_equal(scene_first(&s)->call, "css.(*Parser).next()");
	scene_done(&s);
}

static void the_level_is_an_opinion_and_never_sure(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct ledger_witness witness = {
		.witness = "rusage", .verdict = HYPOTHESIS_SUPPORTS, .words = "so"};
	struct ledger_row row = {.name = "x",
		.title = "x",
		.category = "cpu",
		.verdict = HYPOTHESIS_SUPPORTS,
		.why = "w",
		.untested = "",
		.advice = "",
		.falsifier = "",
		.next = "",
		.share = 0.9,
		.effort = 1,
		.witnesses = &witness,
		.witness_count = 1};

	(void)state;
	s.ledger = (struct ledger_view){.rows = &row, .count = 1};
	scene_first(&s);
	assert_int_equal(s.view.first->agree, 2);
	assert_string_equal(s.view.confidence, "medium");
	scene_done(&s);
}

static void one_busy_thread_gains_what_the_samples_say(void **state)
{
	struct scene s = scene_of(PARSER, "parse:88");
	struct run *baseline = run_open();

	(void)state;
	/* 0.97, 1.0 and 1.03 s of CPU time: a spread of 3 % */
	for (unsigned i = 0; i < 3; i++)
		run_add_execution(
			baseline, &(struct execution_row){.user_ns = 970000000 + 30000000 * i});
	s.evidence.piece[EVIDENCE_BASELINE] = (struct evidence_piece){baseline, "b", "", ""};
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_int_equal(s.view.gain_source, GAIN_ONE_THREAD);
	assert_near(s.view.gain, 0.485, 1e-9);
	assert_near(s.view.gain_at, 0.5, 1e-9);
	assert_near(s.view.gain_all, 0.97, 1e-9);
	/* sqrt(0.97 * 0.03 / 100 + (0.97 * 0.03)^2) * 1.96 = 0.066 */
	assert_near(s.view.gain_all_lo, 0.97 - 0.066, 0.001);
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
	assert_string_equal(s.view.confidence, "high");
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
	assert_true(round_reached(&evidence, &promise, &arena, &gain));
	assert_near(gain.speedup, 0.75, 1e-9);
	assert_near(gain.gain, 0.6, 1e-9);
	assert_near(gain.lo, 0.57, 1e-9);
	promise.gain = (double)NAN;
	assert_false(round_reached(&evidence, &promise, &arena, &gain));
	run_close(before);
	run_close(after);
}

static bool is_in_order(const char *text, const char *const *words)
{
	for (; text && *words; words++)
		text = strstr(text, *words);
	return text;
}

static void every_form_shows_the_chain_the_kinds_and_how_the_gain_is_known(void **state)
{
	struct scene s =
		scene_of(HEAD "75 main:1;run:5;parse:88;step:10\n"
			      "20 main:1;run:5;parse:88;step:10;malloc@/usr/lib/libc.so.6\n"
			      "5 main:1;run:6;other:3\n",
			"parse:88");
	str_auto struct str text = {0}, agent = {0}, json_text = {0}, report = {0}, table = {0};
	struct paper paper = {.out = &text}, plain = {.out = &agent, .ascii = true};
	struct jsonw json = {.out = &json_text};
	struct answer_page page = {.view = &s.view,
		.evidence = &s.evidence,
		.target = "./prog 1",
		.directory = "d",
		.run_id = "1"};

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	answer_text(&paper, &page);
	assert_non_null(strstr(text.at, "step() 95 % <- [parse() 95 %] <- run() 100 %"));
	assert_non_null(strstr(text.at, "CPU 75 %, allocation 20 %"));
	assert_non_null(strstr(text.at, "by arithmetic: one thread"));
	answer_agent(&plain, &page);
	assert_non_null(strstr(agent.at, "chain: step() 95 % <- [parse() 95 %]"));
	assert_non_null(strstr(agent.at, "by arithmetic: one thread"));
	jsonw_begin_object(&json);
	answer_json(&json, &page);
	jsonw_end_object(&json);
	assert_non_null(strstr(json_text.at, "\"gain_basis\": \"arithmetic\""));
	assert_non_null(strstr(json_text.at, "\"total_share\""));
	/* The place first; what it calls is below. */
	assert_true(is_in_order(
		json_text.at, (const char *const[]){"\"chain\"", "\"parse\"", "\"calls\": null",
				      "\"run\"", "\"below\"", "\"step\"", NULL}));
	answer_markdown(&report, &page);
	assert_non_null(strstr(report.at, "- Chain: `step() 95 % <- [parse() 95 %]"));
	hotspot_markdown(&table, &page);
	assert_non_null(strstr(table.at, "1. `step() 95 % <- [parse() 95 %]"));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_function_without_a_loop_means_its_caller_that_has_one),
		cmocka_unit_test(experiments_are_about_the_place_with_what_it_calls),
		cmocka_unit_test(who_makes_copies_and_destroys_values_is_the_place),
		cmocka_unit_test(
			a_function_that_has_the_loop_itself_is_the_place_and_so_it_is_when_nobody_looked),
		cmocka_unit_test(a_loop_that_does_many_things_is_not_why_one_of_them_is_slow),
		cmocka_unit_test(a_function_with_several_costs_below_it_is_the_place),
		cmocka_unit_test(main_is_not_the_place_of_what_it_calls),
		cmocka_unit_test(a_large_function_without_a_loop_is_the_place),
		cmocka_unit_test(a_tiny_function_with_a_short_loop_means_its_caller),
		cmocka_unit_test(a_chain_ends_where_the_time_is),
		cmocka_unit_test(
			a_small_function_with_few_rounds_means_its_caller_and_counts_are_shown),
		cmocka_unit_test(recursion_counts_once_and_is_a_loop),
		cmocka_unit_test(a_tail_call_does_not_split_a_chain),
		cmocka_unit_test(a_wrapper_of_the_allocator_means_its_caller),
		cmocka_unit_test(a_sort_that_calls_back_is_the_loop_of_who_called_it),
		cmocka_unit_test(an_interrupt_is_no_system_call),
		cmocka_unit_test(signals_of_the_kernel_leave_interrupts_out),
		cmocka_unit_test(a_name_is_said_without_template_arguments_and_path),
		cmocka_unit_test(the_level_is_an_opinion_and_never_sure),
		cmocka_unit_test(one_busy_thread_gains_what_the_samples_say),
		cmocka_unit_test(
			who_waits_half_of_the_time_gains_half_and_two_busy_threads_gain_nobody_knows),
		cmocka_unit_test(threads_that_do_the_same_gain_by_arithmetic_and_others_do_not),
		cmocka_unit_test(a_thread_that_is_nearly_always_busy_may_gain_all),
		cmocka_unit_test(an_experiment_is_believed_and_confirms_the_place_above_it),
		cmocka_unit_test(
			an_experiment_that_contradicts_one_busy_thread_is_said_and_makes_it_less_sure),
		cmocka_unit_test(a_level_whose_bounds_hold_nothing_is_not_the_one_that_is_shown),
		cmocka_unit_test(a_promise_by_arithmetic_is_held_against_what_the_place_got),
		cmocka_unit_test(every_form_shows_the_chain_the_kinds_and_how_the_gain_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
