/* assay_events.h - what the program says of itself, as JSON lines that `assay import` reads.
 *
 *     ASSAY_RUN_START("nightly");
 *     for (...) {
 *             ASSAY_SPAN("parse", "CPU");   // timed from here to the end of the block
 *             parse(&request);
 *     }
 *     ASSAY_HYPOTHESIS("lock_thrash", "rejects", "0 of 10000 locks were contended");
 *     ASSAY_RUN_COMPLETE(0);                // writes one line for each span
 *
 * The lines go to the file, or to the descriptor when it is a number, that ASSAY_EVENTS names.
 * Without it nothing is written and a span costs a load and a branch.  Header only, C and C++ with
 * gcc or clang, any number of threads: one write() per line.  Spans of one name are one.  Only
 * spans of the program or library that says ASSAY_RUN_COMPLETE are written; a crash before it loses
 * them.  The fields are described in docs/events.md. */
#ifndef ASSAY_EVENTS_H
#define ASSAY_EVENTS_H

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "assay_spans.h"

enum { ASSAY_LINE = 2048, ASSAY_WORD = 400 };

/* `,"key":"text"`, escaped; a long text is cut between two characters. */
static inline size_t assay_put_text(char *line, size_t at, const char *key, const char *text)
{
	size_t end;

	at += (size_t)snprintf(line + at, ASSAY_LINE - at, ",\"%s\":\"", key);
	end = at + ASSAY_WORD;
	for (; text && *text && (at < end || (*text & 0xc0) == 0x80) && at < end + 8; text++) {
		if (*text == '"' || *text == '\\')
			line[at++] = '\\';
		if (*text > 0 && *text < 0x20)
			at += (size_t)snprintf(line + at, 8, "\\u%04x", (unsigned)*text);
		else
			line[at++] = *text;
	}
	line[at++] = '"';
	return at;
}

/* `,"key":1.234`: nanoseconds as microseconds (1000) or seconds, in every locale the same. */
static inline size_t assay_put_time(
	char *line, size_t at, const char *key, unsigned long long ns, unsigned per)
{
	return at + (size_t)snprintf(line + at, ASSAY_LINE - at, ",\"%s\":%llu.%0*llu", key,
			    ns / per, per == 1000 ? 3 : 9, ns % per);
}

static inline size_t assay_put_count(
	char *line, size_t at, const char *key, unsigned long long value)
{
	return at + (size_t)snprintf(line + at, ASSAY_LINE - at, ",\"%s\":%llu", key, value);
}

static inline size_t assay_line_begin(char *line, const char *event)
{
	return (size_t)snprintf(line, ASSAY_LINE, "{\"event\":\"perf.profile.%s\"", event);
}

/* What cannot be written is lost: the program goes on. */
static inline void assay_line_end(char *line, size_t at)
{
	memcpy(line + at, "}\n", 2);
	if (write(__atomic_load_n(&assay_events_fd, __ATOMIC_ACQUIRE) - 1, line, at + 2) < 0)
		return;
}

static inline void assay_run_start(const char *scenario)
{
	char line[ASSAY_LINE], word[200];
	struct utsname machine;
	size_t at = assay_line_begin(line, "run_start");

	assay_events_began_ns = assay_now_ns(CLOCK_MONOTONIC);
	snprintf(word, sizeof(word), "%llx-%d", assay_now_ns(CLOCK_REALTIME), (int)getpid());
	at = assay_put_text(line, at, "run_id", word);
	at = assay_put_text(line, at, "scenario", scenario);
	at = assay_put_text(line, at, "toolchain_version", __VERSION__);
	snprintf(word, sizeof(word), "%s, %ld CPUs", uname(&machine) < 0 ? "?" : machine.machine,
		sysconf(_SC_NPROCESSORS_ONLN));
	assay_line_end(line, assay_put_text(line, at, "hardware", word));
}

/* sample_collected and run_complete: a number and the time since the start. */
static inline void assay_tell_count(const char *event, const char *key, unsigned long long value)
{
	char line[ASSAY_LINE];
	size_t at = assay_put_count(line, assay_line_begin(line, event), key, value);

	assay_line_end(line,
		assay_put_time(line, at, "duration_sec",
			assay_now_ns(CLOCK_MONOTONIC) - assay_events_began_ns, 1000000000u));
}

static inline void assay_hypothesis(const char *name, const char *verdict, const char *evidence)
{
	char line[ASSAY_LINE];
	size_t at = assay_line_begin(line, "hypothesis_evaluated");

	at = assay_put_text(line, at, "name", name);
	at = assay_put_text(line, at, "verdict", verdict);
	assay_line_end(line, assay_put_text(line, at, "evidence", evidence));
}

static inline void assay_run_complete(unsigned long long artifacts)
{
	for (const struct assay_span *span = __atomic_load_n(&assay_spans, __ATOMIC_ACQUIRE); span;
		span = span->next) {
		unsigned long long count = 0;
		struct assay_span sum;
		char line[ASSAY_LINE];
		size_t at = assay_line_begin(line, "span_summary");

		if (assay_span_is_repeated(span)) /* told with the oldest of its name */
			continue;
		memset(&sum, 0, sizeof(sum));
		for (const struct assay_span *one = assay_spans; one; one = one->next)
			if (strcmp(one->name, span->name) == 0)
				count += assay_span_sum(one, &sum);
		at = assay_put_text(line, at, "span", span->name);
		at = assay_put_text(line, at, "category", span->category);
		at = assay_put_count(line, at, "count", count);
		at = assay_put_time(line, at, "cumulative_us", sum.total_ns, 1000);
		at = assay_put_time(
			line, at, "p50_us", assay_span_percentile(&sum, count, 500), 1000);
		at = assay_put_time(
			line, at, "p95_us", assay_span_percentile(&sum, count, 950), 1000);
		at = assay_put_time(line, at, "p99", assay_span_percentile(&sum, count, 990), 1000);
		at = assay_put_time(
			line, at, "p99_9", assay_span_percentile(&sum, count, 999), 1000);
		assay_line_end(line, assay_put_time(line, at, "max", sum.max_ns, 1000));
	}
	assay_tell_count("run_complete", "artifacts_written", artifacts);
}

#define ASSAY_TELL(call)                                                                           \
	do {                                                                                       \
		if (assay_events_on())                                                             \
			call;                                                                      \
	} while (0)
#define ASSAY_RUN_START(scenario) ASSAY_TELL(assay_run_start(scenario))
#define ASSAY_SAMPLE_COLLECTED(count)                                                              \
	ASSAY_TELL(assay_tell_count("sample_collected", "sample_count", count))
#define ASSAY_HYPOTHESIS(name, verdict, evidence)                                                  \
	ASSAY_TELL(assay_hypothesis(name, verdict, evidence))
#define ASSAY_RUN_COMPLETE(artifacts) ASSAY_TELL(assay_run_complete(artifacts))

#endif
