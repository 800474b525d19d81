/* cpu_book_test.c - the tables of data/cpus: each node against numbers worked elsewhere, each CPU
 * has its own table or none, and a doubtful file is refused with its line. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cpu_book.h"
#include "base/io.h"
#include "base/str.h"

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static int load(void **state)
{
	struct cpu_book *book = mem_new(1, sizeof(*book));
	struct err err = {0};

	if (cpu_book_load(book, &err) < 0)
		print_error("%s\n", err.text);
	*state = book;
	return err.code;
}

static int unload(void **state)
{
	cpu_book_done(*state);
	free(*state);
	return 0;
}

static const struct cpu_table *table_named(const struct cpu_book *book, const char *name)
{
	vec_foreach (const struct cpu_table, table, &book->tables)
		if (str_equal(table->name, name))
			return table;
	fail_msg("there is no table %s", name);
	return NULL;
}

/* One case of a file of vectors while it is read. */
struct vector {
	const struct cpu_table *table;
	char title[160];
	bool has_source;
	double within; /* 0: as near as the computation is */
	double *counts, *values;
	unsigned width;
	bool computed;
	unsigned expected;
};

static void vector_done(struct vector *vector)
{
	free(vector->counts);
	free(vector->values);
	*vector = (struct vector){0};
}

static void vector_table(struct vector *vector, const struct cpu_book *book, const char *name)
{
	vector->table = table_named(book, name);
	vector->counts = mem_new(vector->table->events_count, sizeof(double));
	vector->values = mem_new(vector->table->nodes_count + 1, sizeof(double));
	for (uint32_t i = 0; i < vector->table->events_count; i++)
		vector->counts[i] = (double)NAN;
}

static void vector_count(struct vector *vector, const char *name, double value)
{
	const struct cpu_event *event = cpu_table_event(vector->table, name);

	if (!event || !vector->table) {
		fail_msg("%s: no event %s", vector->title, name);
		return;
	}
	vector->counts[event - vector->table->events] = value;
}

static void vector_near(struct vector *vector, const char *name, double is, double value)
{
	if (!(fabs(is - value) <= (vector->within > 0 ? vector->within * (1 + 1e-9) : 1e-9)))
		fail_msg("%s, %s: %s is %.12g, not %.12g", vector->table->name, vector->title, name,
			is, value);
	vector->expected++;
}

static void vector_expect(struct vector *vector, const char *name, double value)
{
	const struct cpu_node *node = cpu_table_node(vector->table, name);
	double is;

	if (!node || !vector->table) {
		fail_msg("%s: no node %s", vector->title, name);
		return;
	}
	if (!vector->computed)
		cpu_table_compute(vector->table, vector->counts, vector->width, vector->values);
	vector->computed = true;
	is = vector->values[node - vector->table->nodes];
	vector_near(vector, name, is, value);
}

/* A metric of the table, or a generic one through its aliases. */
static void vector_metric(struct vector *vector, const char *name, double value)
{
	metric_book_auto struct metric_book book = {0};
	metric_results_auto struct metric_results results = {0};
	arena_auto struct arena arena = {0};
	struct metric_input inputs[64];
	struct err err = {0};
	const struct metric *metric;
	uint32_t count = 0;

	assert_non_null(vector->table);
	if (!vector->table) /* for the analyzer, which takes assertions for calls that return */
		return;
	assert_int_equal(metric_book_load(&book, &err), 0);
	assert_int_equal(
		metric_book_add(&book, vector->table->name, vector->table->metrics, &err), 0);
	for (uint32_t i = 0; i < vector->table->events_count; i++)
		if (!isnan(vector->counts[i])) {
			assert_true(count < 64);
			inputs[count++] = (struct metric_input){
				vector->table->events[i].name, NULL, NULL, vector->counts[i], true};
		}
	metric = metric_find(&book, name, &err);
	assert_non_null(metric);
	metric_compute(&book, metric, inputs, count, &arena, &results);
	assert_int_equal(results.rows.count, 1);
	assert_true(results.rows.at[0].known);
	vector_near(vector, name, results.rows.at[0].value, value);
}

