/* events_test.c - a program's own events: both spellings, what is left out, how they are ranked, and
 * how exact the accumulators of assay_spans.h are. */
#include <errno.h>
#include <math.h>

#include "../../include/assay_spans.h"
#include "analyze/spans.h"
#include "import_sink.h"
#include "ingest/ingest.h"
#include "model/run.h"

#define EVENT(name) "{\"event\":\"perf.profile." name "\""

struct taken {
	struct run *run;
	struct arena arena;
	struct import_report report;
	struct err err;
	int r;
};

static void take(struct taken *in, const char *text)
{
	struct ingest ingest;
	struct wire_sink sink;

	*in = (struct taken){.run = run_open()};
	ingest = (struct ingest){.run = in->run};
	sink = ingest_sink(&ingest);
	in->r = import_bytes(text, strlen(text), "t", &sink, &in->report, &in->err);
	assert_int_equal(ingest.malformed, 0);
	ingest_done(&ingest);
}

static void taken_done(struct taken *in)
{
	run_close(in->run);
	arena_done(&in->arena);
}

static bool has_note(const struct run *run, const char *code)
{
	vec_foreach (const struct note_row, note, &run->notes)
		if (strcmp(run_text(run, note->code), code) == 0)
			return true;
	return false;
}

static void both_spellings_say_the_same(void **state)
{
	static const char *const forms[] = {
		EVENT("run_start") ",\"run_id\":\"1\",\"scenario\":\"s\",\"toolchain_version\":\"v\","
				   "\"hardware\":\"h\"}\n" EVENT(
			"span_summary") ",\"span\":\"parse\",\"cumulative_us\":1234.5,\"count\":10,"
					"\"p50_us\":100,\"p95_us\":200.25,\"p99_us\":220,"
					"\"p99_9_us\":230,\"max_us\":240}\n" EVENT("run_complete") "}\n",
		EVENT("run_start") ",\"run_id\":\"1\",\"scenario\":\"s\",\"rust_version\":\"v\","
				   "\"hardware\":\"h\"}\n" EVENT(
			"span_summary") ",\"span_name\":\"parse\",\"cumulative\":1234.5,\"count\":10,"
					"\"p50\":100,\"p95\":200.25,\"p99\":220,"
					"\"p99_9\":230,\"max\":240}\r\n" EVENT("run_complete") "}",
	};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const struct span_row *span;
		struct taken in;

		take(&in, forms[i]);
		assert_int_equal(in.r, 0);
		assert_int_equal(in.report.holds, IMPORT_SPANS);
		assert_string_equal(in.report.kind, "events");
		assert_int_equal(in.report.lines, 3);
		assert_int_equal(in.run->spans.count, 1);
		assert_int_equal(in.run->notes.count, 0);
		assert_int_equal(in.run->fields.count, 4);
		assert_string_equal(run_text(in.run, in.run->fields.at[2].value), "v");
		span = in.run->spans.at;
		assert_string_equal(run_text(in.run, span->name), "parse");
		assert_string_equal(run_text(in.run, span->category), "CPU");
		assert_string_equal(run_text(in.run, span->evidence), "-");
		assert_int_equal(span->count, 10);
		assert_true(span->total_ns == 1234500 && span->p50_ns == 100000 &&
			    span->p95_ns == 200250 && span->p99_ns == 220000 &&
			    span->p999_ns == 230000 && span->max_ns == 240000);
		taken_done(&in);
	}
}

static void what_was_not_said_is_unknown(void **state)
{
	struct taken in;

	(void)state;
	take(&in, EVENT("span_summary") ",\"span\":\"a\",\"count\":3,\"category\":\"i/o\"}\n");
	assert_int_equal(in.r, 0);
	assert_true(isnan(in.run->spans.at[0].total_ns) && isnan(in.run->spans.at[0].max_ns));
	assert_string_equal(run_text(in.run, in.run->spans.at[0].category), "IO");
	taken_done(&in);
}

static void claims_and_numbers_are_kept(void **state)
{
	struct taken in;

	(void)state;
	take(&in, EVENT("hypothesis_evaluated") ",\"name\":\"lock_thrash\",\"verdict\":\"rejects\","
						"\"evidence\":\"none\\nat all\"}\n" EVENT(
			  "scaling_law") ",\"axis\":\"users\",\"sizes\":[1,10],\"p95s\":[2,30],"
					 "\"verdict\":\"linear\"}\n" EVENT(
			  "sample_collected") ",\"sample_count\":7,\"duration_sec\":1.5}\n" EVENT(
			  "run_complete") ",\"duration_sec\":2,\"artifacts_written\":[\"a\",\"b\"]}\n");
	assert_int_equal(in.r, 0);
	assert_int_equal(in.run->claims.count, 2);
	assert_string_equal(run_text(in.run, in.run->claims.at[0].evidence), "none at all");
	assert_string_equal(run_text(in.run, in.run->claims.at[1].name), "scaling with users");
	assert_string_equal(
		run_text(in.run, in.run->claims.at[1].evidence), "p95 2 at 1, p95 30 at 10");
	assert_int_equal(in.run->facts.count, 4);
	assert_true(in.run->facts.at[3].value == 2);
	taken_done(&in);
}

