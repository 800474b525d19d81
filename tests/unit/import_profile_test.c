/* import_profile_test.c - perf.data: recordings of many machines, whole, cut off, and made up. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>

#include "import_sink.h"

#include "base/io.h"

/* Samples as `perf report --stats` of perf 6.1 has them, except where it cannot read the file:
 * fibo.compressed2 and sleep.compressed2 (their type and attr size), sleep.compressed.pipe
 * ("Couldn't decompress data"). */
static const struct recorded {
	const char *name;
	uint64_t samples, of_first, branches, chain, accesses, unwindable;
	unsigned maps, tasks, lost;
} recordings[] = {
	{"q_perf.data.branch-4.14", 13, 13, 387, 0, 0, 0, 31, 4, 0},
	{"q_perf.data.branch_stack_spec", 8, 8, 128, 0, 0, 0, 30, 3, 2},
	{"q_perf.data.group_desc-4.14", 13, 7, 0, 0, 0, 0, 31, 4, 0},
	{"q_perf.data.hybrid_topology", 7, 7, 0, 0, 0, 0, 107, 4, 0},
	{"q_perf.data.lost_samples-4.4", 191, 97, 0, 0, 0, 0, 45, 4, 2},
	{"q_perf.data.weight_struct", 14, 14, 0, 0, 14, 0, 859, 5973, 0},
	{"q_perf.data.piped.header_features_aligned-6.12", 9, 9, 0, 0, 0, 0, 4, 3, 0},
	{"ms_sleep.compressed.pipe.data", 8, 8, 0, 0, 0, 0, 49, 3, 0},
	{"ms_sleep.compressed2.data", 7, 7, 0, 0, 0, 0, 4, 3, 0},
	{"ms_fibo.compressed2.pipe.data", 547, 547, 0, 0, 0, 547, 215, 59, 0},
	{"arm64_tcg_cyclesu_fp.perf.data", 11966, 11966, 0, 56631, 0, 0, 2, 3, 0},
	{"arm64_tcg_multi_dwarf_sched.perf.data", 331, 164, 0, 58, 0, 331, 5, 5, 0},
};

static void recording_path(const char *name, char *path, size_t capacity)
{
	const char *shared = getenv("ASSAY_SHARED"), *source = getenv("ASSAY_SOURCE");

	if (shared)
		snprintf(path, capacity, "%s/perfdata/%s", shared, name);
	else
		snprintf(path, capacity, "%s/../shared/perfdata/%s", source ? source : ".", name);
}

/* The bytes of a recording; false: it is not here. */
static bool recording_read(const char *name, struct str *bytes)
{
	char path[4096];
	struct err err;

	recording_path(name, path, sizeof(path));
	return io_read(path, 64 << 20, bytes, &err) >= 0;
}

/* The same, or skip. */
static void recording_load(const char *name, struct str *bytes)
{
	if (!recording_read(name, bytes)) {
		print_message("# skip: the shared recordings are not here\n");
		skip(); /* jumps, and would leave an arena behind */
	}
}

static void every_recording_gives_the_samples_that_perf_counts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++) {
		const struct recorded *want = &recordings[i];
		str_auto struct str bytes = {0};
		struct counted in;

		recording_load(want->name, &bytes);
		counted_import(&in, bytes.at, bytes.len);
		assert_int_equal(in.r, 0);
		assert_string_equal(in.report.kind, "perf-data");
		assert_string_equal(in.report.damage, "");
		assert_int_equal(in.samples, want->samples);
		assert_int_equal(in.report.samples, want->samples);
		assert_int_equal(in.of_event[1], want->of_first);
		assert_int_equal(in.branches, want->branches);
		assert_int_equal(in.chain, want->chain);
		assert_int_equal(in.accesses, want->accesses);
		assert_int_equal(in.unwindable, want->unwindable);
		assert_int_equal(in.records[WIRE_MAP], want->maps);
		assert_int_equal(in.records[WIRE_TASK], want->tasks);
		assert_int_equal(in.records[WIRE_LOST], want->lost);
		assert_int_equal(in.backwards, 0);
		assert_int_equal(in.report.skipped[IMPORT_SAMPLE_MALFORMED], 0);
		assert_int_equal(in.report.skipped[IMPORT_RECORD_MALFORMED], 0);
		assert_int_equal(in.report.skipped[IMPORT_RECORD_UNKNOWN], 0);
		counted_done(&in);
	}
}

