/* ring.h - the memory that the kernel writes perf records into, read in place.
 *
 *     uint64_t end = ring_head(&ring);
 *     while ((record = ring_next(&ring, end)))
 *             ...;                            // valid until the next call
 *     ring_release(&ring);
 *
 * Does: map, walk, give back.  A record lies in the ring itself; only one that runs over the ring's
 * end is put together in the caller's bounce buffer.  Does not: know what a record says.
 * Owns: the mapping, not the descriptor.  Zero-initialised it is empty for ever.  Threads: one
 * reader per ring. */
#pragma once

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_RECORD_MAX = 1 << 16 }; /* a record's size has 16 bits */

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	unsigned char *data;
	uint64_t data_bytes;   /* a power of two */
	uint64_t tail;	       /* everything before was walked over */
	uint64_t released;     /* and everything before this was given back */
	uint64_t broken;       /* bytes skipped because no record can look like that */
	size_t mapped_bytes;   /* 0: borrowed memory */
	unsigned char *bounce; /* RING_RECORD_MAX bytes, aligned for 8; may serve many rings */
};

/* Map `data_bytes` (a power of two, whole pages) of the event `fd`.  0 or a negative errno; -EPERM
 * when the limit of locked memory is reached. */
int ring_open(struct ring *ring, int fd, size_t data_bytes, unsigned char *bounce);

/* A ring over memory of the caller's: tests, and files that hold one. */
void ring_over(struct ring *ring, struct perf_event_mmap_page *page, unsigned char *data,
	size_t data_bytes, unsigned char *bounce);

/* Where the kernel is now; everything before is complete. */
uint64_t ring_head(const struct ring *ring);

/* The next record that ends before `end`, or NULL; stays valid until the next call. */
const struct perf_event_header *ring_next(struct ring *ring, uint64_t end);

/* The 8 bytes that stand `before_end` bytes before the end of the next record, without taking it.
 * False when there is none before `end`, or it is shorter. */
bool ring_peek(const struct ring *ring, uint64_t end, unsigned before_end, uint64_t *ret_value);

/* Give back everything that was walked over, the last record too. */
void ring_release(struct ring *ring);

void ring_close(struct ring *ring);
