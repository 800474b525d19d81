/* algorithm_test.c - calls and loops: found in what callgrind wrote, and said in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "analyze/algorithm.h"
#include "analyze/answer.h"
#include "analyze/growth.h"
#include "base/str.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "profile_text.h"
#include "source/cachegrind.h"

#define HEAD "# callgrind format\ncmd: ./w\npositions: instr line\nevents: Ir\n\nob=(1) /tmp/w\n"

/* find() of 5,000 trips per call, called 2,000 times from line 32: a loop with its test at the end
 * (0x12 to 0x16), that ends in its middle (0x14). */
#define SEARCH                                                                                     \
	HEAD "fl=(1) /src/w.c\nfn=(1) main\n0x100 30 1\ncfn=(2) find\ncalls=2000 0x10 18\n"        \
	     "0x104 32 30000000\nfn=(2)\n0x10 18 2000\n+2 +1 10000000\n+2 * 10000000\n"            \
	     "jcnd=2000/10000000 0x20 20\n* *\n+2 -1 9998000\njcnd=9998000/9998000 -4 +1\n* *\n"   \
	     "0x20 20 2000\n"

static struct run *calls_run(const char *text, uint32_t flags)
{
	struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	event_list_auto struct event_list list = {0};
	struct cachegrind_sums sums = {0};
	struct err err = {0};

	assert_int_equal(
		cachegrind_events_parse(&list, "instructions,calls,loop-entries,loop-trips", &err),
		0);
	assert_true(cachegrind_events_need_calls(&list));
	assert_false(cachegrind_events_need_caches(&list));
	assert_int_equal(cachegrind_emit_events(&list, &sink), 0);
	assert_int_equal(cachegrind_read(&sums, &list, text, strlen(text), &sink), 0);
	assert_int_equal(cachegrind_emit_counts(&sums, &list, 1, &sink), 0);
	assert_int_equal(sums.malformed, 0);
	run_add_execution(run, &(struct execution_row){.flags = EXECUTION_NO_USAGE | flags});
	run_freeze(run);
	return run;
}

/* The view of a run, and a function of it. */
static const struct algorithm_function *found(const struct run *run, const char *function,
	struct arena *arena, struct algorithm_view *ret_view)
{
	const struct algorithm_function *f;

	assert_true(algorithm_view_make(run, NULL, arena, ret_view));
	f = algorithm_find(ret_view, function);
	assert_non_null(f);
	return f;
}

static void calls_stand_at_the_line_that_calls_and_loops_at_their_first(void **state)
{
	run_auto struct run *run = calls_run(SEARCH, 0);
	arena_auto struct arena arena = {0};
	struct algorithm_view view;
	const struct algorithm_function *f = found(run, "find", &arena, &view);

	(void)state;
	assert_int_equal(f->calls, 2000);
	assert_int_equal(f->site_count, 1);
	assert_int_equal(f->sites[0].line, 32);
	assert_int_equal(f->loop_count, 1);
	assert_int_equal(f->loops[0].entries, 2000);
	assert_int_equal(f->loops[0].trips, 10000000);
	assert_int_equal(f->loops[0].line, 19);
	assert_int_equal(algorithm_calls(&view, "find", "w.c", 32), 2000);
	assert_int_equal(algorithm_calls(&view, "find", "w.c", 33), 0);
	assert_string_equal(algorithm_words(&view, "find", "/src/w.c", 19, &arena),
		"the loop at w.c:19 makes 5,000 trips per call, called 2,000 times from w.c:32");
	assert_string_equal(algorithm_words(&view, "main", "/src/w.c", 30, &arena), "");
}

/* The body (0x30) is jumped over at first, and a part of it stands behind the end (0x50): by
 * addresses alone these would be two loops, one of them entered each time. */
