/* answer_reach_test.c - how far a fix may reach: the bounds of the gain when all work is gone. */
#include "answer_scene.h"

static const struct hotspot *row_of(const struct scene *s, const char *function)
{
	for (uint32_t i = 0; i < s->view.hotspot_count; i++)
		if (str_equal(s->view.hotspots[i].function, function))
			return &s->view.hotspots[i];
	fail_msg("no row of %s()", function);
	return NULL;
}

/* A list of references: each is looked up in it, and added at its end. */
static void places_of_one_file_may_work_on_the_same_data(void **state)
{
	struct scene s = scene_of(HEAD "53 main:1;parse@in:5;lookup@refs:7\n"
				       "40 main:2;read@in:9;add@refs:8\n7 main:3;print:4\n",
		"lookup:7 add:8 print:4");
	struct scene whole = scene_of(HEAD "53 main:1;parse@in:5;lookup:7\n"
					   "40 main:2;read@in:9;add:8\n7 main:3;print:4\n",
		"lookup:7 add:8 print:4");

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	assert_string_equal(scene_first(&s)->function, "lookup");
	assert_near(s.view.gain_all, 0.53, 1e-9);
	assert_true(s.view.gain_all_hi > 0.93 && s.view.gain_all_lo > 0.4);
	assert_string_equal(s.view.gain_all_note,
		"the upper bound counts add() too, which may work on the same data");
	assert_true(row_of(&s, "print")->gain_all_hi < 0.3);
	assert_null(row_of(&s, "print")->gain_all_note);
	scene_signal(&whole, "cpus_used", 1.0); /* the file of main() has everything in it */
	assert_string_equal(scene_first(&whole)->function, "lookup");
	assert_true(whole.view.gain_all_hi < 0.75);
	assert_null(whole.view.gain_all_note);
	scene_done(&s);
	scene_done(&whole);
}

/* A file is hashed again and again: with the call all of it goes, not only the rounds. */
static void what_is_called_again_and_again_may_not_be_called_at_all(void **state)
{
	struct scene s = scene_of(HEAD "62 main:1;run:2;digest:4;rounds:10\n"
				       "35 main:1;run:2;digest:5;prepare:3\n3 main:1;run:6\n",
		"rounds:10 prepare:3 run:2");
	struct algorithm_function counted[] = {
		{"digest", 1000, NULL, 0, NULL, 0, 0.9, 0.95},
	};
	const struct algorithm_view view = {.functions = counted, .function_count = 1};

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	s.evidence.algorithm = &view;
	assert_string_equal(scene_first(&s)->function, "rounds");
	assert_near(s.view.gain_all, 0.62, 1e-9);
	assert_true(s.view.gain_all_hi > 0.95);
	counted[0].calls = 999;
	scene_first(&s);
	assert_true(s.view.gain_all_hi < 0.8);
	scene_done(&s);
}

/* Freed pieces are joined by the next malloc(), whoever calls it. */
static void what_malloc_tidies_up_goes_with_who_took_it(void **state)
{
	struct scene s =
		scene_of(HEAD "50 main:1;grow:2;malloc@/usr/lib/libc.so.6:5\n20 main:3;walk:4\n"
			      "30 main:2;show:7;malloc@/usr/lib/libc.so.6:5;"
			      "malloc_consolidate@/usr/lib/libc.so.6:6\n",
			"grow:2 walk:4 show:7");

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_true(row_of(&s, "grow")->gain_all_hi > 0.8);
	assert_true(row_of(&s, "walk")->gain_all_hi < 0.3);
	assert_true(row_of(&s, "show")->gain_all_hi < 0.45);
	scene_done(&s);
}

/* Half of the place's time is clearing memory: without that the rest stays. */
static void a_fix_may_remove_what_the_reason_names_and_no_more(void **state)
{
	str_auto struct str text = {0};
	struct scene s;

	(void)state;
	str_add(&text, HEAD);
	for (unsigned i = 0; i < 20; i++)
		str_add(&text, "2 main:1;fill:7;memset@/usr/lib/libc.so.6:5\n2 main:1;fill:8\n"
			       "1 main:2;other:3\n");
	s = scene_of(text.at, "fill:7 fill:8 other:3");
	scene_signal(&s, "cpus_used", 1.0);
	assert_string_equal(scene_first(&s)->function, "fill");
	assert_non_null(s.view.first->pattern);
	assert_string_equal(s.view.first->pattern->name, "memset_again");
	assert_near(s.view.gain_all, 0.8, 1e-9);
	assert_true(s.view.gain_all_lo > 0.3 && s.view.gain_all_lo < 0.4);
	assert_string_equal(
		s.view.gain_all_note, "the lower bound counts only what the reason names");
	assert_true(s.view.gain_lo > 0.3); /* half as fast is about the place */
	scene_done(&s);
}

static void what_goes_along_with_a_place_without_callers_is_not_known(void **state)
{
	struct scene s = scene_of(
		HEAD "flags broken\n36 clock@[vdso]:3\nflags\n64 main:1;walk:4\n", "walk:4");

	(void)state;
	scene_signal(&s, "cpus_used", 1.0);
	scene_first(&s);
	assert_near(row_of(&s, "clock")->gain_all_hi, 1, 1e-9);
	assert_true(row_of(&s, "clock")->gain_all_lo > 0.25);
	assert_string_equal(row_of(&s, "clock")->gain_all_note,
		"the upper bound is open, because its callers were not seen");
	assert_string_equal(row_of(&s, "clock")->library, "[vdso]");
	assert_true(row_of(&s, "walk")->gain_all_hi < 0.8);
	scene_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_of_one_file_may_work_on_the_same_data),
		cmocka_unit_test(what_is_called_again_and_again_may_not_be_called_at_all),
		cmocka_unit_test(what_malloc_tidies_up_goes_with_who_took_it),
		cmocka_unit_test(a_fix_may_remove_what_the_reason_names_and_no_more),
		cmocka_unit_test(what_goes_along_with_a_place_without_callers_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
