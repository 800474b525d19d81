/* ring.c - see ring.h.
 *
 * The kernel writes from data_head on and stops before data_tail, which is ours.  Both count bytes
 * since the start and never wrap; a place in the ring is the number modulo its size.  Records are
 * multiples of 8 and so is the ring: an aligned 8 bytes never run over the end, so header and
 * trailer of a record can be read without copying it.
 * The page with both numbers is also the kernel's: each write of data_tail takes the cache line
 * away from the CPU that samples, so space is given back in steps of RELEASE_BYTES. */
#include "source/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RELEASE_BYTES = 1 << 16 };

void ring_over(struct ring *ring, struct perf_event_mmap_page *page, unsigned char *data,
	size_t data_bytes, unsigned char *bounce)
{
	*ring = (struct ring){
		.page = page, .data = data, .data_bytes = data_bytes, .bounce = bounce};
}

int ring_open(struct ring *ring, int fd, size_t data_bytes, unsigned char *bounce)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	ring_over(ring, map, (unsigned char *)map + page_bytes, data_bytes, bounce);
	ring->mapped_bytes = page_bytes + data_bytes;
	return 0;
}

uint64_t ring_head(const struct ring *ring)
{
	return ring->page ? __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE) : 0;
}

static const void *ring_place(const struct ring *ring, uint64_t at)
{
	return ring->data + (at & (ring->data_bytes - 1));
}

/* The size of the record at the tail; 0: none whole before `end`, or nothing that is a record. */
static uint64_t record_size(const struct ring *ring, uint64_t end)
{
	const struct perf_event_header *header;

	if (end - ring->tail < sizeof(*header) || end - ring->tail > ring->data_bytes)
		return 0;
	header = ring_place(ring, ring->tail);
	if (header->size < sizeof(*header) || header->size % 8 || header->size > end - ring->tail)
		return 0;
	return header->size;
}

const struct perf_event_header *ring_next(struct ring *ring, uint64_t end)
{
	uint64_t size = record_size(ring, end), first;
	const struct perf_event_header *record;

	if (ring->tail - ring->released >= RELEASE_BYTES)
		ring_release(ring);
	if (!size) {
		ring->broken += end - ring->tail;
		ring->tail = end;
		return NULL;
	}
	record = ring_place(ring, ring->tail);
	first = ring->data_bytes - (ring->tail & (ring->data_bytes - 1));
	if (size > first) {
		memcpy(ring->bounce, record, first);
		memcpy(ring->bounce + first, ring->data, size - first);
		record = (const void *)ring->bounce;
	}
	ring->tail += size;
	return record;
}

bool ring_peek(const struct ring *ring, uint64_t end, unsigned before_end, uint64_t *ret_value)
{
	uint64_t size = record_size(ring, end);

	if (size < before_end + sizeof(struct perf_event_header))
		return false;
	memcpy(ret_value, ring_place(ring, ring->tail + size - before_end), sizeof(*ret_value));
	return true;
}

void ring_release(struct ring *ring)
{
	if (!ring->page)
		return;
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
	ring->released = ring->tail;
}

void ring_close(struct ring *ring)
{
	if (ring->mapped_bytes)
		munmap(ring->page, ring->mapped_bytes);
	*ring = (struct ring){0};
}
