/* simulated_test.c - what a simulator counts, and the tools beside it: read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analyze/simulated.h"
#include "drive/mca.h"
#include "drive/simulate_caches.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "source/cachegrind.h"

static const char cachegrind_text[] =
	"desc: I1 cache: 32768 B, 64 B, 8-way associative\ncmd: ./w\n"
	"events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim\n"
	"fl=/src/w.c\nfn=main\n10 100 1 1 20 2 1 10 3 1 5 1 2 1\n12 50 0 0 0 0 0 0 0 0 0 0 0 0\n"
	"fn=_ZN1a1bEi\n20 7 0 0 0 0 0 0 0 0 0 0 0 0\n"
	"summary: 157 1 1 20 2 1 10 3 1 5 1 2 1\n";

/* ---- reading ---- */

static void a_text_becomes_counts_and_places_under_the_names_of_events(void **state)
{
	struct run *run = run_open();
	struct ingest ingest = {.run = run};
	struct wire_sink sink = ingest_sink(&ingest);
	event_list_auto struct event_list list = {0};
	struct cachegrind_sums sums = {0};
	arena_auto struct arena arena = {0};
	struct simulated_counts counts;
	struct err err = {0};

	(void)state;
	cachegrind_events_all(&list);
	assert_int_equal(list.specs.count, CACHEGRIND_COLUMNS);
	assert_int_equal(cachegrind_emit_events(&list, &sink), 0);
	for (unsigned process = 0; process < 2; process++)
		assert_int_equal(cachegrind_read(&sums, &list, cachegrind_text,
					 strlen(cachegrind_text), &sink),
			0);
	assert_int_equal(cachegrind_emit_counts(&sums, &list, 1, &sink), 0);
	assert_int_equal(sums.texts, 2);
	assert_int_equal(ingest.malformed, 0);
	run_freeze(run);
	assert_int_equal(simulated_take(run, SIMULATED_BY_FUNCTION, &arena, &counts, &err), 0);
	assert_int_equal(counts.totals[SIMULATED_INSTRUCTIONS], 2 * 157);
	assert_int_equal(counts.totals[SIMULATED_INDIRECT_MISSES], 2);
	assert_int_equal(counts.row_count, 2);
	assert_string_equal(counts.rows[0].function, "main");
	assert_string_equal(counts.rows[0].file, "/src/w.c");
	assert_int_equal(counts.rows[0].counts[SIMULATED_INSTRUCTIONS], 300);
	assert_string_equal(counts.rows[1].function, "a::b(int)"); /* demangled like samples */
	assert_int_equal(simulated_take(run, SIMULATED_BY_LINE, &arena, &counts, &err), 0);
	assert_int_equal(counts.row_count, 3);
	assert_int_equal(counts.rows[1].line, 12);
	assert_int_equal(simulated_l1_misses(&counts.rows[0]), 2 * (2 + 3));
	assert_int_equal(simulated_ll_misses(&counts.rows[0]), 2 * (1 + 1));
	assert_int_equal(simulated_mispredicts(&counts.rows[0]), 2 * (1 + 1));
	run_close(run);
}

static void sums_of_columns_have_the_names_that_perf_uses(void **state)
{
	(void)state;
	assert_int_equal(cachegrind_columns_of("instructions"), 1);
	assert_int_equal(cachegrind_columns_of("instructions:u"), 1);
	assert_int_equal(cachegrind_columns_of("instructions:k"), 0);
	assert_int_equal(cachegrind_columns_of("branch-misses"), 1 << 10 | 1 << 12);
	assert_int_equal(cachegrind_columns_of("cache-misses"), 1 << 2 | 1 << 5 | 1 << 8);
	assert_int_equal(cachegrind_columns_of("cycles"), 0);
	for (unsigned i = 0; i < CACHEGRIND_COLUMNS; i++)
		assert_int_equal(cachegrind_columns_of(cachegrind_name(i)), 1u << i);
}

static void what_cannot_be_simulated_keeps_its_place_with_a_reason(void **state)
{
	event_list_auto struct event_list list = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(cachegrind_events_parse(&list,
				 "instructions,{branches,cycles}:u,page-faults,instructions", &err),
		0);
	assert_int_equal(list.specs.count, 4);
	assert_string_equal(list.specs.at[1].name, "branches:u");
	assert_int_equal(list.specs.at[1].status, WIRE_EVENT_COUNTED);
	assert_int_equal(list.specs.at[2].status, WIRE_EVENT_NOT_SUPPORTED);
	assert_non_null(strstr(list.specs.at[2].reason, "not time"));
	assert_int_equal(list.specs.at[3].status, WIRE_EVENT_NOT_SUPPORTED);
	assert_true(cachegrind_events_need_caches(&list));
	assert_int_equal(cachegrind_events_parse(&list, "no-such-event", &err), -EINVAL);
	assert_int_equal(cachegrind_events_parse(&(struct event_list){0}, ",", &err), -EINVAL);
}

