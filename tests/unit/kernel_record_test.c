/* kernel_record_test.c - records as the kernel writes them, and as it never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "source/kernel_record.h"
#include "source/task_scan.h"

enum { WORDS = 64 };

struct words {
	struct perf_event_header header;
	uint64_t at[WORDS];
};

#define SAMPLE_PLAIN                                                                               \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |            \
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define SAMPLE_FULL                                                                                \
	(SAMPLE_PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

static struct kernel_scratch scratch;

static unsigned put_plain(struct words *w)
{
	const uint64_t plain[] = {42, 0x1000, UINT64_C(11) << 32 | 10, 999, 3, 1003009};

	memcpy(w->at, plain, sizeof(plain));
	return sizeof(plain) / sizeof(*plain);
}

static void put_header(struct words *w, unsigned count, uint16_t misc)
{
	w->header = (struct perf_event_header){PERF_RECORD_SAMPLE, misc, (uint16_t)(8 + 8 * count)};
}

static unsigned put_full(struct words *w)
{
	unsigned n = put_plain(w);

	w->at[n++] = 3; /* chain */
	w->at[n++] = (uint64_t)PERF_CONTEXT_USER;
	w->at[n++] = 0x1000;
	w->at[n++] = 0x2000;
	w->at[n++] = PERF_SAMPLE_REGS_ABI_64;
	for (unsigned i = 0; i < KERNEL_REGISTERS; i++)
		w->at[n++] = 0x7000 + i;
	w->at[n++] = 32; /* stack: 32 bytes of room, 24 copied */
	for (unsigned i = 0; i < 4; i++)
		w->at[n++] = 0xa0 + i;
	w->at[n++] = 24;
	put_header(w, n, PERF_RECORD_MISC_USER);
	return n;
}

static void a_full_sample_is_read_without_copying(void **state)
{
	struct words w = {0};
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	put_full(&w);
	assert_true(kernel_sample_read(&w.header, SAMPLE_FULL, &scratch, &s, &identifier));
	assert_int_equal(identifier, 42);
	assert_int_equal(s.pid, 10);
	assert_int_equal(s.tid, 11);
	assert_int_equal(s.time_ns, 999);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 1003009);
	assert_int_equal(s.chain_count, 3);
	assert_true(s.chain > w.at && s.chain < w.at + WORDS);
	assert_true(s.user.valid && s.user.fp == 0x7000);
	assert_true(s.user.ip == 0x7000 + KERNEL_REGISTERS - 1);
	assert_true(s.user.sp == 0x7000 + KERNEL_REGISTERS - 2);
	assert_int_equal(s.stack_bytes, 24);
	assert_int_equal(s.stack_asked, 32);
	assert_int_equal(*(const uint64_t *)s.stack, 0xa0);
	assert_int_equal(s.flags, 0);
}

static void a_sample_of_a_fixed_period_need_not_tell_it(void **state)
{
	struct words w = {{PERF_RECORD_SAMPLE, 0, 8 + 8 * 5}, {42, 0x1000, 10, 999, 3}};
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	assert_true(kernel_sample_read(&w.header, SAMPLE_PLAIN & ~(uint64_t)PERF_SAMPLE_PERIOD,
		&scratch, &s, &identifier));
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 0);
}

static void a_sample_that_is_cut_anywhere_is_refused(void **state)
{
	struct words w = {0};
	unsigned count = put_full(&w);
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	for (unsigned n = 0; n < count; n++) {
		put_header(&w, n, 0);
		assert_false(kernel_sample_read(&w.header, SAMPLE_FULL, &scratch, &s, &identifier));
	}
}

