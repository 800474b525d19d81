/* ring_test.c - a ring as the kernel fills it is read in place, also over its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source/ring.h"

enum { BYTES = 4096 };

struct fixture {
	struct perf_event_mmap_page page;
	_Alignas(8) unsigned char data[BYTES];
	_Alignas(8) unsigned char bounce[RING_RECORD_MAX];
	struct ring ring;
};

static struct fixture *fixture_new(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	ring_over(&f->ring, &f->page, f->data, BYTES, f->bounce);
	return f;
}

/* Write as the kernel does: a record whose words are `seed`, `seed` + 1... */
static void write_record(struct fixture *f, uint16_t size, uint64_t seed)
{
	struct perf_event_header header = {.type = PERF_RECORD_SAMPLE, .size = size};
	uint64_t at = f->page.data_head;

	memcpy(f->data + at % BYTES, &header, sizeof(header));
	for (unsigned i = 8; i < size; i += 8, seed++)
		memcpy(f->data + (at + i) % BYTES, &seed, sizeof(seed));
	f->page.data_head = at + size;
}

static void assert_record(const struct perf_event_header *record, uint16_t size, uint64_t seed)
{
	const uint64_t *words = (const void *)(record + 1);

	assert_non_null(record);
	assert_int_equal(record->size, size);
	for (unsigned i = 0; i < (size - 8u) / 8; i++)
		assert_true(words[i] == seed + i);
}

static void records_come_in_order_and_lie_in_the_ring(void **state)
{
	struct fixture *f = fixture_new();
	const struct perf_event_header *record;

	(void)state;
	write_record(f, 64, 100);
	write_record(f, 8, 0);
	record = ring_next(&f->ring, ring_head(&f->ring));
	assert_record(record, 64, 100);
	assert_ptr_equal(record, f->data);
	assert_record(ring_next(&f->ring, ring_head(&f->ring)), 8, 0);
	assert_null(ring_next(&f->ring, ring_head(&f->ring)));
	assert_int_equal(f->page.data_tail, 0);
	ring_release(&f->ring);
	assert_int_equal(f->page.data_tail, 72);
	free(f);
}

static void every_way_over_the_end_gives_the_same_bytes(void **state)
{
	struct fixture *f = fixture_new();

	(void)state;
	for (uint64_t i = 0; i < 3000; i++) {
		uint16_t size = (uint16_t)(8 + i * 56 % 1024);

		write_record(f, size, i << 20);
		assert_record(ring_next(&f->ring, ring_head(&f->ring)), size, i << 20);
		ring_release(&f->ring);
	}
	assert_int_equal(f->ring.broken, 0);
	free(f);
}

static void what_comes_after_the_snapshot_waits(void **state)
{
	struct fixture *f = fixture_new();
	uint64_t end;

	(void)state;
	write_record(f, 64, 1);
	end = ring_head(&f->ring);
	write_record(f, 64, 2);
	assert_record(ring_next(&f->ring, end), 64, 1);
	assert_null(ring_next(&f->ring, end));
	assert_record(ring_next(&f->ring, ring_head(&f->ring)), 64, 2);
	free(f);
}

static void a_trailer_can_be_read_without_taking_the_record(void **state)
{
	struct fixture *f = fixture_new();
	uint64_t value;

	(void)state;
	assert_false(ring_peek(&f->ring, ring_head(&f->ring), 16, &value));
	f->page.data_head = f->ring.tail = BYTES - 16; /* its trailer lies behind the end */
	write_record(f, 48, 10);
	assert_true(ring_peek(&f->ring, ring_head(&f->ring), 16, &value));
	assert_int_equal(value, 13);
	assert_false(ring_peek(&f->ring, ring_head(&f->ring), 48, &value));
	assert_record(ring_next(&f->ring, ring_head(&f->ring)), 48, 10);
	free(f);
}

static void nonsense_ends_the_pass_and_is_counted(void **state)
{
	static const uint16_t sizes[] = {0, 4, 12, 4000};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct fixture *f = fixture_new();
		struct perf_event_header header = {.size = sizes[i]};

		memcpy(f->data, &header, sizeof(header));
		f->page.data_head = 64;
		assert_null(ring_next(&f->ring, ring_head(&f->ring)));
		assert_int_equal(f->ring.broken, 64);
		write_record(f, 16, 7);
		assert_record(ring_next(&f->ring, ring_head(&f->ring)), 16, 7);
		free(f);
	}
}

static void room_is_given_back_while_a_long_pass_goes_on(void **state)
{
	enum { LARGE = 1 << 18 };
	unsigned char *data = calloc(1, LARGE);
	struct perf_event_mmap_page page = {0};
	struct perf_event_header header = {.size = 32768};
	struct ring ring;

	(void)state;
	assert_non_null(data);
	ring_over(&ring, &page, data, LARGE, NULL);
	for (unsigned i = 0; i < 8; i++)
		memcpy(data + i * 32768ul, &header, sizeof(header));
	page.data_head = LARGE;
	for (unsigned i = 0; i < 8; i++)
		assert_non_null(ring_next(&ring, ring_head(&ring)));
	assert_true(page.data_tail >= 65536 && page.data_tail < LARGE);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_in_order_and_lie_in_the_ring),
		cmocka_unit_test(every_way_over_the_end_gives_the_same_bytes),
		cmocka_unit_test(what_comes_after_the_snapshot_waits),
		cmocka_unit_test(a_trailer_can_be_read_without_taking_the_record),
		cmocka_unit_test(nonsense_ends_the_pass_and_is_counted),
		cmocka_unit_test(room_is_given_back_while_a_long_pass_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
