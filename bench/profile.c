/* profile.c - `build/bench/profile`: CPU time of the views of one large run, without reading it.
 * 1e6 samples of 1e5 stacks; rows are drawn at random, so that no cache helps. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "analyze/call_tree.h"
#include "analyze/profile.h"
#include "model/run.h"

enum { FUNCTIONS = 5000, LOCATIONS = 30000, STACKS = 500000, SAMPLES = 1000000, SAMPLED = 100000 };

static uint32_t draw(uint32_t below) /* the same run every time */
{
	static uint64_t state = 1;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((state >> 33) % below);
}

static void code_make(struct run *run, row_id module)
{
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "f%u", i);
		run_add_function(run,
			&(struct function_row){.name = run_intern(run, name), .module = module});
	}
	for (unsigned i = 0; i < LOCATIONS; i++) {
		struct frame_row row = {.function = 1 + draw(FUNCTIONS), .line = 1 + draw(1000)};

		if (i % 3 == 0) { /* every third with something inlined */
			row.outer = run_add_frame(run, &row);
			row.function = 1 + draw(FUNCTIONS);
		}
		run_add_location(
			run, &(struct location_row){module, i, run_add_frame(run, &row), 0});
	}
}

static struct run *run_make(void)
{
	struct run *run = run_open();
	row_id module = run_add_module(run, &(struct module_row){run_intern(run, "prog"), 0, 0});

	run_add_event(run, &(struct event_row){.name = run_intern(run, "cpu-clock"), .scale = 1});
	code_make(run, module);
	for (uint32_t i = 0; i < STACKS; i++) { /* about 100 deep */
		row_id parent = i < 10 ? 0 : i < 1000 || draw(4) == 0 ? 1 + draw(i) : i - draw(30);

		run_add_stack(run, &(struct stack_row){parent, 1 + draw(LOCATIONS)});
	}
	for (uint32_t i = 0; i < SAMPLES; i++)
		run_add_sample(run, &(struct sample_row){i, 1000000, 1, 0,
					    1 + draw(SAMPLED) * (STACKS / SAMPLED), 0, 0});
	run_freeze(run);
	return run;
}

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void measure_profile(const struct run *run, const char *name, enum profile_by by)
{
	for (unsigned i = 0; i < 3; i++) {
		profile_auto struct profile_view view = {0};
		struct err err;
		double start = cpu_ms();

		if (profile_make(run, &(struct profile_options){.by = by}, &view, &err) == 0)
			printf("%-10s %6.1f ms  %u rows\n", name, cpu_ms() - start,
				view.rows.count);
	}
}

static void measure_tree(const struct run *run, const char *name, bool inverted)
{
	for (unsigned i = 0; i < 3; i++) {
		call_tree_auto struct call_tree tree = {0};
		struct call_tree_options options = {.inverted = inverted, .depth = 64};
		struct err err;
		double start = cpu_ms();

		if (call_tree_make(run, &options, &tree, &err) == 0)
			printf("%-10s %6.1f ms  %u nodes\n", name, cpu_ms() - start,
				tree.nodes.count);
	}
}

int main(void)
{
	run_auto struct run *run = run_make();
	struct rusage before, after;

	getrusage(RUSAGE_SELF, &before);
	measure_profile(run, "function", PROFILE_FUNCTION);
	measure_profile(run, "line", PROFILE_LINE);
	getrusage(RUSAGE_SELF, &after);
	printf("memory     %6ld KB more than the run\n", after.ru_maxrss - before.ru_maxrss);
	measure_tree(run, "tree", false);
	measure_tree(run, "inverted", true);
	return 0;
}
