/* import_text_test.c - profiles that come with names: perf script, folded, callgrind, pprof. */
#include <errno.h>
#include <stdio.h>
#include <zlib.h>

#include "import_sink.h"

static void told(const char *text, const char *kind, const char *want)
{
	struct counted in;

	counted_import(&in, text, strlen(text));
	assert_int_equal(in.r, 0);
	assert_string_equal(in.report.kind, kind);
	assert_string_equal(str_text(&in.told), want);
	counted_done(&in);
}

static void a_chain_of_perf_script_is_one_sample_with_its_inlined_frames(void **state)
{
	(void)state;
	told("# cmdline : perf record\n"
	     "my prog 2  19709/19710 [003]  4481.898129:    1001001 cpu-clock:ppp: \n"
	     "\t            1179 std::f(int (*)(int))+0x19 (/tmp/w (deleted))\n"
	     "\t            105a helper (inlined)\n"
	     "\t            105a main+0x1a (/tmp/w)\n"
	     "\tffffffff81000000 [unknown] ([kernel.kallsyms])\n"
	     "\t           27304 __libc_start_main_impl+0x84 (inlined)\n"
	     "\t            1090 _start+0x20 (/tmp/w)\n"
	     "\n"
	     "my prog 2  19709/19710 [003]  4481.900000:          5 sched:sched_switch: a=1 b:2\n"
	     "\n",
		"perf-script",
		"event 1 cpu-clock:ppp \n"
		"task 19709/19710 my prog 2\n"
		"sample 1 19709/19710 4481898129000 x1001001: std::f(int (*)(int)) (/tmp/w "
		"(deleted)) < helper (/tmp/w) in main (/tmp/w) < ? ([kernel.kallsyms]) < "
		"__libc_start_main_impl < _start (/tmp/w)\n"
		"event 2 sched:sched_switch \n");
}

static void fields_of_perf_script_may_be_left_out(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		/* no chain, a comm that looks like an address */
		{"              dd 19726  4484.094909:   10101010  cpu-clock:      5618f2d4d179 "
		 "leaf+0x19 (/tmp/w)\n",
			"event 1 cpu-clock \ntask 19726/19726 dd\n"
			"sample 1 19726/19726 4484094909000 x10101010: leaf (/tmp/w)\n"},
		{"w 19726      5618f2d4d179 leaf\n",
			"event 1 samples \ntask 19726/19726 w\nsample 1 19726/19726 0 x1: leaf\n"},
		{"19726      5618f2d4d179 leaf\n",
			"event 1 samples \nsample 1 19726/19726 0 x1: leaf\n"},
		{"\n\t            1179\n\t            105a\n\n\t 1179\n",
			"event 1 samples \nsample 1 0/0 0 x1: ? < ?\nsample 1 0/0 0 x1: ?\n"},
		{"w 1/2  3.000000001: cycles: \n\t  1179 leaf (/tmp/w)\n  w.c:3\n\n",
			"event 1 cycles \ntask 1/2 w\n"
			"sample 1 1/2 3000000001 x1: leaf (/tmp/w) w.c:3\n"},
		{"w 1/2  3.5: cycles: \n\t  1179 leaf (/tmp/w)\n  w[1179]\n  ??:0\n  :0\n\n",
			"event 1 cycles \ntask 1/2 w\nsample 1 1/2 3500000000 x1: leaf (/tmp/w)\n"},
		{"w 1  3.5: PERF_RECORD_COMM: w:1/1\nw 1  4.5: cycles: 7f0012 f (/b)\n",
			"event 1 cycles \ntask 1/1 w\nsample 1 1/1 4500000000 x1: f (/b)\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct counted in;

		told(cases[i].text, "perf-script", cases[i].want);
		counted_import(&in, cases[i].text, strlen(cases[i].text));
		assert_int_equal(in.report.skipped[IMPORT_FOREIGN], 0);
		counted_done(&in);
	}
}

