/* cache_test.c - the levels of the memory hierarchy and the places that miss, on hand-made runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cache.h"
#include "model/run.h"

/* Bits of perf_mem_data_src. */
#define LOAD UINT64_C(2)
#define STORE UINT64_C(4)
#define LVL(bits) ((uint64_t)(bits) << 5)
#define HIT 2
#define SNOOP_HITM (UINT64_C(0x10) << 19)
#define TLB(bits) ((uint64_t)(bits) << 26)
#define NUMBER(level) ((uint64_t)(level) << 33)
#define REMOTE (UINT64_C(1) << 37)

struct world {
	struct run *run;
	struct metric_book book;
	struct arena arena;
	struct site_summary summary;
	struct cache_view view;
};

static void world_look(struct world *world, bool by_function)
{
	struct err err = {0};

	assert_int_equal(metric_book_load(&world->book, &err), 0);
	site_summary_make(world->run, &world->book, cache_metrics, &world->arena, &world->summary);
	cache_make(world->run, &world->summary, &(struct cache_options){.by_function = by_function},
		&world->view);
	cache_judge(&world->view, &world->arena, &world->summary);
}

static void world_done(struct world *world)
{
	cache_done(&world->view);
	metric_book_done(&world->book);
	arena_done(&world->arena);
	run_close(world->run);
}
#define world_auto __attribute__((cleanup(world_done)))

static row_id event_add(struct run *run, const char *name, uint32_t flags)
{
	return run_add_event(run,
		&(struct event_row){.name = run_intern(run, name), .flags = flags, .scale = 1});
}

static void event_count(struct run *run, const char *name, uint64_t value, uint32_t flags)
{
	run_add_count(run, &(struct count_row){event_add(run, name, flags), 1, 0, value, 100, 100});
}

static void event_missing(struct run *run, const char *name, const char *reason)
{
	run_add_event(run, &(struct event_row){.name = run_intern(run, name),
				   .reason = run_intern(run, reason),
				   .status = EVENT_NOT_SUPPORTED,
				   .scale = 1});
}

static void the_levels_are_counted_each_with_its_own_rate(void **state)
{
	world_auto struct world w = {.run = run_open()};
	const struct cache_level_row *level = w.view.levels;

	(void)state;
	run_add_execution(w.run, &(struct execution_row){.wall_ns = 1000});
	run_add_field(
		w.run, &(struct field_row){run_intern(w.run, "cpu"), run_intern(w.run, "cache_l1d"),
			       run_intern(w.run, "32K 8-way, 64-byte lines"), FIELD_VALUE});
	event_count(w.run, "instructions", 1000000, 0);
	event_count(w.run, "L1-dcache-loads", 400000, 0);
	event_count(w.run, "L1-dcache-load-misses", 60000, 0);
	event_count(w.run, "LLC-loads", 50000, 0);
	event_count(w.run, "LLC-load-misses", 30000, 0);
	event_missing(w.run, "dTLB-loads", "this CPU has no such event");
	event_missing(w.run, "dTLB-load-misses", "this CPU has no such event");
	world_look(&w, false);
	assert_true(fabs(level[CACHE_L1D].rate - 0.15) < 1e-12);
	assert_true(fabs(level[CACHE_L1D].mpki - 60) < 1e-9);
	assert_int_equal(level[CACHE_L1D].size_bytes, 32768);
	assert_int_equal(level[CACHE_L1D].assessment, METRIC_INVESTIGATE);
	assert_true(fabs(level[CACHE_LLC].misses - 30000) < 1e-9);
	assert_true(fabs(level[CACHE_LLC].rate - 0.6) < 1e-12);
	assert_non_null(level[CACHE_LLC].judge);
	assert_int_equal(w.summary.verdict.category, VERDICT_MEMORY);
	/* What was not counted has no number, and a reason. */
	assert_true(isnan(level[CACHE_DTLB].misses) && isnan(level[CACHE_DTLB].rate));
	assert_string_equal(level[CACHE_DTLB].misses_reason, "this CPU has no such event");
	assert_true(isnan(level[CACHE_ITLB].misses));
	assert_true(*level[CACHE_ITLB].misses_reason != '\0');
	assert_true(isnan(level[CACHE_L2].accesses));
	assert_int_equal(level[CACHE_L2].assessment, METRIC_NONE);
	assert_int_equal(w.view.witness, CACHE_UNSEEN);
	assert_true(*w.view.sites_reason != '\0');
}

static void more_misses_than_accesses_are_no_rate(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	run_add_execution(w.run, &(struct execution_row){.wall_ns = 1000});
	event_count(w.run, "iTLB-loads", 100, 0);
	event_count(w.run, "iTLB-load-misses", 300, 0);
	world_look(&w, false);
	assert_true(isnan(w.view.levels[CACHE_ITLB].rate));
	assert_non_null(strstr(w.view.levels[CACHE_ITLB].rate_reason, "different things"));
	assert_true(fabs(w.view.levels[CACHE_ITLB].misses - 300) < 1e-9);
	assert_true(isnan(w.view.levels[CACHE_ITLB].mpki));
	assert_true(*w.view.levels[CACHE_ITLB].mpki_reason != '\0');
}

