/* metric_test.c - the compiled-in metrics are sound, and a result is computed from inputs that
 * belong together or is missing with the reason. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/metric.h"
#include "analyze/stat.h"
#include "model/run.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static int load(void **state)
{
	struct metric_book *book = mem_new(1, sizeof(*book));
	struct err err = {0};

	if (metric_book_load(book, &err) < 0)
		print_error("%s\n", err.text);
	*state = book;
	return err.code;
}

static int unload(void **state)
{
	metric_book_done(*state);
	free(*state);
	return 0;
}

#define KNOWN(n, v)                                                                                \
	{                                                                                          \
		.name = (n), .value = (v), .known = true                                           \
	}
#define MISSING(n, r)                                                                              \
	{                                                                                          \
		.name = (n), .reason = (r)                                                         \
	}
#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* The only row of one metric. */
static struct metric_result one(void **state, struct arena *arena, const char *name,
	const struct metric_input *inputs, size_t count)
{
	struct err err = {0};
	const struct metric *metric = metric_find(*state, name, &err);
	metric_results_auto struct metric_results results = {0};

	assert_non_null(metric);
	metric_compute(*state, metric, inputs, (uint32_t)count, arena, &results);
	assert_int_equal(results.rows.count, 1);
	return results.rows.at[0];
}

static void every_metric_compiled_in_parses_and_has_a_unit_and_a_meaning(void **state)
{
	const struct metric_book *book = *state;

	assert_true(book->metrics.count >= 20);
	vec_foreach (const struct metric, metric, &book->metrics) {
		assert_true(metric->formulas_count >= 1);
		assert_true(*metric->unit && *metric->meaning);
		assert_int_equal(strcspn(metric->name, "-:/, \t"), strlen(metric->name));
		for (unsigned f = 0; f < metric->formulas_count; f++)
			assert_true(metric->formulas[f].names_count >= 1);
		if (strcmp(metric->unit, "share") == 0)
			assert_true(metric->low >= 0 && metric->high <= 1);
	}
}

/* With 3, 5, 7... for every name there is, each formula must give a finite number or say why. */
static void every_formula_compiled_in_can_be_evaluated(void **state)
{
	const struct metric_book *book = *state;

	vec_foreach (const struct metric, metric, &book->metrics)
		for (unsigned f = 0; f < metric->formulas_count; f++) {
			double values[FORMULA_STEPS], value = (double)NAN;

			for (unsigned i = 0; i < FORMULA_STEPS; i++)
				values[i] = 3 + 2 * i;
			assert_int_equal(formula_value(&metric->formulas[f], values, &value), 0);
			assert_true(isfinite(value));
		}
}

static bool events_hold(const char *events, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = events; (at = strstr(at, name)); at++)
		if ((at == events || strchr(",{", at[-1])) && strchr(",}", at[len]))
			return true;
	return false;
}

static bool name_is_execution(const char *name)
{
	return strchr(name, '_') && !strchr(name, '-');
}

static bool set_feeds(const struct event_set *set, const struct formula *formula)
{
	for (uint32_t i = 0; i < formula->names_count; i++)
		if (!name_is_execution(formula->names[i]) &&
			!events_hold(set->events, formula->names[i]))
			return false;
	return true;
}

static void every_set_counts_what_its_metrics_need(void **state)
{
	const struct metric_book *book = *state;

	assert_true(book->sets.count >= 5);
	vec_foreach (const struct event_set, set, &book->sets) {
		arena_auto struct arena arena = {0};
		char *names = arena_text(&arena, set->metrics, strlen(set->metrics)), *rest = NULL;

		for (char *name = strtok_r(names, " ", &rest); name;
			name = strtok_r(NULL, " ", &rest)) {
			struct err err = {0};
			const struct metric *metric = metric_find(book, name, &err);

			assert_non_null(metric);
			assert_true(set_feeds(set, &metric->formulas[0]));
		}
	}
}