static void events_have_the_names_and_core_types_that_perf_gave_them(void **state)
{
	str_auto struct str bytes = {0};
	struct counted in;

	(void)state;
	recording_load("q_perf.data.hybrid_topology", &bytes);
	counted_import(&in, bytes.at, bytes.len);
	assert_non_null(strstr(in.told.at, "event 1 cycles:ppp cpu_core\n"));
	assert_non_null(strstr(in.told.at, "event 2 cycles:ppp cpu_atom\n"));
	counted_done(&in);
}

/* Exact and in bytes behind the end of the file, so that ASan sees a step too far. */
static uint64_t import_cut(const char *bytes, size_t len)
{
	mem_auto char *cut = mem_copy_text(bytes, len);
	struct counted in;
	uint64_t samples;

	cut = mem_resize(cut, 1, len + !len);
	counted_import(&in, cut, len);
	samples = in.samples;
	if (in.r < 0) {
		assert_int_equal(in.r, -EINVAL);
		assert_true(*in.err.text && *in.err.hint);
		assert_int_equal(samples, 0);
	} else if (*in.report.damage) {
		assert_non_null(strstr(in.notes.at, "import-damaged"));
	}
	counted_done(&in);
	return samples;
}

/* Small recordings in pipe mode, made up. */

static void made_u64(struct str *out, uint64_t value)
{
	str_add_bytes(out, (const char *)&value, sizeof(value));
}

static void made_head(struct str *out, uint32_t type, uint16_t misc, size_t size)
{
	uint16_t rest[2] = {misc, (uint16_t)size};

	str_add_bytes(out, (const char *)&type, sizeof(type));
	str_add_bytes(out, (const char *)rest, sizeof(rest));
}

static void made_attr(
	struct str *out, const struct perf_event_attr *attr, size_t attr_len, uint64_t id)
{
	struct perf_event_attr copy = *attr;
	str_auto struct str body = {0};

	copy.size = (uint32_t)attr_len;
	str_add_bytes(
		&body, (const char *)&copy, attr_len < sizeof(copy) ? attr_len : sizeof(copy));
	while (body.len < attr_len)
		str_add_char(&body, '\x5a'); /* a field of the future */
	made_u64(&body, id);
	made_head(out, 64, 0, 8 + body.len);
	str_add_bytes(out, body.at, body.len);
}

static void made_start(struct str *out)
{
	str_add_bytes(out, "PERFILE2", 8);
	made_u64(out, 16);
}

static void made_sample(struct str *out, const uint64_t *words, size_t count)
{
	made_head(out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + 8 * count);
	str_add_bytes(out, (const char *)words, 8 * count);
}

enum { MADE_SAMPLES = 2000, MADE_ROUND = 16 };

/* Samples in rounds, as perf record sends them through a pipe; where the first one begins. */
static size_t made_recording(struct str *out)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.sample_period = 1,
	};
	size_t first;

	made_start(out);
	made_attr(out, &attr, sizeof(attr), 5);
	first = out->len;
	for (uint64_t i = 0; i < MADE_SAMPLES; i++) {
		made_sample(out, (const uint64_t[]){5, 0x1000 + i, 1, 1000 + i, 2, 0x10, 0x20}, 7);
		if (i % MADE_ROUND == MADE_ROUND - 1)
			made_head(out, 68, 0, 8);
	}
	return first;
}

/* Cut after each kilobyte; how many samples the longest part has. */
static uint64_t import_all_cuts(const struct str *bytes)
{
	uint64_t samples = 0;

	for (size_t len = 0; len < bytes->len; len += 1024) {
		uint64_t now = import_cut(bytes->at, len);

		assert_true(now >= samples);
		samples = now;
	}
	return samples;
}

static void a_recording_cut_at_any_kilobyte_keeps_what_came_before(void **state)
{
	str_auto struct str made = {0};
	uint64_t samples;

	(void)state;
	made_recording(&made);
	samples = import_all_cuts(&made);
	assert_true(samples <= MADE_SAMPLES && samples > MADE_SAMPLES - 4 * MADE_ROUND);
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++) {
		str_auto struct str bytes = {0};

		if (!recording_read(recordings[i].name, &bytes))
			continue;
		samples = import_all_cuts(&bytes);
		/* The last kilobyte may hold a round's end, compressed data or features. */
		assert_true(samples <= recordings[i].samples);
		if (recordings[i].samples > 300)
			assert_true(samples > recordings[i].samples * 9 / 10);
	}
}

/* Refused for a record of no size at this byte. */
static void assert_zero_size_refused(const struct str *bytes, size_t at)
{
	char words[128];
	struct counted in;

	snprintf(words, sizeof(words),
		"t (perf-data) has nothing to import: the record at byte %zu claims a size of 0 bytes",
		at);
	counted_import(&in, bytes->at, bytes->len);
	assert_int_equal(in.r, -EINVAL);
	assert_string_equal(in.err.text, words);
	counted_done(&in);
}