static void lengths_that_cannot_be_are_refused(void **state)
{
	static const uint64_t lies[] = {5, 1 << 20, UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 3 + 1};
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	for (unsigned i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		struct words w = {0};
		unsigned n = put_plain(&w);

		w.at[n++] = lies[i];
		put_header(&w, n, 0);
		assert_false(kernel_sample_read(&w.header, SAMPLE_PLAIN | PERF_SAMPLE_CALLCHAIN,
			&scratch, &s, &identifier));
		assert_false(kernel_sample_read(&w.header, SAMPLE_PLAIN | PERF_SAMPLE_STACK_USER,
			&scratch, &s, &identifier));
		assert_false(kernel_sample_read(&w.header, SAMPLE_PLAIN | PERF_SAMPLE_BRANCH_STACK,
			&scratch, &s, &identifier));
	}
}

static void a_kernel_thread_has_no_registers_and_no_stack(void **state)
{
	struct words w = {0};
	unsigned n = put_plain(&w);
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	w.at[n++] = 0; /* chain */
	w.at[n++] = PERF_SAMPLE_REGS_ABI_NONE;
	w.at[n++] = 0; /* stack */
	put_header(&w, n, PERF_RECORD_MISC_KERNEL);
	assert_true(kernel_sample_read(&w.header, SAMPLE_FULL, &scratch, &s, &identifier));
	assert_false(s.user.valid);
	assert_int_equal(s.stack_bytes, 0);
	assert_int_equal(s.flags, WIRE_SAMPLE_KERNEL);
}

static void a_program_of_32_bits_is_not_taken_for_one_of_64(void **state)
{
	struct words w = {0};
	unsigned n = put_plain(&w);
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	w.at[n++] = PERF_SAMPLE_REGS_ABI_32;
	put_header(&w, n + KERNEL_REGISTERS, 0);
	assert_true(kernel_sample_read(
		&w.header, SAMPLE_PLAIN | PERF_SAMPLE_REGS_USER, &scratch, &s, &identifier));
	assert_false(s.user.valid);
	assert_int_equal(s.machine, WIRE_MACHINE_OTHER);
}

static void branches_become_the_user_part_of_the_chain(void **state)
{
	static const uint64_t expected[] = {(uint64_t)PERF_CONTEXT_KERNEL, 0xff00,
		(uint64_t)PERF_CONTEXT_USER, 0x1000, 0x2001, 0x3001};
	struct words w = {0};
	unsigned n = put_plain(&w);
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	w.at[n++] = 3;
	w.at[n++] = (uint64_t)PERF_CONTEXT_KERNEL;
	w.at[n++] = 0xff00;
	w.at[n++] = (uint64_t)PERF_CONTEXT_USER;
	w.at[n++] = 2; /* branches: from, to, flags */
	for (uint64_t i = 2; i < 4; i++) {
		w.at[n++] = i * 0x1000;
		w.at[n++] = 0x900;
		w.at[n++] = 0;
	}
	put_header(&w, n, PERF_RECORD_MISC_USER);
	assert_true(kernel_sample_read(&w.header,
		SAMPLE_PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK, &scratch, &s,
		&identifier));
	assert_int_equal(s.chain_count, sizeof(expected) / sizeof(*expected));
	assert_memory_equal(s.chain, expected, sizeof(expected));
}

static void branches_are_kept_when_that_is_what_was_asked_for(void **state)
{
	static struct kernel_scratch kept = {.as_branches = true};
	struct words w = {0};
	unsigned n = put_plain(&w);
	struct wire_sample s;
	uint64_t identifier;

	(void)state;
	w.at[n++] = 3; /* branches: from, to, flags */
	w.at[n++] = 0x1000;
	w.at[n++] = 0x2000;
	w.at[n++] = 1 | 250 << 4 | UINT64_C(1) << 20 | UINT64_C(3) << 24; /* M, 250, COND, spec 3 */
	w.at[n++] = 0x3000;
	w.at[n++] = 0x4000;
	w.at[n++] = 2 | UINT64_C(6) << 20; /* P, RET */
	n += 3;				   /* an entry that the PMU has not filled yet */
	put_header(&w, n, PERF_RECORD_MISC_USER);
	assert_true(kernel_sample_read(
		&w.header, SAMPLE_PLAIN | PERF_SAMPLE_BRANCH_STACK, &kept, &s, &identifier));
	assert_int_equal(s.branch_count, 2);
	assert_int_equal(s.branches[0].from, 0x1000);
	assert_int_equal(s.branches[0].to, 0x2000);
	assert_int_equal(s.branches[0].cycles, 250);
	assert_int_equal(s.branches[0].flags, 0x3101);
	assert_int_equal(s.branches[1].flags, 0x602);
	assert_int_equal(s.chain_count, 0);
	w.at[6] = 4; /* more entries than there are words */
	assert_false(kernel_sample_read(
		&w.header, SAMPLE_PLAIN | PERF_SAMPLE_BRANCH_STACK, &kept, &s, &identifier));
}

