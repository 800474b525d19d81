/* module_time.c - see module_time.h. */
#include "analyze/module_time.h"

#include <stdlib.h>

#include "analyze/sample_walk.h"
#include "base/mem.h"

/* A stack of which each module counts once. */
static void sample_add(const struct sample_walk *walk, const struct walk_sample *sample,
	uint32_t number, uint32_t *seen, uint64_t *times)
{
	for (uint32_t node = sample->node; node != WALK_NONE; node = walk->nodes.at[node].parent) {
		uint32_t module = walk->locations.at[walk->nodes.at[node].location].module;

		if (module == WALK_NONE || seen[module] == number)
			continue;
		seen[module] = number;
		times[module] += sample->period;
	}
}

static int larger_first(const void *a, const void *b)
{
	double x = ((const struct module_time *)a)->share,
	       y = ((const struct module_time *)b)->share;

	return (x < y) - (x > y);
}

int module_times_make(const struct run *run, struct arena *arena, struct module_time **ret_times,
	uint32_t *ret_count, struct err *err)
{
	const struct profile_filter everything = {0};
	sample_walk_auto struct sample_walk walk = {0};
	mem_auto uint32_t *seen = NULL;
	mem_auto uint64_t *times = NULL;
	struct module_time *list;
	uint32_t count = 0;
	int r = sample_walk_make(run, &everything, WALK_MERGED, &walk, err);

	if (r < 0)
		return r;
	seen = mem_new(walk.modules.count, sizeof(*seen));
	times = mem_new(walk.modules.count, sizeof(*times));
	for (uint32_t i = 0; i < walk.samples.count; i++)
		sample_add(&walk, &walk.samples.at[i], i + 1, seen, times);
	list = arena_take(arena, (walk.modules.count + 1) * sizeof(*list));
	for (uint32_t i = 0; i < walk.modules.count; i++)
		if (*walk.modules.at[i].path == '/' && !walk.modules.at[i].kernel)
			list[count++] = (struct module_time){walk.modules.at[i].path,
				(double)times[i] /
					((double)walk.total_period + !walk.total_period)};
	qsort(list, count, sizeof(*list), larger_first);
	*ret_times = list;
	*ret_count = count;
	return 0;
}