static void a_counter_that_reads_zero_is_no_rate(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	run_add_execution(w.run, &(struct execution_row){.wall_ns = 1000});
	event_count(w.run, "instructions", 1000000, 0);
	event_count(w.run, "L1-dcache-loads", 400000, 0);
	event_count(w.run, "L1-dcache-load-misses", 0, 0);
	world_look(&w, false);
	assert_true(isnan(w.view.levels[CACHE_L1D].rate) && isnan(w.view.levels[CACHE_L1D].mpki));
	assert_non_null(strstr(w.view.levels[CACHE_L1D].rate_reason, "does not work"));
	assert_int_equal(w.view.levels[CACHE_L1D].assessment, METRIC_NONE);
}

static void the_source_of_an_access_is_read_from_its_bits(void **state)
{
	(void)state;
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x8)), ACCESS_L1);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x10)), ACCESS_LFB);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x20)), ACCESS_L2);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x40)), ACCESS_L3);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x80)), ACCESS_RAM);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x100)), ACCESS_REMOTE_RAM);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x400)), ACCESS_REMOTE_CACHE);
	assert_int_equal(access_level_of(LOAD | LVL(HIT | 0x1000)), ACCESS_OTHER);
	/* Newer CPUs give only the number. */
	assert_int_equal(access_level_of(LOAD | NUMBER(3)), ACCESS_L3);
	assert_int_equal(access_level_of(LOAD | NUMBER(0xd)), ACCESS_RAM);
	assert_int_equal(access_level_of(LOAD | NUMBER(0xd) | REMOTE), ACCESS_REMOTE_RAM);
	assert_int_equal(access_level_of(LOAD | NUMBER(0xf)), ACCESS_UNKNOWN);
	assert_int_equal(access_level_of(0), ACCESS_UNKNOWN);
	assert_true(access_is_store(STORE) && !access_is_store(LOAD));
	assert_true(access_is_shared(LOAD | SNOOP_HITM) && !access_is_shared(LOAD));
	assert_true(access_missed_tlb(TLB(0x4 | 0x10)));
	assert_false(access_missed_tlb(TLB(0x2 | 0x8 | 0x10)));
}

static void access_put(struct run *run, unsigned line, uint64_t weight, uint64_t source)
{
	char name[8] = {'f', (char)('0' + line), 0};
	row_id function = run_add_function(
		run, &(struct function_row){.name = run_intern(run, name), .module = 1});
	row_id frame = run_add_frame(
		run, &(struct frame_row){function, 0, run_intern(run, "prog.c"), line});
	row_id location = run_add_location(
		run, &(struct location_row){1, 0x1000 + run->locations.count, frame, 0});
	row_id stack = run_add_stack(run, &(struct stack_row){0, location});
	row_id sample =
		run_add_sample(run, &(struct sample_row){.period = 1, .event = 1, .stack = stack});

	run_add_access(run, &(struct access_row){sample, 0x10, weight, source});
}

static void sampled_accesses_are_ranked_by_their_latency(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	event_add(w.run, "mem-loads", 0);
	run_add_module(w.run, &(struct module_row){run_intern(w.run, "/bin/prog"), 0, 0});
	for (unsigned i = 0; i < 5; i++)
		access_put(w.run, 1, 20, LOAD | LVL(HIT | 0x20));
	access_put(w.run, 2, 300, LOAD | LVL(HIT | 0x80));
	access_put(w.run, 2, 500, STORE | LVL(HIT | 0x80) | TLB(0x4 | 0x10) | SNOOP_HITM);
	world_look(&w, false);
	assert_int_equal(w.view.witness, CACHE_ACCESSES);
	assert_string_equal(w.view.event, "mem-loads");
	assert_int_equal(w.view.sites.count, 2);
	assert_string_equal(w.view.sites.at[0].place.function, "f2");
	assert_true(fabs(w.view.sites.at[0].share - 800.0 / 900) < 1e-12);
	assert_true(fabs(w.view.sites.at[0].latency_mean - 400) < 1e-9);
	assert_int_equal(w.view.sites.at[0].tally.levels[ACCESS_RAM], 2);
	assert_int_equal(w.view.sites.at[0].tally.tlb_misses, 1);
	assert_int_equal(w.view.sites.at[0].tally.stores, 1);
	assert_int_equal(w.view.sites.at[0].tally.shared, 1);
	assert_int_equal(w.view.all.samples, 7);
	assert_int_equal(w.view.all.levels[ACCESS_L2], 5);
	/* Sampled accesses alone are no verdict. */
	assert_int_equal(w.summary.verdict.category, VERDICT_UNCLEAR);
	assert_non_null(strstr(w.summary.verdict.why, "7 sampled accesses"));
}