static void blank_lines_and_comments_are_skipped_and_bad_lines_counted(void **state)
{
	struct taken in;

	(void)state;
	take(&in, "# a log\n\nhello\n" EVENT("span_summary") ",\"span\":\"a\",\"count\":1}\n"
		"{\"event\":\"other\"}\n"			       /* foreign */
		"{\"event\":\n"					       /* malformed */
		EVENT("span_summary") ",\"count\":1}\n"		       /* malformed: no name */
		EVENT("span_summary") ",\"span\":\"b\"}\n"	       /* malformed: no count */
		EVENT("span_summary") ",\"span\":\"c\",\"count\":-1}\n" /* range */
		EVENT("span_summary") ",\"span\":\"d\",\"count\":1,\"p50\":-3}\n" /* range */
		EVENT("hypothesis_evaluated") ",\"name\":\"x\",\"verdict\":\"maybe\"}\n" /* malf. */
		EVENT("span_summary") ",\"spa");
	assert_int_equal(in.r, 0);
	assert_int_equal(in.run->spans.count, 1);
	assert_int_equal(in.report.lines, 10);
	assert_int_equal(in.report.skipped[IMPORT_FOREIGN], 2);
	assert_int_equal(in.report.skipped[IMPORT_MALFORMED], 4);
	assert_int_equal(in.report.skipped[IMPORT_RANGE], 2);
	assert_int_equal(in.report.skipped[IMPORT_TRUNCATED], 1);
	taken_done(&in);
}

static void a_run_without_an_end_and_a_second_run_are_told(void **state)
{
	struct taken in;

	(void)state;
	take(&in, EVENT("run_start") "}\n" EVENT("run_start") "}\n" EVENT("run_complete") "}\n");
	assert_int_equal(in.r, 0);
	assert_true(has_note(in.run, "events-several-runs"));
	assert_true(has_note(in.run, "events-incomplete"));
	taken_done(&in);
}

static void spans_are_ranked_by_each_key_with_the_unknown_last(void **state)
{
	static const char text[] = EVENT("span_summary") ",\"span\":\"often\",\"count\":9,"
							 "\"cumulative_us\":1,\"p95_us\":2}\n"
		EVENT("span_summary") ",\"span\":\"long\",\"count\":1,\"cumulative_us\":3}\n"
		EVENT("span_summary") ",\"span\":\"unknown\",\"count\":2}\n";
	static const char *const first[] = {"long", "often", "often"};
	static const char *const last[] = {"unknown", "long", "unknown"};
	struct taken in;

	(void)state;
	take(&in, text);
	for (unsigned by = SPANS_BY_CUMULATIVE; by <= SPANS_BY_P95; by++) {
		struct spans_view view;

		spans_view_make(in.run, by, &in.arena, &view);
		assert_int_equal(view.span_count, 3);
		assert_string_equal(view.spans[0].name, first[by]);
		assert_string_equal(view.spans[2].name, last[by]);
	}
	taken_done(&in);
}

static void a_bucket_holds_its_times_within_a_32nd(void **state)
{
	unsigned before = 0;

	(void)state;
	for (unsigned long long ns = 0; ns < 1ULL << 40; ns += 1 + ns / 7) {
		unsigned bucket = assay_bucket_of(ns);
		double off = fabs((double)assay_bucket_ns(bucket) - (double)ns);

		assert_true(bucket >= before && bucket < ASSAY_BUCKETS);
		assert_true(off <= (double)ns / 32 + 0.5);
		before = bucket;
	}
	assert_int_equal(assay_bucket_of(~0ULL), ASSAY_BUCKETS - 1);
}

static void a_span_knows_its_sum_and_percentiles(void **state)
{
	static struct assay_span span = {.name = "a", .category = "CPU"}, again = {.name = "a"};
	struct assay_span sum = {0};

	(void)state;
	for (unsigned i = 1; i <= 500; i++) {
		assay_span_add(&span, 1000ULL * i);
		assay_span_add(&again, 1000ULL * (i + 500));
	}
	assert_int_equal(assay_span_sum(&span, &sum) + assay_span_sum(&again, &sum), 1000);
	assert_int_equal(sum.total_ns, 500500000);
	assert_int_equal(sum.max_ns, 1000000);
	assert_true(fabs((double)assay_span_percentile(&sum, 1000, 500) - 500e3) < 500e3 / 32);
	assert_true(fabs((double)assay_span_percentile(&sum, 1000, 950) - 950e3) < 950e3 / 32);
	assert_true(assay_span_percentile(&sum, 1000, 1000) <= sum.max_ns);
	assert_true(assay_spans == &again && assay_span_is_repeated(&again));
	assert_false(assay_span_is_repeated(&span));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_spellings_say_the_same),
		cmocka_unit_test(what_was_not_said_is_unknown),
		cmocka_unit_test(claims_and_numbers_are_kept),
		cmocka_unit_test(blank_lines_and_comments_are_skipped_and_bad_lines_counted),
		cmocka_unit_test(a_run_without_an_end_and_a_second_run_are_told),
		cmocka_unit_test(spans_are_ranked_by_each_key_with_the_unknown_last),
		cmocka_unit_test(a_bucket_holds_its_times_within_a_32nd),
		cmocka_unit_test(a_span_knows_its_sum_and_percentiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