static void vector_line(struct vector *vector, const struct cpu_book *book, char *line)
{
	char *rest = line, *key = strsep(&rest, " "), *name;

	if (!rest || *key == '#')
		return;
	if (str_equal(key, "case")) {
		vector_done(vector);
		snprintf(vector->title, sizeof(vector->title), "%s", rest);
	} else if (str_equal(key, "table")) {
		vector_table(vector, book, rest);
	} else if (str_equal(key, "source")) {
		vector->has_source = true;
	} else if (str_equal(key, "within")) {
		vector->within = strtod(rest, NULL);
	} else if (str_equal(key, "width")) {
		vector->width = (unsigned)atoi(rest);
	} else if (!str_equal(key, "differs")) {
		name = strsep(&rest, " ");
		assert_non_null(rest);
		if (str_equal(key, "count"))
			vector_count(vector, name, strtod(rest, NULL));
		else if (str_equal(key, "expect"))
			vector_expect(vector, name, strtod(rest, NULL));
		else if (str_equal(key, "metric"))
			vector_metric(vector, name, strtod(rest, NULL));
		else
			fail_msg("vectors: '%s'", key);
	}
}

/* Run all cases of a file; `each` is told of every line that held. */
static void vectors_run(const struct cpu_book *book, const char *name,
	void (*each)(struct str *seen, const struct vector *vector, const char *line),
	struct str *seen)
{
	const char *source = getenv("ASSAY_SOURCE");
	str_auto struct str text = {0};
	struct vector vector = {0};
	struct err err = {0};
	char path[512], *rest, *line;

	snprintf(path, sizeof(path), "%s/tests/unit/vectors/%s", source ? source : ".", name);
	assert_int_equal(io_read(path, 1 << 20, &text, &err), 0);
	rest = text.at;
	while ((line = strsep(&rest, "\n"))) {
		unsigned before = vector.expected;

		vector_line(&vector, book, line);
		if (vector.expected > before)
			each(seen, &vector, line + strlen("expect "));
	}
	vector_done(&vector);
}

static unsigned times_in(const char *text, const char *word)
{
	unsigned times = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		times++;
	}
	return times;
}

static void node_remember(struct str *seen, const struct vector *vector, const char *name)
{
	str_addf(seen, " %s/%s ", vector->table->name, name);
}

static void every_formula_gives_the_numbers_that_were_worked_elsewhere(void **state)
{
	str_auto struct str seen = {0};

	vectors_run(*state, "cpus.txt", node_remember, &seen);
	assert_true(times_in(str_text(&seen), "/") >= 200);
	/* No node of any table is left out. */
	vec_foreach (const struct cpu_table, table, &((struct cpu_book *)*state)->tables)
		for (uint32_t i = 0; i < table->nodes_count; i++) {
			char wanted[128];

			snprintf(wanted, sizeof(wanted), " %s/%s ", table->name,
				table->nodes[i].value.name);
			if (!strstr(str_text(&seen), wanted))
				fail_msg("no vector checks%s", wanted);
		}
}

/* Each case names who published it; "Intel", "AMD", "Arm" is how a title begins. */
static void vendor_remember(struct str *seen, const struct vector *vector, const char *name)
{
	(void)name;
	assert_true(vector->has_source);
	str_addf(seen, "%.3s ", vector->table->title);
}

static void what_others_published_comes_out_of_our_tables(void **state)
{
	str_auto struct str seen = {0};

	vectors_run(*state, "published.txt", vendor_remember, &seen);
	assert_true(times_in(str_text(&seen), "Int ") >= 20);
	assert_true(times_in(str_text(&seen), "AMD ") >= 10);
	assert_true(times_in(str_text(&seen), "Arm ") >= 9);
}