static void an_unknown_name_is_refused_with_the_nearest_one(void **state)
{
	struct err err = {0};

	assert_null(metric_find(*state, "branch_mis_rate", &err));
	assert_string_equal(err.text, "unknown metric 'branch_mis_rate'");
	assert_string_equal(err.hint, "did you mean 'branch_miss_rate'?");
	assert_null(event_set_find(*state, "memroy", &err));
	assert_string_equal(err.hint, "did you mean 'memory'?");
	assert_null(event_set_find(*state, "zzzzzzzz", &err));
	assert_ptr_equal(strstr(err.hint, "there is "), err.hint); /* and all their names */
	assert_non_null(strstr(err.hint, "default"));
	assert_non_null(strstr(err.hint, "hierarchy"));
	assert_non_null(event_set_find(*state, "default", &err));
}

static void a_list_of_names_that_is_too_long_ends_with_a_whole_one(void **state)
{
	static const char end[] = "... (docs/metrics.md lists all)";
	metric_book_auto struct metric_book book = {0};
	str_auto struct str text = {0};
	struct err err = {0};
	size_t len;

	(void)state;
	for (unsigned i = 100; i < 200; i++)
		str_addf(&text, "name name_%u\nformula a\nunit u\nmeaning m\n\n", i);
	assert_int_equal(metric_book_add(&book, "t", str_text(&text), &err), 0);
	assert_null(metric_find(&book, "zzzzzzzz", &err));
	len = strlen(err.hint);
	assert_true(len > sizeof(end) + strlen(", name_100"));
	assert_string_equal(err.hint + len - (sizeof(end) - 1), end);
	len -= sizeof(end) - 1 + strlen(", name_100");
	assert_int_equal(strncmp(err.hint + len, ", name_1", strlen(", name_1")), 0);
}

static void hand_computed_values_come_out(void **state)
{
	const struct metric_input inputs[] = {
		KNOWN("cycles", 4e9),
		KNOWN("instructions", 6e9),
		KNOWN("branches", 1e9),
		KNOWN("branch-misses", 2e7),
		KNOWN("task-clock", 2e9),
		KNOWN("cpu-migrations", 30),
		KNOWN("page-faults", 400000),
		KNOWN("context-switches", 3000),
		KNOWN("wall_ns", 1e9),
		KNOWN("cpu_ns", 2e9),
		KNOWN("user_ns", 1.5e9),
		KNOWN("system_ns", 0.5e9),
		KNOWN("max_rss_bytes", 1048576),
		KNOWN("minor_faults", 300000),
		KNOWN("major_faults", 100),
		KNOWN("voluntary_switches", 1500),
		KNOWN("involuntary_switches", 500),
	};
	static const struct {
		const char *name;
		double value;
		enum metric_assessment assessment;
	} expected[] = {
		{"ipc", 1.5, METRIC_WATCH}, /* healthy is above 1.5, not at it */
		{"cpi", 4.0 / 6, METRIC_NONE},
		{"ghz", 2, METRIC_NONE},
		{"branch_miss_rate", 0.02, METRIC_WATCH},
		{"branch_mpki", 20.0 / 6, METRIC_WATCH},
		{"cpus_utilised", 2, METRIC_NONE},
		{"kernel_share", 0.25, METRIC_WATCH},
		{"switches_per_cpu_second", 1000, METRIC_WATCH},
		{"involuntary_switch_share", 0.25, METRIC_NONE},
		{"migrations_per_cpu_second", 15, METRIC_WATCH},
		{"faults_per_cpu_second", 150050, METRIC_INVESTIGATE},
		{"major_fault_share", 100.0 / 300100, METRIC_HEALTHY},
		{"peak_rss", 1048576, METRIC_NONE},
	};
	arena_auto struct arena arena = {0};
	metric_results_auto struct metric_results results = {0};

	metric_compute_all(*state, inputs, COUNT(inputs), &arena, &results);
	assert_int_equal(results.rows.count, COUNT(expected));
	for (size_t i = 0; i < COUNT(expected); i++) {
		struct metric_result row =
			one(state, &arena, expected[i].name, inputs, COUNT(inputs));

		assert_true(row.known);
		assert_near(row.value, expected[i].value, 1e-9 * expected[i].value);
		assert_int_equal(row.assessment, expected[i].assessment);
	}
}