static void a_loop_is_one_loop_wherever_its_parts_stand(void **state)
{
	run_auto struct run *run = calls_run(HEAD
		"fl=(1) /src/w.c\nfn=(1) scan\n0x20 10 4\njump=4 0x40 12\n* *\n0x30 11 4000\n"
		"jcnd=1000/4000 0x50 14\n* *\n0x36 11 3000\n0x40 12 4004\n"
		"jcnd=4000/4004 0x30 11\n* *\n0x44 13 4\n0x50 14 1000\njump=1000 0x40 12\n* "
		"*\n",
		0);
	arena_auto struct arena arena = {0};
	struct algorithm_view view;
	const struct algorithm_function *f = found(run, "scan", &arena, &view);

	(void)state;
	assert_int_equal(f->loop_count, 1);
	assert_int_equal(f->loops[0].entries, 4);
	assert_int_equal(f->loops[0].trips, 4004); /* its test, which is its head */
}

static void nested_loops_are_told_apart(void **state)
{
	run_auto struct run *run = calls_run(HEAD
		"fl=(1) /src/w.c\nfn=(1) both\n0x20 10 1\n0x30 11 100\n0x40 12 5000\n"
		"0x44 12 5000\njcnd=4900/5000 0x40 12\n* *\n0x50 13 100\n"
		"jcnd=99/100 0x30 11\n* *\n0x60 14 1\n",
		0);
	arena_auto struct arena arena = {0};
	struct algorithm_view view;
	const struct algorithm_function *f = found(run, "both", &arena, &view);

	(void)state;
	assert_int_equal(f->loop_count, 2);
	assert_int_equal(f->loops[0].line, 12);
	assert_int_equal(f->loops[0].entries, 100);
	assert_int_equal(f->loops[0].trips, 5000);
	assert_int_equal(f->loops[1].entries, 1);
	assert_int_equal(f->loops[1].trips, 100);
	assert_string_equal(algorithm_words(&view, "both", "/src/w.c", 12, &arena),
		"the loop at w.c:12 makes 50 trips each of the 100 times it is entered");
}

/* Code of a loop that jumps back once in each call: its entries were not seen. */
static void a_loop_of_one_trip_per_call_is_no_reason(void **state)
{
	struct algorithm_loop loop = {"/src/w.c", 19, 1, 67211};
	const struct algorithm_site site = {"/src/w.c", 32, 67212};
	const struct algorithm_function function = {"find", 67212, &site, 1, &loop, 1, 1, 1};
	const struct algorithm_view view = {.functions = &function, .function_count = 1};
	arena_auto struct arena arena = {0};

	(void)state;
	assert_string_equal(algorithm_words(&view, "find", "/src/w.c", 19, &arena),
		"called 67,212 times from w.c:32");
	loop.entries = 2; /* the jump back is that of the caller's loop, of two threads */
	assert_string_equal(algorithm_words(&view, "find", "/src/w.c", 19, &arena),
		"called 67,212 times from w.c:32");
	loop.entries = 1;
	loop.trips = 6721200;
	assert_string_equal(algorithm_words(&view, "find", "/src/w.c", 19, &arena),
		"the loop at w.c:19 makes 100 trips per call, called 67,212 times from w.c:32");
}

static void code_that_was_inlined_is_found_by_its_line(void **state)
{
	run_auto struct run *run = calls_run(SEARCH, 0);
	arena_auto struct arena arena = {0};
	struct algorithm_view view;

	(void)state;
	assert_true(algorithm_view_make(run, NULL, &arena, &view));
	assert_non_null(strstr(algorithm_words(&view, "inlined", "/src/w.c", 20, &arena),
		"the loop at w.c:19 makes 5,000 trips each of the 2,000 times"));
	assert_string_equal(algorithm_words(&view, "inlined", "/src/other.c", 20, &arena), "");
	assert_string_equal(algorithm_words(&view, "inlined", "/src/w.c", 200, &arena), "");
}