static void every_table_is_complete_and_its_nodes_can_be_counted(void **state)
{
	const struct cpu_book *book = *state;

	assert_true(book->tables.count >= 21);
	vec_foreach (const struct cpu_table, table, &book->tables) {
		const struct cpu_set *one = cpu_table_set(table, "topdown");
		unsigned level1 = 0;

		assert_non_null(one);
		assert_non_null(cpu_table_set(table, "branches"));
		assert_non_null(cpu_table_set(table, "memory"));
		assert_true(*table->title && *table->source);
		for (uint32_t i = 0; i < table->nodes_count; i++)
			level1 +=
				table->nodes[i].level == 1 && table->nodes[i].basis == table->basis;
		if (table->whole)
			assert_true(level1 == 4 || level1 == 5);
	}
}

/* What the sets topdown and topdown2 (or topdown_cycles) count is enough for every node. */
static void the_sets_count_all_that_the_tree_needs(void **state)
{
	static const char *const names[] = {"topdown", "topdown2", "topdown_cycles"};

	vec_foreach (const struct cpu_table, table, &((struct cpu_book *)*state)->tables) {
		double *counts = mem_new(table->events_count, sizeof(double));

		for (uint32_t i = 0; i < table->events_count; i++)
			counts[i] = (double)NAN;
		for (unsigned s = 0; s < 3; s++) {
			const struct cpu_set *set = cpu_table_set(table, names[s]);

			for (uint32_t i = 0; set && i < set->events_count; i++)
				counts[set->events[i]] = 1;
		}
		for (uint32_t i = 0; i < table->nodes_count; i++) {
			const struct cpu_event *missing =
				cpu_node_missing(table, &table->nodes[i], counts);

			if (missing)
				fail_msg("%s: %s needs %s", table->name, table->nodes[i].value.name,
					missing->name);
		}
		free(counts);
	}
}

static void a_node_without_its_events_has_no_value_and_names_the_first(void **state)
{
	const struct cpu_table *table = table_named(*state, "skylake");
	double *counts = mem_new(table->events_count, sizeof(double));
	double *values = mem_new(table->nodes_count, sizeof(double));
	const struct cpu_node *node = cpu_table_node(table, "retiring");

	for (uint32_t i = 0; i < table->events_count; i++)
		counts[i] = 0;
	cpu_table_compute(table, counts, 0, values); /* 0 cycles: no share of them */
	assert_true(isnan(values[node - table->nodes]));
	for (uint32_t i = 0; i < table->events_count; i++)
		counts[i] = (double)NAN;
	cpu_table_compute(table, counts, 0, values);
	for (uint32_t i = 0; i < table->nodes_count; i++)
		assert_true(isnan(values[i]));
	assert_string_equal(
		cpu_node_missing(table, node, counts)->name, "UOPS_RETIRED.RETIRE_SLOTS");
	free(counts);
	free(values);
}

static const char *match_x86(const struct cpu_book *book, const char *vendor, unsigned family,
	unsigned model, const char *pmu)
{
	const struct cpu_asked asked = {vendor, family, model, 1, 0, pmu};
	const struct cpu_table *table = cpu_book_match(book, &asked);

	return table ? table->name : "none";
}

static const char *match_arm(const struct cpu_book *book, uint64_t midr)
{
	const struct cpu_asked asked = {.midr = midr, .pmu = "armv8_pmuv3_0"};
	const struct cpu_table *table = cpu_book_match(book, &asked);

	return table ? table->name : "none";
}