static void a_record_of_size_zero_is_the_end_and_nothing_before_it_is_an_error(void **state)
{
	str_auto struct str made = {0}, bytes = {0};
	size_t first = made_recording(&made);

	(void)state;
	memset(made.at + first + 6, 0, 2);
	assert_zero_size_refused(&made, first);
	if (recording_read("q_perf.data.piped.corrupted.zero_size_sample-3.2", &bytes))
		assert_zero_size_refused(&bytes, 49104);
}

static void an_attr_of_any_size_is_read_as_far_as_it_is_known(void **state)
{
	static const size_t sizes[] = {64, 72, 80, 96, 112, 120, 128, 136, 144, 512};
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_period = 7,
		.exclude_kernel = 1,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		str_auto struct str out = {0};
		struct counted in;

		made_start(&out);
		made_attr(&out, &attr, sizes[i], 5);
		made_sample(&out, (const uint64_t[]){0x1234, 1, 1000}, 3);
		counted_import(&in, out.at, out.len);
		assert_int_equal(in.r, 0);
		assert_int_equal(in.samples, 1);
		assert_int_equal(in.period, 7);
		assert_string_equal(in.told.at, "event 1 cpu-clock:u \n");
		counted_done(&in);
	}
}

static void samples_are_sorted_within_rounds_and_found_by_their_identifier(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
	};
	static const uint64_t samples[][3] = {{5, 40, 1}, {6, 20, 1}, {5, 30, 1}, {9, 35, 1}};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 64, 5);
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	made_attr(&out, &attr, 64, 6);
	for (size_t i = 0; i < 4; i++)
		made_sample(&out, samples[i], 3);
	made_head(&out, 68, 0, 8);
	made_sample(&out, (const uint64_t[]){6, 10, 100}, 3);
	made_head(&out, 68, 0, 8);
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 4);
	assert_int_equal(in.backwards, 0);
	assert_int_equal(in.of_event[1], 2);
	assert_int_equal(in.of_event[2], 2);
	assert_int_equal(in.report.skipped[IMPORT_SAMPLE_NO_EVENT], 1);
	assert_non_null(strstr(in.notes.at, "import-records-skipped"));
	counted_done(&in);
}

static void a_group_read_and_a_branch_index_stand_before_what_follows(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK |
			       PERF_SAMPLE_WEIGHT_STRUCT | PERF_SAMPLE_DATA_SRC,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | 1 << 17,
	};
	/* tid; 2 counts, time, {value, id} twice; chain of 1; 4 bytes raw; 2 branches and the
	 * index, one of them empty: mispredicted, 9 cycles, conditional, wrong path; weight; load.
	 */
	static const uint64_t words[] = {1, 2, 99, 10, 5, 11, 6, 1, 0x1111, 4, 2, 0, 0xaa, 0xbb,
		1 | 9 << 4 | 1 << 20 | 1 << 24, 0, 0, 0, UINT64_C(0x300000002), 2};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 128, 5);
	made_sample(&out, words, sizeof(words) / sizeof(*words));
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 1);
	assert_int_equal(in.chain, 1);
	assert_int_equal(in.accesses, 1);
	assert_non_null(strstr(in.told.at, "x10: aa>bb:1101:9\n"));
	counted_done(&in);
}

static void a_sample_that_reads_its_group_is_one_of_each_event_that_counted(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_READ |
			       PERF_SAMPLE_BRANCH_STACK,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.branch_sample_type = PERF_SAMPLE_BRANCH_ANY,
	};
	/* identifier, tid; 2 counts: value and id; a branch.  Between them 5 counts, 6 does not. */
	static const uint64_t words[][10] = {{5, 1, 2, 10, 5, 700, 6, 1, 0xaa, 0xbb},
		{5, 1, 2, 25, 5, 700, 6, 1, 0xaa, 0xbb}, {5, 1, 2, 26, 5, 703, 9, 1, 0xaa, 0xbb}};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 128, 5);
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	made_attr(&out, &attr, 128, 6);
	for (size_t i = 0; i < 3; i++) {
		made_head(
			&out, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 8 + sizeof(words[i]) + 8);
		str_add_bytes(&out, (const char *)words[i], sizeof(words[i]));
		made_u64(&out, 0);
	}
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.of_event[1], 3);
	assert_int_equal(in.of_event[2], 1); /* 700 in the first */
	assert_int_equal(in.branches, 3);    /* of the event that was sampled */
	assert_non_null(strstr(in.told.at, "sample 1 1/0 0 x10:"));
	assert_non_null(strstr(in.told.at, "sample 1 1/0 0 x15:"));
	assert_non_null(strstr(in.told.at, "sample 1 1/0 0 x1:"));
	assert_int_equal(in.report.skipped[IMPORT_SAMPLE_NO_EVENT], 1); /* 9 */
	counted_done(&in);
}