static void an_access_tells_address_weight_and_source(void **state)
{
	enum { LOAD = 2, NOT_AVAILABLE = 1 };
	struct words w = {0};
	const uint64_t type =
		SAMPLE_PLAIN | PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC;
	struct wire_sample s;
	uint64_t identifier;
	unsigned n = put_plain(&w);

	(void)state;
	memmove(&w.at[5], &w.at[4], 2 * sizeof(w.at[0])); /* behind the time */
	w.at[4] = 0xabc0;
	n++;
	w.at[n++] = 321;
	w.at[n++] = LOAD | 0x80 << 5;
	put_header(&w, n, PERF_RECORD_MISC_USER);
	assert_true(kernel_sample_read(&w.header, type, &scratch, &s, &identifier));
	assert_true(s.has_access);
	assert_int_equal(s.addr, 0xabc0);
	assert_int_equal(s.weight, 321);
	assert_int_equal(s.cpu, 3);
	assert_int_equal(s.period, 1003009);
	w.at[n - 1] = NOT_AVAILABLE;
	assert_true(kernel_sample_read(&w.header, type, &scratch, &s, &identifier));
	assert_false(s.has_access);
}

/* ---- tasks and mappings ---- */

struct caught {
	unsigned count;
	union {
		struct wire_record head;
		struct wire_map map;
		struct wire_task task;
		unsigned char bytes[8192];
	};
};

static int catch_record(void *context, const struct wire_record *record)
{
	struct caught *caught = context;

	assert_true(wire_check(record, record->size));
	assert_true(record->size <= sizeof(caught->bytes));
	memcpy(caught->bytes, record, record->size);
	caught->count++;
	return 0;
}

/* A record of `type` with a body and a trailer that says time 77. */
static void put_record(
	struct words *w, uint32_t type, uint16_t misc, const void *body, unsigned bytes)
{
	const uint64_t trailer[] = {UINT64_C(11) << 32 | 10, 77, 1};

	memset(w, 0, sizeof(*w));
	memcpy(w->at, body, bytes);
	memcpy((char *)w->at + bytes, trailer, sizeof(trailer));
	w->header = (struct perf_event_header){
		type, misc, (uint16_t)(sizeof(w->header) + bytes + sizeof(trailer))};
}

static void a_mapping_keeps_path_offset_and_build_id(void **state)
{
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, offset;
		unsigned char union_of[24];
		uint32_t protection, flags;
		char path[16];
	} body = {10, 11, 0x400000, 0x2000, 0x1000, {0}, 5, 2, "/usr/bin/thing"};
	struct caught caught = {0};
	struct wire_sink sink = {.take = catch_record, .context = &caught};
	struct words w;

	(void)state;
	body.union_of[0] = 20; /* bytes of the build id, then 3 reserved */
	memset(body.union_of + 4, 0xab, 20);
	put_record(&w, PERF_RECORD_MMAP2, 1 << 14, &body, sizeof(body));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.head.type, WIRE_MAP);
	assert_int_equal(caught.map.pid, 10);
	assert_int_equal(caught.map.start, 0x400000);
	assert_int_equal(caught.map.len, 0x2000);
	assert_int_equal(caught.map.file_offset, 0x1000);
	assert_int_equal(caught.map.time_ns, 77);
	assert_int_equal(caught.map.inode, 0);
	assert_string_equal(wire_text(&caught.head, caught.map.path), "/usr/bin/thing");
	assert_string_equal(wire_text(&caught.head, caught.map.build_id),
		"abababababababababababababababababababab");
	body.union_of[0] = 255; /* a length that no build id has */
	put_record(&w, PERF_RECORD_MMAP2, 1 << 14, &body, sizeof(body));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.map.build_id.len, 40);
}