static void a_cpu_has_its_own_table_or_none(void **state)
{
	const struct cpu_book *book = *state;

	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x55, "cpu"), "skylake");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x6a, "cpu"), "ice_lake");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x8f, NULL), "sapphire_rapids");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xcf, ""), "sapphire_rapids");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xad, "cpu"), "granite_rapids");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xaf, "cpu"), "crestmont");
	assert_string_equal(match_x86(book, "AuthenticAMD", 23, 0x31, "cpu"), "zen2");
	assert_string_equal(match_x86(book, "AuthenticAMD", 25, 0x01, "cpu"), "zen3");
	assert_string_equal(match_x86(book, "AuthenticAMD", 25, 0x21, "cpu"), "zen3");
	assert_string_equal(match_x86(book, "AuthenticAMD", 25, 0x11, "cpu"), "zen4");
	assert_string_equal(match_x86(book, "AuthenticAMD", 25, 0x61, "cpu"), "zen4");
	assert_string_equal(match_x86(book, "AuthenticAMD", 26, 0x02, "cpu"), "zen5");
	/* Neighbours that no file names: Broadwell, Rocket Lake, Tiger Lake, Zen 1, Zen 6, a
	 * vendor that copies numbers. */
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x4f, "cpu"), "none");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xa7, "cpu"), "none");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x8c, "cpu"), "none");
	assert_string_equal(match_x86(book, "GenuineIntel", 5, 0x55, "cpu"), "none");
	assert_string_equal(match_x86(book, "AuthenticAMD", 23, 0x01, "cpu"), "none");
	assert_string_equal(match_x86(book, "AuthenticAMD", 26, 0x50, "cpu"), "none");
	assert_string_equal(match_x86(book, "HygonGenuine", 25, 0x11, "cpu"), "none");
	assert_string_equal(match_x86(book, "", 0, 0, ""), "none");
}

static void an_arm_core_is_known_by_its_midr_and_n2_by_its_revision_too(void **state)
{
	const struct cpu_book *book = *state;

	assert_string_equal(match_arm(book, 0x413fd0c1), "neoverse_n1");
	assert_string_equal(match_arm(book, 0x411fd401), "neoverse_v1");
	assert_string_equal(match_arm(book, 0x410fd490), "neoverse_n2_r0p0");
	assert_string_equal(match_arm(book, 0x410fd492), "neoverse_n2_r0p0");
	assert_string_equal(match_arm(book, 0x410fd493), "neoverse_n2");
	assert_string_equal(match_arm(book, 0x411fd490), "neoverse_n2");
	assert_string_equal(match_arm(book, 0x410fd4f0), "neoverse_v2");
	assert_string_equal(match_arm(book, 0x410fd8e0), "neoverse_n3");
	assert_string_equal(match_arm(book, 0x410fd840), "neoverse_v3");
	assert_string_equal(match_arm(book, 0x414fd0b1), "cortex_cycles");
	assert_string_equal(match_arm(book, 0x410fd034), "none"); /* Cortex-A53 */
	assert_string_equal(match_arm(book, 0xc00fac30), "none"); /* Ampere-1 */
	assert_string_equal(match_arm(book, 0), "none");
}

static void a_hybrid_has_one_table_for_each_core_type(void **state)
{
	const struct cpu_book *book = *state;

	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x97, "cpu_core"), "golden_cove");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x97, "cpu_atom"), "gracemont");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xbd, "cpu_core"), "lion_cove");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xbd, "cpu_atom"), "skymont");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xc5, "cpu_lowpower"), "crestmont");
	/* Which type "cpu" would be is not known. */
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x97, "cpu"), "none");
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0x97, NULL), "none");
	/* Alder Lake-N has E cores only. */
	assert_string_equal(match_x86(book, "GenuineIntel", 6, 0xbe, "cpu"), "gracemont");
}

