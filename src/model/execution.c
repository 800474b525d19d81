/* execution.c - see execution.h.
 *
 * The kernel tells peak RSS in KiB and pressure in microseconds, so those units lose nothing; of
 * the time in the run queue half a microsecond at most.  32 bits of them are 4 TiB and 71 minutes
 * in which the machine's tasks waited; more is kept as that much and counted in the quality
 * "saturated_values", never wrapped. */
#include "execution.h"

#include <assert.h>

enum { KIB = 1024, NS_PER_US = 1000 };

static_assert(sizeof(struct execution_packed) == 72, "100,000 of them are to fit in 7.2 MB");

/* `value` in units of `unit`, to the nearest. */
static uint32_t pack_u32(uint64_t value, uint32_t unit, uint64_t *saturated)
{
	uint64_t units = value / unit + (value % unit * 2 >= unit && unit > 1);

	if (units <= UINT32_MAX)
		return (uint32_t)units;
	++*saturated;
	return UINT32_MAX;
}

static uint64_t pack_bits(uint64_t value, unsigned bits, uint64_t *saturated)
{
	uint64_t most = (UINT64_C(1) << bits) - 1;

	*saturated += value > most;
	return value > most ? most : value;
}

static int32_t pack_within(int32_t value, int32_t least, int32_t most, uint64_t *saturated)
{
	*saturated += value < least || value > most;
	return value < least ? least : value > most ? most : value;
}

/* What was taken out of the wall time must be all of it: a queue that is too long is not known. */
static uint32_t pack_flags(const struct execution_row *row)
{
	uint64_t too_long = 0;

	(void)pack_u32(row->queue_ns, NS_PER_US, &too_long);
	return row->flags & EXECUTION_FLAGS_MAX & ~(too_long ? (uint32_t)EXECUTION_QUEUE : 0);
}

/* The value is below 2^bits: said so that the compiler sees it, too. */
#define BITS(value, bits) ((value) & ((UINT64_C(1) << (bits)) - 1))

struct execution_packed execution_pack(const struct execution_row *row, uint64_t *saturated)
{
	return (struct execution_packed){
		.start_ns = BITS(pack_bits(row->start_ns, 58, saturated), 58),
		.wall_ns = BITS(pack_bits(row->wall_ns, 54, saturated), 54),
		.user_ns = BITS(pack_bits(row->user_ns, 56, saturated), 56),
		.system_ns = BITS(pack_bits(row->system_ns, 56, saturated), 56),
		.queue_us = pack_u32(row->queue_ns, NS_PER_US, saturated),
		.max_rss_kib = pack_u32(row->max_rss_bytes, KIB, saturated),
		.rss_floor_kib = pack_u32(row->rss_floor_bytes, KIB, saturated),
		.minor_faults = pack_u32(row->minor_faults, 1, saturated),
		.major_faults = pack_u32(row->major_faults, 1, saturated),
		.voluntary_switches = pack_u32(row->voluntary_switches, 1, saturated),
		.involuntary_switches = pack_u32(row->involuntary_switches, 1, saturated),
		.steal_us = pack_u32(row->steal_ns, NS_PER_US, saturated),
		.pressure_us = pack_u32(row->pressure_ns, NS_PER_US, saturated),
		.command = (uint16_t)row->command,
		.flags = BITS(pack_flags(row), 24),
		.exit_status =
			(int16_t)pack_within(row->exit_status, INT16_MIN, INT16_MAX, saturated),
		.signal = (int8_t)pack_within(row->signal, INT8_MIN, INT8_MAX, saturated),
	};
}

row_id run_add_execution(struct run *run, const struct execution_row *row)
{
	uint64_t saturated = 0, before = 0;

	assert(!run->frozen);
	assert(row->command <= EXECUTION_COMMANDS_MAX && row->flags <= EXECUTION_FLAGS_MAX);
	vec_push(&run->executions, execution_pack(row, &saturated));
	if (saturated) {
		(void)run_get_quality(run, EXECUTION_SATURATED, &before);
		run_set_quality(run, EXECUTION_SATURATED, before + saturated);
	}
	return run->executions.count;
}

struct execution_row run_execution(const struct run *run, row_id id)
{
	const struct execution_packed *packed = &run->executions.at[id - 1];

	return (struct execution_row){
		.start_ns = packed->start_ns,
		.wall_ns = packed->wall_ns,
		.user_ns = packed->user_ns,
		.system_ns = packed->system_ns,
		.max_rss_bytes = (uint64_t)packed->max_rss_kib * KIB,
		.rss_floor_bytes = (uint64_t)packed->rss_floor_kib * KIB,
		.minor_faults = packed->minor_faults,
		.major_faults = packed->major_faults,
		.voluntary_switches = packed->voluntary_switches,
		.involuntary_switches = packed->involuntary_switches,
		.steal_ns = (uint64_t)packed->steal_us * NS_PER_US,
		.pressure_ns = (uint64_t)packed->pressure_us * NS_PER_US,
		.queue_ns = (uint64_t)packed->queue_us * NS_PER_US,
		.command = packed->command,
		.exit_status = packed->exit_status,
		.signal = packed->signal,
		.flags = packed->flags,
	};
}