/* Cut after its start: most of the time is in what it hardly came to. */
static void a_simulation_that_was_cut_before_it_came_there_says_nothing(void **state)
{
	static const char profile[] = "event cpu-clock ns\nperiod 1000000\n"
				      "execution 1000000000 1000000000\n"
				      "900 main@prog;later@prog\n100 main@prog;find@prog\n";
	run_auto struct run *run =
		calls_run(SEARCH "fn=(3) later\n0x70 50 900\njcnd=800/900 0x60 49\n"
				 "* *\n0x60 49 900\n",
			EXECUTION_TIMED_OUT);
	run_auto struct run *clock = profile_text_run(profile);
	arena_auto struct arena arena = {0};
	struct algorithm_view view;

	(void)state;
	run_freeze(clock);
	assert_true(algorithm_view_make(run, clock, &arena, &view));
	assert_true(view.partial && view.is_start_only);
	assert_null(algorithm_find(&view, "later"));
	assert_non_null(strstr(algorithm_words(&view, "find", "/src/w.c", 19, &arena),
		"called 2,000 times from w.c:32 in the simulated part of the run"));
}

static void counts_are_written_as_people_do(void **state)
{
	arena_auto struct arena arena = {0};

	(void)state;
	assert_string_equal(algorithm_count_words(7, &arena), "7");
	assert_string_equal(algorithm_count_words(7.5, &arena), "7.5");
	assert_string_equal(algorithm_count_words(999.6, &arena), "1,000");
	assert_string_equal(algorithm_count_words(1234567, &arena), "1,234,567");
	assert_string_equal(algorithm_count_words(41e6, &arena), "41.0 million");
	assert_string_equal(algorithm_count_words(123456789, &arena), "123 million");
	assert_string_equal(algorithm_count_words(2.5e9, &arena), "2.5 billion");
}

/* ---- growth ---- */

static void a_power_is_fitted_to_the_logarithms(void **state)
{
	static const double sizes[] = {1, 0.5, 0.25}, square[] = {16, 4, 1}, line[] = {4, 2, 1};
	static const double sure[] = {0.05, 0.05, 0.05}, vague[] = {0.05, 0.8, 0.8};
	arena_auto struct arena arena = {0};
	struct growth_law law = growth_fit(sizes, square, sure, 3);

	(void)state;
	assert_true(fabs(law.power - 2) < 1e-9 && law.error < 0.15);
	assert_true(growth_is_superlinear(&law));
	assert_string_equal(growth_law_words(&law, &arena), "n^2");
	law = growth_fit(sizes, line, sure, 3);
	assert_true(fabs(law.power - 1) < 1e-9);
	assert_false(growth_is_superlinear(&law));
	assert_string_equal(growth_law_words(&law, &arena), "n");
	law = growth_fit(sizes, square, vague, 3); /* few samples of the smaller ones */
	assert_false(growth_is_superlinear(&law));
	assert_string_equal(growth_law_words(&law, &arena), "");
	law = growth_fit(sizes, square, sure, 1);
	assert_true(isnan(law.power));
	assert_string_equal(growth_law_words(&(struct growth_law){1.5, 0.1}, &arena), "n^1.5");
	assert_string_equal(growth_law_words(&(struct growth_law){0.1, 0.1}, &arena), "");
}

static void sized(struct evidence *evidence, enum evidence_kind kind, struct run *run, double size)
{
	run_freeze(run);
	evidence->piece[kind].run = run;
	evidence->sizes[kind] = size;
}

/* work() takes 1600, 400 and 100 ms, read() 400, 200 and 100 ms. */
static void functions_have_laws_of_their_own(void **state)
{
	static const char *const texts[] = {
		"event cpu-clock ns\nperiod 1000000\nexecution 2000000000 2000000000\n"
		"1600 main;loop;work\n400 main;read\n",
		"event cpu-clock ns\nperiod 1000000\nexecution 600000000 600000000\n"
		"400 main;loop;work\n200 main;read\n",
		"event cpu-clock ns\nperiod 500000\nexecution 200000000 200000000\n"
		"200 main;loop;work\n200 main;read\n"};
	struct run *runs[3];
	arena_auto struct arena arena = {0};
	struct evidence evidence = {0};
	struct growth_view view;

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		runs[i] = profile_text_run(texts[i]);
	sized(&evidence, EVIDENCE_PROFILE, runs[0], 0);
	assert_false(growth_view_make(&evidence, &arena, &view));
	sized(&evidence, EVIDENCE_SMALLER, runs[1], 0.5);
	sized(&evidence, EVIDENCE_SMALLEST, runs[2], 0.25);
	assert_true(growth_view_make(&evidence, &arena, &view));
	assert_int_equal(view.size_count, 3);
	assert_true(fabs(growth_find(&view, "work")->own.power - 2) < 0.01);
	assert_true(fabs(growth_find(&view, "read")->own.power - 1) < 0.01);
	assert_true(isnan(growth_find(&view, "loop")->own.power)); /* no time of its own */
	assert_true(fabs(growth_find(&view, "loop")->total.power - 2) < 0.01);
	assert_true(view.whole.power > 1.5 && view.whole.power < 1.8);
	assert_null(growth_find(&view, "other"));
	evidence.sizes[EVIDENCE_SMALLER] = -1; /* how much smaller is not known */
	evidence.sizes[EVIDENCE_SMALLEST] = 0.97;
	assert_false(growth_view_make(&evidence, &arena, &view));
	for (unsigned i = 0; i < 3; i++)
		run_close(runs[i]);
}

