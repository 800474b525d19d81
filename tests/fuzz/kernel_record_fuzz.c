/* kernel_record_fuzz.c - any bytes as a ring of the kernel: every record is read or refused, and
 * what is handed on lies inside it.  The first byte says what the samples hold. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "source/kernel_record.h"
#include "source/ring.h"
#include "source/task_scan.h"

enum { RING = 1 << 13 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *context, const struct wire_record *record)
{
	(void)context;
	if (!wire_check(record, record->size))
		abort();
	return 0;
}

/* Touch everything that the sample points to. */
static uint64_t sample_sum(const struct wire_sample *sample)
{
	const unsigned char *stack = sample->stack;
	uint64_t sum = sample->stack_bytes > sample->stack_asked;

	for (uint32_t i = 0; i < sample->chain_count; i++)
		sum += sample->chain[i];
	for (uint32_t i = 0; i < sample->branch_count; i++)
		sum += sample->branches[i].from + sample->branches[i].flags;
	for (uint32_t i = 0; i < sample->stack_bytes; i++)
		sum += stack[i];
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct kernel_scratch scratch;
	static _Alignas(8) unsigned char ring_data[RING], bounce[RING_RECORD_MAX];
	static volatile uint64_t sum;
	const uint64_t plain =
		KERNEL_SAMPLE_TYPES &
		~(PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
			PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_PERIOD);
	const struct wire_sink sink = {.take = take};
	const struct perf_event_header *record;
	struct perf_event_mmap_page page = {0};
	struct wire_sample sample;
	struct task_map map;
	struct ring ring;
	char line[256] = "";
	uint64_t type, identifier;

	if (size < 2)
		return 0;
	memcpy(line, data, size < sizeof(line) ? size : sizeof(line) - 1);
	if (task_map_parse(line, &map))
		sum += strlen(map.path);
	type = plain | (data[0] & 1 ? PERF_SAMPLE_CALLCHAIN : 0) |
	       (data[0] & 2 ? PERF_SAMPLE_REGS_USER : 0) |
	       (data[0] & 4 ? PERF_SAMPLE_STACK_USER : 0) |
	       (data[0] & 8 ? PERF_SAMPLE_BRANCH_STACK : 0) |
	       (data[0] & 16 ? PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC : 0) |
	       (data[0] & 64 ? 0 : PERF_SAMPLE_PERIOD);
	scratch.as_branches = data[0] & 32;
	size = size - 1 > RING ? RING : size - 1;
	memset(ring_data, 0, sizeof(ring_data));
	ring_over(&ring, &page, ring_data, RING, bounce);
	ring.tail = (uint64_t)data[0] * 8; /* so that records run over the end */
	for (size_t i = 0; i < size; i++)
		ring_data[(ring.tail + i) % RING] = data[1 + i];
	page.data_head = ring.tail + size;
	while ((record = ring_next(&ring, page.data_head)))
		if (kernel_sample_read(record, type, &scratch, &sample, &identifier))
			sum += sample_sum(&sample);
		else
			(void)kernel_record_emit(record, &sink);
	(void)sum; /* volatile: everything was really read */
	return 0;
}