static void branches_of_perf_script_keep_their_flags(void **state)
{
	(void)state;
	told(" 5805  ffffffffb42071f2 0xb4208e16/0xb42071e3/P/-/-/4/  0x10(/lib/a)/0x20/M/X/A/7/ "
	     " 0x0/0x0/P/-/-/0/ \n",
		"perf-script",
		"event 1 samples \nsample 1 5805/5805 0 x1: b4208e16>b42071e3:2:4 10>20:d:7\n");
	told("16984  0x72e342e5f4/0x72e36192d0/M/-/-/11/RET/-\n"
	     "16984  0x72e7b8b3b4/0x72e7b8b3b8/PN/-/-/11/COND/-\n",
		"perf-script",
		"event 1 samples \nsample 1 16984/16984 0 x1: 72e342e5f4>72e36192d0:601:11\n"
		"sample 1 16984/16984 0 x1: 72e7b8b3b4>72e7b8b3b8:112:11\n");
	told("7  0x10/0x20/MN/-/-/3/COND/SPEC_WRONG_PATH 0x30/0x40/-/-/-/0//- \n", "perf-script",
		"event 1 samples \nsample 1 7/7 0 x1: 10>20:1111:3 30>40:0:0\n");
}

static void folded_stacks_are_read_leaf_first_with_their_marks(void **state)
{
	static const char other[] = "a;b 1\nnoise\na;b 2\n";
	struct counted in;

	(void)state;
	told("app;main;std::sort\\;x;do_syscall_[k] 12\napp;main;[unknown] 3\n"
	     "app;outer;inner_[i] 2\nalone 1\n",
		"folded",
		"event 1 samples \n"
		"sample 1 0/0 0 x12: do_syscall ([kernel]) < std::sort;x < main < app\n"
		"sample 1 0/0 0 x3: ? < main < app\n"
		"sample 1 0/0 0 x2: inner in outer < app\n"
		"sample 1 0/0 0 x1: alone\n");
	counted_import(&in, other, sizeof(other) - 1);
	assert_int_equal(in.r, -EINVAL); /* one line of something else among the first is enough */
	counted_done(&in);
}

static void folded_lines_that_cannot_be_used_are_counted(void **state)
{
	str_auto struct str text = {0};
	struct counted in;

	(void)state;
	for (unsigned i = 0; i < 70; i++)
		str_add(&text, "a;b 1\n");
	str_add(&text, "a;b 99999999999999999999\na;b 0\nnoise\na;b");
	counted_import(&in, text.at, text.len);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 70);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 1);
	assert_int_equal(in.report.skipped[IMPORT_SAMPLE_EMPTY], 1);
	assert_int_equal(in.report.skipped[IMPORT_MALFORMED], 1);
	assert_int_equal(in.report.skipped[IMPORT_TRUNCATED], 1);
	counted_done(&in);
}

static void lines_of_callgrind_cost_what_they_cost_themselves(void **state)
{
	(void)state;
	told("# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\ncmd:  ./w\n"
	     "positions: line\nevents: Ir Dr\n\n"
	     "ob=(1) /tmp/w\nfl=(1) w.c\nfn=(1) main\n10 5 2\ncob=(2) /lib/c.so\ncfn=(2) leaf\n"
	     "calls=3 20\n+1 900 90\n+1 7\n\nfl=(1)\nfn=(2)\n20 900 90\nfi=(2) in.h\n3 1\n* 0 4\n"
	     "fn=(3) ???\n-1 6\n",
		"callgrind",
		"event 1 Ir \nevent 2 Dr \n"
		"sample 1 0/0 0 x5: main (/tmp/w) w.c:10\n"
		"sample 1 0/0 0 x7: main (/tmp/w) w.c:12\n"
		"sample 1 0/0 0 x900: leaf (/tmp/w) w.c:20\n"
		"sample 1 0/0 0 x1: leaf (/tmp/w) in.h:3\n"
		"sample 1 0/0 0 x6: ? (/tmp/w) in.h:2\n"
		"count 1 919\ncount 2 96\n");
	told("desc: I1 cache: 32768 B\ncmd: ./w\nevents: Ir\nfl=/a/w.c\nfn=main\n0 4\n7 2\n"
	     "summary: 6\n",
		"callgrind",
		"event 1 Ir \nsample 1 0/0 0 x4: main /a/w.c:0\nsample 1 0/0 0 x2: main /a/w.c:7\n"
		"count 1 6\n");
}