/* ---- the answer ---- */

struct scene {
	struct arena arena;
	struct evidence evidence;
	struct signals signals;
	struct ledger_view ledger;
	struct answer_view view;
	struct run *calls, *clock;
};

static void scene_answer(struct scene *s, uint32_t flags)
{
	s->calls = calls_run(SEARCH, flags);
	s->clock = profile_text_run("event cpu-clock ns\nperiod 1000000\n"
				    "execution 1000000000 1000000000\n1000 main@w:32;find@w:19\n");
	run_freeze(s->clock);
	for (unsigned i = 0; i < EVIDENCE_KINDS; i++)
		s->evidence.piece[i] = (struct evidence_piece){.path = "", .reason = "", .fix = ""};
	s->evidence.piece[EVIDENCE_PROFILE].run = s->clock;
	s->evidence.piece[EVIDENCE_CALLS].run = s->calls;
	evidence_view_algorithm(&s->evidence, &s->arena);
	answer_make(&s->evidence, &s->signals, &s->ledger, &s->arena, &s->view);
	assert_non_null(s->view.first);
}

static double entries_of(const struct scene *s, const char *function)
{
	for (uint32_t i = 0; i < s->view.first->chain_count; i++)
		if (strcmp(s->view.first->chain[i].function, function) == 0)
			return s->view.first->chain[i].entries;
	return (double)NAN;
}

static void scene_done(struct scene *s)
{
	run_close(s->calls);
	run_close(s->clock);
	arena_done(&s->arena);
}

static void the_why_counts_and_so_does_the_chain(void **state)
{
	struct scene s = {0};

	(void)state;
	scene_answer(&s, 0);
	assert_non_null(strstr(s.view.why, "5,000 trips per call, called 2,000 times from w.c:32"));
	assert_true(entries_of(&s, "find") == 2000);
	assert_true(isnan(entries_of(&s, "main"))); /* nobody calls it */
	scene_done(&s);
}

/* Counts of a part are said as such, and are no numbers of the whole. */
static void a_part_of_the_run_gives_no_entries_to_the_chain(void **state)
{
	struct scene s = {0};

	(void)state;
	scene_answer(&s, EXECUTION_TIMED_OUT);
	assert_non_null(strstr(s.view.why, "in the simulated part of the run"));
	assert_true(isnan(entries_of(&s, "find")));
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_stand_at_the_line_that_calls_and_loops_at_their_first),
		cmocka_unit_test(a_loop_is_one_loop_wherever_its_parts_stand),
		cmocka_unit_test(nested_loops_are_told_apart),
		cmocka_unit_test(a_loop_of_one_trip_per_call_is_no_reason),
		cmocka_unit_test(code_that_was_inlined_is_found_by_its_line),
		cmocka_unit_test(a_simulation_that_was_cut_before_it_came_there_says_nothing),
		cmocka_unit_test(counts_are_written_as_people_do),
		cmocka_unit_test(a_power_is_fitted_to_the_logarithms),
		cmocka_unit_test(functions_have_laws_of_their_own),
		cmocka_unit_test(the_why_counts_and_so_does_the_chain),
		cmocka_unit_test(a_part_of_the_run_gives_no_entries_to_the_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