static void a_metric_with_an_input_never_asked_for_is_not_shown(void **state)
{
	const struct metric_input inputs[] = {KNOWN("cycles", 1e9)};
	arena_auto struct arena arena = {0};
	metric_results_auto struct metric_results results = {0};

	metric_compute_all(*state, inputs, COUNT(inputs), &arena, &results);
	assert_int_equal(results.rows.count, 0);
}

static void a_missing_input_makes_the_metric_missing_with_its_reason(void **state)
{
	const struct metric_input inputs[] = {
		KNOWN("cycles", 1e9), MISSING("instructions", "not supported here")};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "ipc", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_true(isnan(row.value));
	assert_string_equal(row.reason, "instructions: not supported here");
	assert_int_equal(row.assessment, METRIC_NONE);
}

static void a_zero_denominator_is_no_value(void **state)
{
	const struct metric_input inputs[] = {KNOWN("cycles", 0), KNOWN("instructions", 5)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "ipc", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_string_equal(row.reason, "its denominator is 0");
}

static void a_share_above_one_is_no_value(void **state)
{
	const struct metric_input inputs[] = {KNOWN("branches", 10), KNOWN("branch-misses", 15)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "branch_miss_rate", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_non_null(strstr(row.reason, "1.5, outside 1e-07 to 1"));
}

static void a_counter_that_never_counts_gives_no_share(void **state)
{
	const struct metric_input inputs[] = {
		KNOWN("cycles", 1e9), KNOWN("stalled-cycles-backend", 0)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "backend_stall_share", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_int_equal(row.assessment, METRIC_NONE);
}

static void modifiers_are_ignored_when_all_inputs_share_them(void **state)
{
	const struct metric_input inputs[] = {KNOWN("cycles:ppu", 10), KNOWN("instructions:u", 20)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "ipc", inputs, COUNT(inputs));

	assert_true(row.known);
	assert_near(row.value, 2, 0);
	assert_string_equal(row.modifiers, "u");
}

static void modes_are_never_mixed(void **state)
{
	const struct metric_input inputs[] = {KNOWN("cycles:u", 10), KNOWN("instructions", 20)};
	const struct metric_input clock[] = {KNOWN("cycles:u", 10), KNOWN("task-clock:u", 20)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "ipc", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_string_equal(
		row.reason, "instructions and cycles:u count different modes and cannot be mixed");
	row = one(state, &arena, "ghz", clock, COUNT(clock));
	assert_false(row.known);
	assert_string_equal(
		row.reason, "cycles:u and task-clock:u count different modes and cannot be mixed");
}

static void each_mode_that_is_complete_gets_its_own_row(void **state)
{
	const struct metric_input inputs[] = {KNOWN("cycles", 40), KNOWN("instructions", 20),
		KNOWN("cycles:u", 10), KNOWN("instructions:u", 20), KNOWN("cycles:k", 3)};
	arena_auto struct arena arena = {0};
	metric_results_auto struct metric_results results = {0};
	struct err err = {0};

	metric_compute(
		*state, metric_find(*state, "ipc", &err), inputs, COUNT(inputs), &arena, &results);
	assert_int_equal(results.rows.count, 2);
	assert_near(results.rows.at[0].value, 0.5, 0);
	assert_string_equal(results.rows.at[0].modifiers, "");
	assert_near(results.rows.at[1].value, 2, 0);
	assert_string_equal(results.rows.at[1].modifiers, "u");
}

static void each_core_type_gets_its_own_row(void **state)
{
	const struct metric_input inputs[] = {
		{"cpu_core/cycles/", "cpu_core", NULL, 10, true},
		{"cpu_core/instructions/", "cpu_core", NULL, 40, true},
		{"cycles", "cpu_atom", NULL, 10, true},
		{"instructions", "cpu_atom", "never ran", 0, false},
		KNOWN("task-clock", 5),
	};
	arena_auto struct arena arena = {0};
	metric_results_auto struct metric_results results = {0};
	struct metric_result row = one(state, &arena, "ghz", inputs, COUNT(inputs));
	struct err err = {0};

	assert_false(row.known);
	assert_non_null(strstr(row.reason, "count different cores"));
	metric_compute(
		*state, metric_find(*state, "ipc", &err), inputs, COUNT(inputs), &arena, &results);
	assert_int_equal(results.rows.count, 2);
	assert_string_equal(results.rows.at[0].core, "cpu_core");
	assert_near(results.rows.at[0].value, 4, 0);
	assert_string_equal(results.rows.at[1].core, "cpu_atom");
	assert_false(results.rows.at[1].known);
	assert_string_equal(results.rows.at[1].reason, "instructions: never ran");
}

static void an_alias_stands_in_and_the_first_formula_with_a_value_wins(void **state)
{
	const struct metric_input rusage[] = {KNOWN("voluntary_switches", 10),
		KNOWN("involuntary_switches", 10), KNOWN("cpu_ns", 1e9),
		KNOWN("context-switches:u", 0)};
	const struct metric_input events[] = {MISSING("voluntary_switches", "not our child"),
		MISSING("involuntary_switches", "not our child"),
		MISSING("cpu_ns", "not our child"), KNOWN("cs", 50), KNOWN("task-clock", 2e9)};
	const struct metric_input nothing[] = {MISSING("voluntary_switches", "not our child"),
		MISSING("involuntary_switches", "not our child"), KNOWN("cpu_ns", 5)};
	arena_auto struct arena arena = {0};
	struct metric_result row =
		one(state, &arena, "switches_per_cpu_second", rusage, COUNT(rusage));

	assert_near(row.value, 20, 1e-9);
	row = one(state, &arena, "switches_per_cpu_second", events, COUNT(events));
	assert_near(row.value, 25, 1e-9);
	row = one(state, &arena, "switches_per_cpu_second", nothing, COUNT(nothing));
	assert_false(row.known);
	assert_string_equal(row.reason, "voluntary_switches: not our child");
}

static void a_run_too_short_for_a_rate_is_not_judged(void **state)
{
	struct metric_input inputs[] = {
		KNOWN("minor_faults", 50), KNOWN("major_faults", 0), KNOWN("cpu_ns", 4e5)};
	arena_auto struct arena arena = {0};
	struct metric_result row =
		one(state, &arena, "faults_per_cpu_second", inputs, COUNT(inputs));

	assert_near(row.value, 125000, 1e-6);
	assert_int_equal(row.assessment, METRIC_NONE);
	inputs[0].value = 50e6;
	inputs[2].value = 4e11;
	row = one(state, &arena, "faults_per_cpu_second", inputs, COUNT(inputs));
	assert_int_equal(row.assessment, METRIC_INVESTIGATE);
}

static void a_run_too_short_for_the_tick_has_no_kernel_share(void **state)
{
	/* What the kernel says of 1.7 ms that were half in the kernel: all or nothing. */
	struct metric_input inputs[] = {KNOWN("user_ns", 0), KNOWN("system_ns", 1.7e6)};
	arena_auto struct arena arena = {0};
	struct metric_result row = one(state, &arena, "kernel_share", inputs, COUNT(inputs));

	assert_false(row.known);
	assert_non_null(strstr(row.reason, "tick"));
	assert_non_null(strstr(row.reason, "measure a longer run"));
	inputs[0].value = 0;
	inputs[1].value = 0;
	row = one(state, &arena, "kernel_share", inputs, COUNT(inputs));
	assert_non_null(strstr(row.reason, "tick"));
	inputs[0].value = 45e6;
	inputs[1].value = 15e6;
	row = one(state, &arena, "kernel_share", inputs, COUNT(inputs));
	assert_true(row.known);
	assert_near(row.value, 0.25, 1e-9);
}

static void the_events_of_a_metric_are_one_group(void **state)
{
	str_auto struct str events = {0};
	struct err err = {0};

	metric_events(metric_find(*state, "ipc", &err), &events);
	assert_string_equal(str_text(&events), "{instructions,cycles}");
	str_clear(&events);
	metric_events(metric_find(*state, "migrations_per_cpu_second", &err), &events);
	assert_string_equal(str_text(&events), "cpu-migrations");
	str_clear(&events);
	metric_events(metric_find(*state, "peak_rss", &err), &events);
	assert_string_equal(str_text(&events), "");
}

static void a_malformed_text_is_refused_with_its_line(void **state)
{
	static const struct {
		const char *text, *sentence;
	} cases[] = {
		{"color red\n", "t:1: no block starts with 'color'"},
		{"name x\nformula a\nunit u\n", "t:1: the block lacks the key 'meaning'"},
		{"name x\nformula a\nunit u\nmeaning m\nunit v\n", "t:5: a second key 'unit'"},
		{"name x\nformula a\nunit u\nmeaning m\nhue v\n", "t:5: unknown key 'hue'"},
		{"name x\nformula a/b\nunit u\nmeaning m\n",
			"formula 'a/b': a slash without spaces around it ends at character 4"},
		{"name x\nformula a\nunit u\nmeaning m\nhealthy > 1\n",
			"t:1: only one of healthy and investigate is given in 'x'"},
		{"name x\nformula a\nunit u\nmeaning m\nhealthy > 1\ninvestigate < 2\n",
			"t:1: the thresholds overlap in 'x'"},
		{"name x\nformula a\nunit u\nmeaning m\nhealthy 1\ninvestigate < 2\n",
			"t:1: expected a threshold like \"> NUMBER\", not '1'"},
		{"name x\nformula a\nunit u\nmeaning m\nwhen cpu_ns\n",
			"t:5: when: expected \"FORMULA > NUMBER\", not 'cpu_ns'"},
		{"name x\nformula a\nunit u\nmeaning m\nneeds cpu_ns: too short\n",
			"t:5: needs: expected \"FORMULA > NUMBER\", not 'cpu_ns'"},
		{"name x\nformula a\nunit u\nmeaning m\nneeds cpu_ns > 1\n",
			"t:5: needs: expected \"CONDITION: REASON\", not 'cpu_ns > 1'"},
		{"name x\nformula a\nunit u\nmeaning m\nrange 1 0\n",
			"t:5: range: expected \"LOW HIGH\", not '1 0'"},
		{"name\n", "t:1: missing value for the key 'name'"},
		{"alias a\n", "t:1: alias: expected \"NAME OTHER\", not 'a'"},
		{"name x\nformula a\nunit u\nmeaning m\n\n# c\nname x\nformula a\nunit u\nmeaning m",
			"t:7: a second metric 'x'"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		metric_book_auto struct metric_book book = {0};
		struct err err = {0};

		assert_int_equal(metric_book_add(&book, "t", cases[i].text, &err), -EINVAL);
		assert_string_equal(err.text, cases[i].sentence);
	}
}

static void people_read_the_thresholds_of_a_share_in_percent_and_programs_as_fractions(void **state)
{
	static const char text[] = "name a\nformula x\nunit share\nmeaning m\n"
				   "healthy < 0.002\ninvestigate > 0.07\n\n"
				   "name b\nformula x\nunit per second\nmeaning m\n"
				   "healthy < 0.002\ninvestigate > 0.07\n";
	metric_book_auto struct metric_book book = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(metric_book_add(&book, "t", text, &err), 0);
	for (unsigned i = 0; i < 2; i++)
		assert_string_equal(
			book.metrics.at[i].threshold, "healthy < 0.002, investigate > 0.07");
	assert_string_equal(
		book.metrics.at[0].threshold_words, "healthy < 0.2 %, investigate > 7 %");
	assert_string_equal(book.metrics.at[1].threshold_words, book.metrics.at[1].threshold);
}

static void interval_add(struct run *run, uint64_t at_ns)
{
	for (row_id event = 1; event <= run->events.count; event++)
		run_add_count(run, &(struct count_row){.event = event,
					   .execution = 1,
					   .at_ns = at_ns,
					   .value = at_ns + event});
}

static void an_interval_is_looked_at_once_and_costs_as_much_as_the_first(void **state)
{
	enum { INTERVALS = 1000, EVENTS = 3 };
	run_auto struct run *run = run_open();
	uint32_t seen = 0;
	size_t bytes = 0;

	(void)state;
	for (int i = 0; i < EVENTS; i++)
		run_add_event(run,
			&(struct event_row){.name = run_intern(run, "page-faults"), .scale = 1});
	for (uint64_t at = 1; at <= INTERVALS; at++) {
		arena_auto struct arena arena = {0};
		struct stat_view view;

		interval_add(run, at);
		stat_view_more(run, &seen, &arena, &view);
		assert_int_equal(view.interval_count, 1);
		assert_int_equal(view.intervals[0].at_ns, at);
		assert_near(view.intervals[0].values[2], (double)at + 3, 0);
		bytes = at == 1 ? arena.used : bytes;
		assert_int_equal(arena.used, bytes);
		stat_view_more(run, &seen, &arena, &view);
		assert_int_equal(view.interval_count, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_compiled_in_parses_and_has_a_unit_and_a_meaning),
		cmocka_unit_test(every_formula_compiled_in_can_be_evaluated),
		cmocka_unit_test(every_set_counts_what_its_metrics_need),
		cmocka_unit_test(an_unknown_name_is_refused_with_the_nearest_one),
		cmocka_unit_test(a_list_of_names_that_is_too_long_ends_with_a_whole_one),
		cmocka_unit_test(hand_computed_values_come_out),
		cmocka_unit_test(a_metric_with_an_input_never_asked_for_is_not_shown),
		cmocka_unit_test(a_missing_input_makes_the_metric_missing_with_its_reason),
		cmocka_unit_test(a_zero_denominator_is_no_value),
		cmocka_unit_test(a_share_above_one_is_no_value),
		cmocka_unit_test(a_counter_that_never_counts_gives_no_share),
		cmocka_unit_test(modifiers_are_ignored_when_all_inputs_share_them),
		cmocka_unit_test(modes_are_never_mixed),
		cmocka_unit_test(each_mode_that_is_complete_gets_its_own_row),
		cmocka_unit_test(each_core_type_gets_its_own_row),
		cmocka_unit_test(an_alias_stands_in_and_the_first_formula_with_a_value_wins),
		cmocka_unit_test(a_run_too_short_for_a_rate_is_not_judged),
		cmocka_unit_test(a_run_too_short_for_the_tick_has_no_kernel_share),
		cmocka_unit_test(the_events_of_a_metric_are_one_group),
		cmocka_unit_test(a_malformed_text_is_refused_with_its_line),
		cmocka_unit_test(
			people_read_the_thresholds_of_a_share_in_percent_and_programs_as_fractions),
		cmocka_unit_test(an_interval_is_looked_at_once_and_costs_as_much_as_the_first),
	};

	return cmocka_run_group_tests_name("metric", tests, load, unload);
}