/* Two types; function 1 inlined into 2 at location 1, location 2 without lines; values 3 and 30. */
static const char profile[] =
	"\x0a\x04\x08\x01\x10\x02"
	"\x0a\x04\x08\x03\x10\x04"
	"\x12\x08\x0a\x02\x01\x02\x12\x02\x03\x1e"
	"\x12\x08\x08\x02\x10\x01\x10\x80\x01\x00" /* not packed, cut short by its length */
	"\x1a\x04\x08\x01\x28\x05"
	"\x22\x10\x08\x01\x10\x01\x22\x04\x08\x01\x10\x0c\x22\x04\x08\x02\x10\x22"
	"\x22\x06\x08\x02\x10\x01\x18\x7f"
	"\x2a\x06\x08\x01\x10\x06\x20\x08"
	"\x2a\x04\x08\x02\x10\x07"
	"\x32\x00\x32\x07samples\x32\x05"
	"count\x32\x03"
	"cpu\x32\x0bnanoseconds"
	"\x32\x06/tmp/w\x32\x04leaf\x32\x04main\x32\x03w.c";

static const char profile_told[] =
	"event 1 cpu ns\n"
	"sample 1 0/0 0 x30: leaf (/tmp/w) w.c:12 in main (/tmp/w) < ? (/tmp/w)\n";

static void a_profile_of_pprof_is_read_raw_and_packed(void **state)
{
	unsigned char packed[1024];
	z_stream stream = {.next_in = (unsigned char *)(uintptr_t)profile,
		.avail_in = sizeof(profile) - 1,
		.next_out = packed,
		.avail_out = sizeof(packed)};
	struct counted in;

	(void)state;
	counted_import(&in, profile, sizeof(profile) - 1);
	assert_int_equal(in.r, 0);
	assert_string_equal(in.report.kind, "pprof");
	assert_string_equal(in.told.at, profile_told);
	assert_string_equal(in.said.at,
		"each sample has several values: imported cpu, not samples\n"
		"not used: 1 malformed sample\n");
	counted_done(&in);

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, 0), Z_OK);
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	counted_import(&in, (const char *)packed, stream.total_out);
	assert_int_equal(in.r, 0);
	assert_string_equal(in.told.at, profile_told);
	assert_string_equal(in.report.damage, "");
	counted_done(&in);

	counted_import(&in, (const char *)packed, stream.total_out - 9);
	if (in.r == 0)
		assert_string_equal(in.report.damage, "its compressed data ends early");
	counted_done(&in);
}

static void a_profile_of_pprof_that_is_cut_says_where(void **state)
{
	static const char field[] = "\x32\x06/tmp/w";
	const char *at = memmem(profile, sizeof(profile), field, sizeof(field) - 1);
	size_t start = (size_t)(at - profile);
	char want[80];
	struct counted in;

	(void)state;
	counted_import(&in, profile, start + 3);
	assert_int_equal(in.r, 0);
	assert_int_equal(in.samples, 1);
	snprintf(want, sizeof(want), "the message ends at byte %zu of %zu", start, start + 3);
	assert_string_equal(in.report.damage, want);
	counted_done(&in);
}

static void what_was_not_used_is_said_as_one_or_many(void **state)
{
	str_auto struct str text = {0};
	struct counted in;

	(void)state;
	for (unsigned i = 0; i < 70; i++)
		str_add(&text, "a;b 1\n");
	str_add(&text, "noise\na;b");
	counted_import(&in, text.at, text.len);
	assert_string_equal(str_text(&in.said),
		"2 of 72 lines not used: 1 malformed line, 1 line cut off "
		"at the end of the file\n");
	counted_done(&in);
	text.len -= strlen("noise\na;b");
	str_add(&text, "noise\nnoise\n");
	counted_import(&in, text.at, text.len);
	assert_string_equal(str_text(&in.said), "2 of 72 lines not used: 2 malformed lines\n");
	counted_done(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_of_perf_script_is_one_sample_with_its_inlined_frames),
		cmocka_unit_test(fields_of_perf_script_may_be_left_out),
		cmocka_unit_test(branches_of_perf_script_keep_their_flags),
		cmocka_unit_test(folded_stacks_are_read_leaf_first_with_their_marks),
		cmocka_unit_test(folded_lines_that_cannot_be_used_are_counted),
		cmocka_unit_test(lines_of_callgrind_cost_what_they_cost_themselves),
		cmocka_unit_test(a_profile_of_pprof_is_read_raw_and_packed),
		cmocka_unit_test(a_profile_of_pprof_that_is_cut_says_where),
		cmocka_unit_test(what_was_not_used_is_said_as_one_or_many),
	};

	return cmocka_run_group_tests_name("import_text", tests, NULL, NULL);
}
