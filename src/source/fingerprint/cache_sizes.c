/* cache_sizes.c - see cache_sizes.h. */
#include "source/cache_sizes.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/str.h"

enum { CACHE_INDEXES = 10 };

static bool line_read(const char *folder, unsigned index, const char *name, char line[32])
{
	char path[256];

	snprintf(path, sizeof(path), "%s/index%u/%s", folder, index, name);
	return io_read_line(path, line, 32) > 0;
}

static uint64_t number_read(const char *folder, unsigned index, const char *name)
{
	char line[32], *end;
	uint64_t value;

	if (!line_read(folder, index, name, line))
		return 0;
	value = strtoull(line, &end, 10);
	if (value > UINT64_C(1) << 40)
		return 0;
	return *end == 'K' ? value << 10 : *end == 'M' ? value << 20 : value;
}

static struct cache_size *cache_at(struct cache_sizes *sizes, const char *level, const char *type)
{
	if (str_equal(level, "1"))
		return str_equal(type, "Instruction") ? &sizes->l1i : &sizes->l1d;
	if (str_equal(level, "2"))
		return &sizes->l2;
	return str_equal(level, "3") ? &sizes->l3 : NULL;
}

void cache_sizes_read(const char *folder, struct cache_sizes *ret_sizes)
{
	*ret_sizes = (struct cache_sizes){0};
	for (unsigned i = 0; i < CACHE_INDEXES; i++) {
		char level[32], type[32];
		struct cache_size *cache;

		if (!line_read(folder, i, "level", level) || !line_read(folder, i, "type", type))
			continue;
		cache = cache_at(ret_sizes, level, type);
		if (!cache)
			continue;
		cache->size_bytes = number_read(folder, i, "size");
		cache->ways = (uint32_t)number_read(folder, i, "ways_of_associativity");
		cache->line_bytes = (uint32_t)number_read(folder, i, "coherency_line_size");
	}
	/* One L1 for both is the data cache of our names. */
	if (!ret_sizes->l1i.size_bytes)
		ret_sizes->l1i = ret_sizes->l1d;
}

uint64_t cache_power_below(uint64_t value)
{
	uint64_t power = 1;

	while (power <= value / 2)
		power *= 2;
	return value ? power : 0;
}