static void the_codes_that_libpfm4_has_wrong_are_right_here(void **state)
{
	static const struct {
		const char *name;
		uint64_t right, wrong;
	} codes[] = {
		{"TOPDOWN.BACKEND_BOUND_SLOTS", 0x02a4, 0x0200},
		{"TOPDOWN.MEMORY_BOUND_SLOTS", 0x10a4, 0x1000},
		{"TOPDOWN.BAD_SPEC_SLOTS", 0x04a4, 0x0400},
		{"TOPDOWN.BR_MISPREDICT_SLOTS", 0x08a4, 0x0800},
	};
	const struct cpu_table *table = table_named(*state, "sapphire_rapids");

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		assert_int_equal(cpu_table_event(table, codes[i].name)->config, codes[i].right);
		for (uint32_t e = 0; e < table->events_count; e++)
			if (table->events[e].config == codes[i].wrong)
				assert_string_equal(table->events[e].name, "slots");
	}
	assert_int_equal(cpu_table_event(table_named(*state, "ice_lake"), codes[0].name)->config,
		codes[0].right);
}

static void an_event_is_found_in_any_case(void **state)
{
	const struct cpu_table *table = table_named(*state, "neoverse_v1");

	assert_ptr_equal(
		cpu_table_event(table, "STALL_SLOT"), cpu_table_event(table, "stall_slot"));
	assert_null(cpu_table_event(table, "stall_slots"));
}

#define HEAD                                                                                       \
	"cpu x\ntitle X\nfor GenuineIntel 6 0xff\nwidth 4\ncounters 2\nbasis slots\nwhole yes\n"   \
	"source s\n\n"
#define EVENTS                                                                                     \
	"event A 0x1\nevent B 0x2\nevent C 0x3\nevent S 0x4 fixed leader\nevent M 0x5 member\nevent Z 0x6 counter0\nevent Y 0x7 counter0\n\n"
#define NODE "node n\nparent -\nformula A / B\nadvice core\nmeaning m\nsource s\n\n"

static const struct {
	const char *text, *says;
} doubtful[] = {
	{"", "no event in"},
	{"event A 0x1\n", "the first block"},
	{HEAD HEAD, "t.txt:10: the first block"},
	{HEAD "event A\n", "t.txt:10: event: expected"},
	{HEAD "event A 12\n", "event: expected"},
	{HEAD "event A 0x1 often\n", "event: expected"},
	{HEAD "event A 0x1\nevent a 0x2\n", "t.txt:11: the name is already used"},
	{HEAD "event width 0x1\n", "the name is already used"},
	{HEAD EVENTS "set s\nevents {A,Q}\nmeaning m\n", "the table has no event 'Q'"},
	{HEAD EVENTS "set s\nevents {A,B,C}\nmeaning m\n", "more events than counters"},
	{HEAD EVENTS "set s\nevents {A,S}\nmeaning m\n", "the first of a group must be 'S'"},
	{HEAD EVENTS "set s\nevents {A,M}\nmeaning m\n", "needs its leader"},
	{HEAD EVENTS "set s\nevents {Z,Y}\nmeaning m\n", "counter 0"},
	{HEAD EVENTS "set s\nevents {A,B\nmeaning m\n", "not finished"},
	{HEAD EVENTS "set s\nevents A B\nmeaning m\n", "the table has no event 'A B'"},
	{HEAD EVENTS "set s\nevents {A}B\nmeaning m\n", "missing comma"},
	{HEAD EVENTS "set s\nevents A,,B\nmeaning m\n", "unexpected text"},
	{HEAD EVENTS "set s\nevents A\nmeaning m\n\nset s\nevents A\nmeaning m\n", "a second set"},
	{HEAD EVENTS "set precise\nevents A,B,C,S\nmeaning m\n", "more than three"},
	{HEAD EVENTS "value v A / Q\n", "undefined name 'Q'"},
	{HEAD EVENTS "value v\n", "value: expected"},
	{HEAD EVENTS "value v A +\n", "the formula is wrong"},
	{HEAD EVENTS NODE "value v A\n", "values must come before"},
	{HEAD EVENTS NODE NODE, "the name is already used: 'n'"},
	{HEAD EVENTS "node n\nparent p\nformula A\nadvice core\nmeaning m\nsource s\n",
		"no node above is named"},
	{HEAD EVENTS "node n\nparent -\nformula A\nadvice luck\nmeaning m\nsource s\n",
		"no advice for 'luck'"},
	{HEAD EVENTS "node n\nparent -\nformula A\nadvice core\nmeaning m\nsource s\n"
		     "investigate 15\n",
		"investigate: expected"},
	{HEAD EVENTS "node n\nparent -\nformula n\nadvice core\nmeaning m\nsource s\n",
		"undefined name 'n'"},
	{HEAD EVENTS "node n\nparent -\nadvice core\nmeaning m\nsource s\n",
		"lacks the key 'formula'"},
	{HEAD EVENTS NODE "node k\nparent n\nformula A\nbasis cycles\nadvice core\n"
			  "meaning m\nsource s\n",
		"not on the basis"},
	{HEAD EVENTS "name m\nformula A / Q\nunit u\nmeaning m\n", "unknown event: 'Q'"},
	{HEAD EVENTS "# c\nname m\nformula A / B\nunit u\n", "t.txt:19: the block lacks the key"},
	{HEAD EVENTS "alias cycles Q\n", "unknown event: 'Q'"},
	{HEAD EVENTS "advice x\n", "no block starts with"},
};

