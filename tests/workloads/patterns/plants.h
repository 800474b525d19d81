/* plants.h - programs with one known shape each, for data/patterns: PROGRAM CASE [COUNT].
 *
 * A case has the name of the pattern that must be found in it, and no other may.  Its work is
 * counted in rounds; its default takes about 0.3 s. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../whole.h"

struct plant {
	const char *name;
	void (*run)(uint64_t rounds);
	uint64_t rounds;
};

/* What keeps the work: a compiler removes what nobody reads. */
static volatile uint64_t plant_sum;

static int plants_main(const struct plant *plants, size_t count, int argc, char **argv)
{
	for (size_t i = 0; i < count && argc > 1; i++)
		if (strcmp(plants[i].name, argv[1]) == 0) {
			plants[i].run(argc > 2 ? strtoull(argv[2], NULL, 10) : plants[i].rounds);
			fprintf(stderr, "%s: done\n", argv[1]);
			return 0;
		}
	for (size_t i = 0; i < count; i++)
		printf("%s\n", plants[i].name);
	return argc > 1 ? 2 : 0;
}
