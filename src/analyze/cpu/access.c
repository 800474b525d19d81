/* access.c - what the kernel says about one sampled memory access.
 *
 * union perf_mem_data_src, by its bits: 0-4 operation, 5-18 level, 19-23 snoop, 26-32 TLB, 33-36
 * the level as a number (Linux 4.16), 37 remote.  The older bits of the level come first, as in
 * perf: some CPUs fill only one of the two. */
#include "analyze/cache.h"

enum {
	OP_STORE = 0x4,
	LVL_L1 = 0x8,
	LVL_LFB = 0x10,
	LVL_L2 = 0x20,
	LVL_L3 = 0x40,
	LVL_RAM = 0x80,
	LVL_REMOTE_RAM = 0x300,
	LVL_REMOTE_CACHE = 0xc00,
	LVL_IO = 0x3000, /* and what is not cached */
	SNOOP_HITM = 0x10,
	TLB_MISS = 0x4,
	TLB_WALKER = 0x20,
	TLB_FAULT = 0x40,
};

const char *access_level_name(enum access_level level)
{
	static const char *const names[ACCESS_LEVELS] = {
		"unknown", "L1", "LFB", "L2", "L3", "remote cache", "RAM", "remote RAM", "other"};

	return level < ACCESS_LEVELS ? names[level] : names[0];
}

static enum access_level level_of_number(unsigned number, bool remote)
{
	switch (number) {
	case 1:
		return ACCESS_L1;
	case 2:
	case 5: /* L2's own miss buffer */
		return ACCESS_L2;
	case 3:
		return remote ? ACCESS_REMOTE_CACHE : ACCESS_L3;
	case 0xb: /* any cache */
		return remote ? ACCESS_REMOTE_CACHE : ACCESS_OTHER;
	case 0xc:
		return ACCESS_LFB;
	case 0xd:
		return remote ? ACCESS_REMOTE_RAM : ACCESS_RAM;
	case 0:
	case 0xf:
		return ACCESS_UNKNOWN;
	default:
		return ACCESS_OTHER;
	}
}

enum access_level access_level_of(uint64_t data_source)
{
	unsigned bits = data_source >> 5 & 0x3fff;

	if (bits & LVL_L1)
		return ACCESS_L1;
	if (bits & LVL_LFB)
		return ACCESS_LFB;
	if (bits & LVL_L2)
		return ACCESS_L2;
	if (bits & LVL_L3)
		return ACCESS_L3;
	if (bits & LVL_RAM)
		return ACCESS_RAM;
	if (bits & LVL_REMOTE_RAM)
		return ACCESS_REMOTE_RAM;
	if (bits & LVL_REMOTE_CACHE)
		return ACCESS_REMOTE_CACHE;
	if (bits & LVL_IO)
		return ACCESS_OTHER;
	return level_of_number(data_source >> 33 & 0xf, data_source >> 37 & 1);
}

/* "L1 or L2 hit" and "L2 miss" are told by the same bits; only a miss that says so counts. */
bool access_missed_tlb(uint64_t data_source)
{
	unsigned bits = data_source >> 26 & 0x7f;

	return bits & (TLB_MISS | TLB_FAULT) || (bits & TLB_WALKER && !(bits & 0x18));
}

bool access_is_store(uint64_t data_source)
{
	return (data_source & OP_STORE) != 0;
}

bool access_is_shared(uint64_t data_source)
{
	return (data_source >> 19 & SNOOP_HITM) != 0;
}