static void a_doubtful_table_is_refused_with_file_line_and_reason(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(doubtful) / sizeof(*doubtful); i++) {
		cpu_book_auto struct cpu_book book = {0};
		struct err err = {0};

		assert_int_equal(cpu_book_add(&book, "t.txt", doubtful[i].text, &err), -EINVAL);
		if (!strstr(err.text, doubtful[i].says))
			fail_msg("case %zu: \"%s\" does not say \"%s\"", i, err.text,
				doubtful[i].says);
		assert_int_equal(book.tables.count, 0);
	}
}

static void a_for_line_that_is_not_understood_or_taken_is_refused(void **state)
{
	static const char *const lines[] = {"GenuineIntel 6", "GenuineIntel six 1",
		"GenuineIntel 6 0x1f-0x10", "GenuineIntel 6 1 pmu", "GenuineIntel 6 1 r0p0-r0p1",
		"arm 0x41 0xd49 r0p0", "arm 0x41 0xd49 r0p3-r0p1", "arm 0x41 0xd49 pmu cpu",
		"arm 0x41 0xd49 r0-r1", "GenuineIntel 6 1 a b c d e f g"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		cpu_book_auto struct cpu_book book = {0};
		arena_auto struct arena arena = {0};
		struct err err = {0};
		char *text = arena_format(&arena,
			"cpu x\ntitle X\nfor %s\nwidth 4\ncounters 2\nbasis slots\nwhole yes\n"
			"source s\n\nevent A 0x1\n",
			lines[i]);

		assert_int_equal(cpu_book_add(&book, "t.txt", text, &err), -EINVAL);
		assert_non_null(strstr(err.text, "t.txt:3: for: expected"));
	}
}

static void two_tables_for_one_cpu_are_refused(void **state)
{
	cpu_book_auto struct cpu_book book = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(cpu_book_add(&book, "a.txt", HEAD EVENTS NODE, &err), 0);
	assert_int_equal(cpu_book_add(&book, "b.txt",
				 "cpu y\ntitle X\nfor GenuineIntel 6 0xf0-0xff pmu cpu\nwidth 4\n"
				 "counters 2\nbasis slots\nwhole yes\nsource s\n\nevent A 0x1\n",
				 &err),
		-EINVAL);
	assert_non_null(strstr(err.text, "b.txt:3: another table also covers this CPU"));
	assert_int_equal(book.tables.count, 1);
}