static void a_sample_of_misses_stands_for_its_period(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	event_add(w.run, "cache-misses:pp", 0);
	run_add_sample(w.run, &(struct sample_row){.period = 70, .event = 1});
	run_add_sample(w.run, &(struct sample_row){.period = 30, .event = 1});
	world_look(&w, false);
	assert_int_equal(w.view.witness, CACHE_SAMPLED);
	assert_true(w.view.precise);
	assert_int_equal(w.view.all.misses, 100);
	assert_int_equal(w.view.all.samples, 2);
}

static void branch_misses_are_no_cache_misses(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	event_add(w.run, "branch-misses", 0);
	run_add_sample(w.run, &(struct sample_row){.period = 70, .event = 1});
	world_look(&w, false);
	assert_int_equal(w.view.witness, CACHE_UNSEEN);
}

static void simulated(struct run *run, const char *name, uint64_t in_seven, uint64_t in_nine)
{
	row_id event = event_add(run, name, EVENT_SIMULATED);
	text_id file = run_intern(run, "prog.c"), function = run_intern(run, "walk");

	run_add_count(run, &(struct count_row){event, 1, 0, in_seven + in_nine, 0, 0});
	run_add_place(run, &(struct place_row){event, function, file, 7, in_seven});
	run_add_place(run, &(struct place_row){event, function, file, 9, in_nine});
}

static void simulated_run(struct run *run)
{
	run_add_execution(run, &(struct execution_row){.wall_ns = 1000});
	simulated(run, "instructions", 60000, 40000);
	simulated(run, "L1-icache-load-misses", 10, 0);
	simulated(run, "LLC-code-misses", 10, 0);
	simulated(run, "L1-dcache-loads", 20000, 10000);
	simulated(run, "L1-dcache-load-misses", 9000, 10);
	simulated(run, "LLC-load-misses", 8000, 0);
	simulated(run, "L1-dcache-stores", 0, 1000);
	simulated(run, "L1-dcache-store-misses", 0, 90);
	simulated(run, "LLC-store-misses", 0, 5);
}

static void a_simulator_has_two_data_levels_and_says_so(void **state)
{
	world_auto struct world w = {.run = run_open()};
	const struct cache_level_row *level = w.view.levels;

	(void)state;
	simulated_run(w.run);
	world_look(&w, false);
	assert_string_equal(w.summary.engine, "sim");
	assert_true(w.summary.simulated);
	assert_true(fabs(level[CACHE_L1D].accesses - 31000) < 1e-9);
	assert_true(fabs(level[CACHE_L1D].misses - 9100) < 1e-9);
	assert_true(fabs(level[CACHE_LLC].accesses - 9110) < 1e-9);
	assert_true(fabs(level[CACHE_LLC].misses - 8015) < 1e-9);
	assert_true(fabs(level[CACHE_L1I].accesses - 100000) < 1e-9);
	assert_true(isnan(level[CACHE_L2].misses));
	assert_string_equal(level[CACHE_L2].misses_reason, "the simulator has no such level");
	assert_true(isnan(level[CACHE_DTLB].misses));
	assert_int_equal(w.view.witness, CACHE_SIMULATED);
	assert_int_equal(w.view.sites.count, 2);
	assert_int_equal(w.view.sites.at[0].place.line, 7);
	assert_int_equal(w.view.sites.at[0].tally.ll_misses, 8000);
	assert_int_equal(w.view.sites.at[1].tally.l1_misses, 100);
	assert_int_equal(w.summary.verdict.category, VERDICT_MEMORY);
	assert_int_equal(w.summary.verdict.confidence, VERDICT_LOW);
}

static void lines_of_one_function_are_one_site_when_asked(void **state)
{
	world_auto struct world w = {.run = run_open()};

	(void)state;
	simulated_run(w.run);
	world_look(&w, true);
	assert_int_equal(w.view.sites.count, 1);
	assert_int_equal(w.view.sites.at[0].place.line, 0);
	assert_int_equal(w.view.sites.at[0].tally.ll_misses, 8005);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_levels_are_counted_each_with_its_own_rate),
		cmocka_unit_test(more_misses_than_accesses_are_no_rate),
		cmocka_unit_test(a_counter_that_reads_zero_is_no_rate),
		cmocka_unit_test(the_source_of_an_access_is_read_from_its_bits),
		cmocka_unit_test(sampled_accesses_are_ranked_by_their_latency),
		cmocka_unit_test(a_sample_of_misses_stands_for_its_period),
		cmocka_unit_test(branch_misses_are_no_cache_misses),
		cmocka_unit_test(a_simulator_has_two_data_levels_and_says_so),
		cmocka_unit_test(lines_of_one_function_are_one_site_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