static void tasks_are_born_named_and_gone(void **state)
{
	const uint32_t life[] = {20, 10, 21, 11};
	struct {
		uint32_t pid, tid;
		char name[16];
	} comm = {20, 21, "worker"};
	struct caught caught = {0};
	struct wire_sink sink = {.take = catch_record, .context = &caught};
	struct words w;

	(void)state;
	put_record(&w, PERF_RECORD_FORK, 0, life, sizeof(life));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.task.kind, WIRE_TASK_FORK);
	assert_int_equal(caught.task.pid, 20);
	assert_int_equal(caught.task.parent_pid, 10);
	assert_int_equal(caught.task.tid, 21);
	assert_int_equal(caught.task.parent_tid, 11);
	put_record(&w, PERF_RECORD_EXIT, 0, life, sizeof(life));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.task.kind, WIRE_TASK_EXIT);
	put_record(&w, PERF_RECORD_COMM, 0, &comm, sizeof(comm));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.task.kind, WIRE_TASK_NAME);
	assert_string_equal(wire_text(&caught.head, caught.task.name), "worker");
	put_record(&w, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, &comm, sizeof(comm));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 0);
	assert_int_equal(caught.task.kind, WIRE_TASK_EXEC);
	assert_int_equal(caught.count, 4);
	put_record(&w, PERF_RECORD_LOST, 0, life, sizeof(life));
	assert_int_equal(kernel_record_emit(&w.header, &sink), 1);
	assert_int_equal(caught.count, 4);
}

static void lines_of_proc_maps_are_read_or_refused(void **state)
{
	static const char *const bad[] = {"", "x", "1000", "1000-2000", "1000-2000 r-xp",
		"2000-1000 r-xp 00000000 fe:01 12 /a", "1000-2000 r-xp zz fe:01 12 /a",
		"10000000000000000-2000 r-xp 0 0:0 0", "1000-2000 r-xp 0 fe01 12 /a"};
	struct task_map map;

	(void)state;
	assert_true(task_map_parse(
		"55d0c0a02000-55d0c0a07000 r-xp 00002000 fe:01 1234      /usr/bin/a b", &map));
	assert_true(map.start == 0x55d0c0a02000 && map.end == 0x55d0c0a07000);
	assert_true(map.executable && map.file_offset == 0x2000 && map.inode == 1234);
	assert_string_equal(map.path, "/usr/bin/a b");
	assert_true(task_map_parse("7f0000000000-7f0000001000 rw-p 00000000 00:00 0 ", &map));
	assert_false(map.executable);
	assert_string_equal(map.path, "");
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(task_map_parse(bad[i], &map));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_sample_is_read_without_copying),
		cmocka_unit_test(a_sample_of_a_fixed_period_need_not_tell_it),
		cmocka_unit_test(a_sample_that_is_cut_anywhere_is_refused),
		cmocka_unit_test(lengths_that_cannot_be_are_refused),
		cmocka_unit_test(a_kernel_thread_has_no_registers_and_no_stack),
		cmocka_unit_test(a_program_of_32_bits_is_not_taken_for_one_of_64),
		cmocka_unit_test(branches_become_the_user_part_of_the_chain),
		cmocka_unit_test(branches_are_kept_when_that_is_what_was_asked_for),
		cmocka_unit_test(an_access_tells_address_weight_and_source),
		cmocka_unit_test(a_mapping_keeps_path_offset_and_build_id),
		cmocka_unit_test(tasks_are_born_named_and_gone),
		cmocka_unit_test(lines_of_proc_maps_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