static void the_metrics_of_a_table_become_rows_of_its_core_type_only(void **state)
{
	static const struct metric_input inputs[] = {
		{"INST_RETIRED.ANY", "cpu_core", NULL, 1000, true},
		{"LONGEST_LAT_CACHE.MISS", "cpu_core", NULL, 5, true},
		{"INST_RETIRED.ANY", "cpu_atom", NULL, 2000, true},
		{"LONGEST_LAT_CACHE.MISS", "cpu_atom", NULL, 4, true},
		{"CPU_CLK_UNHALTED.CORE", "cpu_atom", NULL, 4000, true},
	};
	metric_book_auto struct metric_book book = {0};
	metric_results_auto struct metric_results results = {0};
	arena_auto struct arena arena = {0};
	struct err err = {0};
	unsigned core = 0, atom = 0, ipc = 0;

	assert_int_equal(metric_book_load(&book, &err), 0);
	assert_int_equal(metric_book_add_core(&book, "cpu_core", "golden_cove",
				 table_named(*state, "golden_cove")->metrics, &err),
		0);
	assert_int_equal(metric_book_add_core(&book, "cpu_atom", "gracemont",
				 table_named(*state, "gracemont")->metrics, &err),
		0);
	metric_compute_all(&book, inputs, 5, &arena, &results);
	vec_foreach (const struct metric_result, row, &results.rows) {
		if (str_equal(row->metric->name, "ipc") && row->known) {
			assert_string_equal(row->core, "cpu_atom");
			assert_near(row->value, 0.5, 1e-12);
			ipc++;
		}
		if (!str_equal(row->metric->name, "llc_miss_mpki"))
			continue;
		core += str_equal(row->core, "cpu_core") && fabs(row->value - 5) < 1e-9;
		atom += str_equal(row->core, "cpu_atom") && fabs(row->value - 2) < 1e-9;
	}
	assert_int_equal(core, 1);
	assert_int_equal(atom, 1);
	assert_int_equal(ipc, 1);
}

static void the_metrics_of_a_table_are_made_of_names_in_any_case(void **state)
{
	static const struct metric_input inputs[] = {
		{"inst_retired.any:u", "", NULL, 1000, true},
		{"Mem_Load_Retired.L2_Miss:u", "", NULL, 5, true},
	};
	metric_book_auto struct metric_book book = {0};
	metric_results_auto struct metric_results results = {0};
	arena_auto struct arena arena = {0};
	struct err err = {0};

	assert_int_equal(
		metric_book_add(&book, "skylake", table_named(*state, "skylake")->metrics, &err),
		0);
	metric_compute(
		&book, metric_find(&book, "l2_load_miss_mpki", &err), inputs, 2, &arena, &results);
	assert_int_equal(results.rows.count, 1);
	assert_near(results.rows.at[0].value, 5, 1e-12);
	assert_string_equal(results.rows.at[0].modifiers, "u");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_formula_gives_the_numbers_that_were_worked_elsewhere),
		cmocka_unit_test(what_others_published_comes_out_of_our_tables),
		cmocka_unit_test(every_table_is_complete_and_its_nodes_can_be_counted),
		cmocka_unit_test(the_sets_count_all_that_the_tree_needs),
		cmocka_unit_test(a_node_without_its_events_has_no_value_and_names_the_first),
		cmocka_unit_test(a_cpu_has_its_own_table_or_none),
		cmocka_unit_test(an_arm_core_is_known_by_its_midr_and_n2_by_its_revision_too),
		cmocka_unit_test(a_hybrid_has_one_table_for_each_core_type),
		cmocka_unit_test(the_codes_that_libpfm4_has_wrong_are_right_here),
		cmocka_unit_test(an_event_is_found_in_any_case),
		cmocka_unit_test(a_doubtful_table_is_refused_with_file_line_and_reason),
		cmocka_unit_test(a_for_line_that_is_not_understood_or_taken_is_refused),
		cmocka_unit_test(two_tables_for_one_cpu_are_refused),
		cmocka_unit_test(the_metrics_of_a_table_become_rows_of_its_core_type_only),
		cmocka_unit_test(the_metrics_of_a_table_are_made_of_names_in_any_case),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
