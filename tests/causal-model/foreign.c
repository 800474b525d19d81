/* foreign.c - the rule on a machine that other programs share: how far it is from what the program
 * would gain alone. */
#include "model.h"

#include <stdio.h>

static const struct {
	const char *name;
	struct load load;
} loads[] = {
	{"none", {0, LOAD_SPIN}},
	{"1 per 2 CPUs", {1, LOAD_SPIN}},
	{"1 per CPU", {2, LOAD_SPIN}},
	{"2 per CPU", {4, LOAD_SPIN}},
	{"bursts of 1 to 50 ms, 1 per CPU", {2, LOAD_BURSTS}},
	{"short (0.4 ms every 1.4), 1 per CPU", {2, LOAD_SHORT}},
	{"nice, 1 per CPU", {2, LOAD_NICE}},
};

static const struct {
	const char *name;
	const struct options *options;
	enum foreign foreign;
	enum measure measure;
} rules[] = {
	{"ignored, growth", &decided, FOREIGN_IGNORED, MEASURE_GROWTH},
	{"previous, each thread", &decided, FOREIGN_PREVIOUS, MEASURE_EACH},
	{"share, each thread", &decided, FOREIGN_SHARE, MEASURE_EACH},
	{"share, by CPU time", &decided, FOREIGN_SHARE, MEASURE_CPU},
	{"stop, growth", &stopping, FOREIGN_STOP, MEASURE_GROWTH},
};

void foreign_table(struct seeds seeds)
{
	accuracy_heading();
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
		for (size_t j = 0; j < sizeof rules / sizeof *rules; j++) {
			struct options options = *rules[j].options;
			char name[96];

			options.foreign = rules[j].foreign;
			options.load = loads[i].load;
			snprintf(name, sizeof name, "%s: %s", loads[i].name, rules[j].name);
			accuracy_show(name, &options, rules[j].measure, seeds);
		}
	}
}

void foreign_intervals(int programs)
{
	for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
		struct options options = stopping;

		options.load = loads[i].load;
		interval_table(programs, &options, loads[i].name);
	}
}