/* perf 6.12 on Linux 6.12 inherits groups that samples read: each thread counts for itself. */
static void counts_of_a_group_are_of_the_thread_where_threads_inherit_it(void **state)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.inherit = 1,
	};
	/* pid and tid; 1 count: value and id.  The last is less than thread 2 had. */
	static const struct {
		uint32_t pid, tid;
		uint64_t count, value, id;
	} samples[] = {{1, 1, 1, 1000, 5}, {1, 2, 1, 10, 5}, {1, 1, 1, 1300, 5}, {1, 2, 1, 14, 5},
		{1, 2, 1, 3, 5}};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 128, 5);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++)
		made_sample(&out, (const uint64_t *)&samples[i], sizeof(samples[i]) / 8);
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 4);
	assert_int_equal(in.period, 1000 + 10 + 300 + 4);
	assert_int_equal(in.report.skipped[IMPORT_SAMPLE_MALFORMED], 1);
	counted_done(&in);
}

static void a_sample_whose_parts_do_not_fit_is_counted(void **state)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN};
	static const uint64_t chains[] = {2, 0x2000, 1 << 20, UINT64_MAX, UINT64_MAX / 8};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 64, 5);
	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++)
		made_sample(&out, (const uint64_t[]){0x1, chains[i], 0x2}, 3);
	made_sample(&out, (const uint64_t[]){0x1, 1, 0x2}, 3);
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 1);
	assert_int_equal(in.report.skipped[IMPORT_SAMPLE_MALFORMED], 5);
	counted_done(&in);
}

static void hardware_traces_are_stepped_over_and_counted(void **state)
{
	struct perf_event_attr attr = {.sample_type = PERF_SAMPLE_IP};
	str_auto struct str out = {0};
	struct counted in;

	(void)state;
	made_start(&out);
	made_attr(&out, &attr, 64, 5);
	made_head(&out, 71, 0, 48);
	made_u64(&out, 1000); /* behind the record */
	str_add_repeat(&out, '\0', 32 + 1000);
	made_head(&out, PERF_RECORD_AUX, 0, 32);
	str_add_repeat(&out, '\0', 24);
	made_sample(&out, (const uint64_t[]){0x1}, 1);
	counted_import(&in, out.at, out.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 1);
	assert_int_equal(in.report.skipped[IMPORT_AUX], 2);
	counted_done(&in);
}

static void what_cannot_be_read_at_all_says_why(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		const char *words;
	} cases[] = {
		{"PERFILE2", 8, "its header is incomplete"},
		{"2ELIFREP\0\0\0\0\0\0\0\x68", 16, "it was recorded on a big-endian machine"},
		{"PERFFILE\0\0\0\0\0\0\0\x68", 16, "it was written by a perf older than Linux 3.0"},
		{"PERFILE2\x10\0\0\0\0\0\0\0", 16, "it describes no events"},
		{"PERFILE2\x10\0\0\0\0\0\0\0\x09", 17, "it ends inside a record"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct counted in;

		counted_import(&in, cases[i].bytes, cases[i].len);
		assert_int_equal(in.r, -EINVAL);
		assert_non_null(strstr(in.err.text, cases[i].words));
		assert_true(*in.err.hint);
		counted_done(&in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_recording_gives_the_samples_that_perf_counts),
		cmocka_unit_test(events_have_the_names_and_core_types_that_perf_gave_them),
		cmocka_unit_test(a_recording_cut_at_any_kilobyte_keeps_what_came_before),
		cmocka_unit_test(
			a_record_of_size_zero_is_the_end_and_nothing_before_it_is_an_error),
		cmocka_unit_test(an_attr_of_any_size_is_read_as_far_as_it_is_known),
		cmocka_unit_test(samples_are_sorted_within_rounds_and_found_by_their_identifier),
		cmocka_unit_test(a_group_read_and_a_branch_index_stand_before_what_follows),
		cmocka_unit_test(a_sample_that_reads_its_group_is_one_of_each_event_that_counted),
		cmocka_unit_test(counts_of_a_group_are_of_the_thread_where_threads_inherit_it),
		cmocka_unit_test(a_sample_whose_parts_do_not_fit_is_counted),
		cmocka_unit_test(hardware_traces_are_stepped_over_and_counted),
		cmocka_unit_test(what_cannot_be_read_at_all_says_why),
	};

	return cmocka_run_group_tests_name("import_profile", tests, NULL, NULL);
}