static void a_text_without_cost_is_refused(void **state)
{
	event_list_auto struct event_list list = {0};
	struct cachegrind_sums sums = {0};
	const char *empty = "events: Ir\nfn=main\n";

	(void)state;
	cachegrind_events_all(&list);
	assert_int_equal(cachegrind_read(&sums, &list, "hello\n", 6, NULL), -EINVAL);
	assert_int_equal(cachegrind_read(&sums, &list, empty, strlen(empty), NULL), -EINVAL);
	assert_int_equal(sums.texts, 0);
}

/* ---- the caches ---- */

static void caches_are_what_the_machine_has_and_cachegrind_takes(void **state)
{
	struct cache_sizes sizes = {
		.l1i = {32 << 10, 8, 64},
		.l1d = {48 << 10, 12, 64},
		.l2 = {2 << 20, 16, 64},
		.l3 = {UINT64_C(36) << 20, 12, 64}, /* 49,152 sets */
	};
	struct simulate_caches caches;
	arena_auto struct arena arena = {0};

	(void)state;
	simulate_caches_choose(&sizes, false, &caches);
	assert_string_equal(simulate_cache_text(&caches.d1, &arena), "49152,12,64");
	assert_string_equal(simulate_cache_text(&caches.ll, &arena), "37748736,18,64");
	assert_string_equal(caches.which_ll, "L3");
	assert_true(caches.rounded);
	assert_int_equal(caches.left_out_bytes, 2 << 20);
	for (unsigned without_l3 = 0; without_l3 < 2; without_l3++) {
		simulate_caches_choose(&sizes, !without_l3, &caches);
		assert_string_equal(caches.which_ll, "L2");
		assert_string_equal(simulate_cache_text(&caches.ll, &arena), "2097152,16,64");
		assert_int_equal(caches.left_out_bytes, 0);
		assert_false(caches.rounded);
		sizes.l3 = (struct cache_size){0};
	}
	simulate_caches_choose(&(struct cache_sizes){0}, true, &caches);
	assert_true(caches.assumed);
	assert_int_equal(caches.ll.size_bytes, 8 << 20);
}

static void any_size_becomes_sets_that_are_a_power_of_two(void **state)
{
	(void)state;
	for (uint64_t size = 1; size < UINT64_C(1) << 34; size = size * 3 / 2 + 77) {
		struct cache_sizes sizes = {
			.l1d = {size, (uint32_t)(size % 33), 64}, .l2 = {size, 0, 0}};
		struct simulate_caches caches;
		uint64_t sets;

		simulate_caches_choose(&sizes, false, &caches);
		sets = caches.d1.size_bytes / caches.d1.ways / caches.d1.line_bytes;
		assert_true(sets && (sets & (sets - 1)) == 0);
		assert_true(caches.d1.size_bytes <= size || size < 64);
		assert_int_equal(
			sets * caches.d1.ways * caches.d1.line_bytes, caches.d1.size_bytes);
	}
}

/* ---- the loop ---- */

static void the_answer_of_llvm_mca_is_read(void **state)
{
	static const char answer[] =
		"{\"CodeRegions\":[{\"SummaryView\":{\"BlockRThroughput\":0.5,\"IPC\":0.66,"
		"\"Iterations\":100,\"TotalCycles\":603}}],"
		"\"TargetInfo\":{\"CPUName\":\"znver3\",\"Resources\":[\"Zn3LSU.\\u0000\"]}}";
	static const char *const wrong[] = {"", "{", "[]", "{\"CodeRegions\":[]}",
		"{\"CodeRegions\":[{\"SummaryView\":{\"Iterations\":0,\"TotalCycles\":5}}]}"};
	struct mca_result result;

	(void)state;
	assert_int_equal(mca_parse(answer, strlen(answer), &result), 0);
	assert_true(fabs(result.cycles - 6.03) < 1e-9);
	assert_true(result.waits);
	assert_string_equal(result.cpu, "znver3");
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(mca_parse(wrong[i], strlen(wrong[i]), &result), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_becomes_counts_and_places_under_the_names_of_events),
		cmocka_unit_test(sums_of_columns_have_the_names_that_perf_uses),
		cmocka_unit_test(what_cannot_be_simulated_keeps_its_place_with_a_reason),
		cmocka_unit_test(a_text_without_cost_is_refused),
		cmocka_unit_test(caches_are_what_the_machine_has_and_cachegrind_takes),
		cmocka_unit_test(any_size_becomes_sets_that_are_a_power_of_two),
		cmocka_unit_test(the_answer_of_llvm_mca_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
