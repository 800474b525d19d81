/* quality.c - the line above a report: what was sampled, and how far to trust it.  What nobody
 * measured is said to be so in words. */
#include <math.h>
#include <stdio.h>

#include "render/report.h"

char *weight_text(char *buf, size_t room, double weight, const char *unit)
{
	return str_equal(unit, "ns") ? paper_time(buf, room, weight)
				     : paper_count(buf, room, weight);
}

static void part(struct paper *paper, enum ink ink, const char *name, double share)
{
	paper_add(paper, ", %s ", name);
	if (isnan(share))
		paper_ink(paper, INK_DIM, "not measured");
	else
		paper_ink(paper, ink, share > 0 && share < 0.0005 ? "%.2g %%" : "%.1f %%",
			share * 100);
}

static enum ink ink_above(double share, double limit)
{
	return share > limit ? INK_WARN : INK_PLAIN;
}

void quality_line(struct paper *paper, const struct profile_quality *quality)
{
	char count[32], lost[32];

	paper_ink(
		paper, INK_BOLD, "%s", paper_count(count, sizeof(count), (double)quality->samples));
	paper_add(paper, " samples of %s%s", quality->event,
		quality->precise ? "" : " (not precise)");
	if (!isnan(quality->rate_hz))
		paper_add(paper, " at %.0f/s", quality->rate_hz);
	if (isnan(quality->lost_samples))
		paper_add(paper, ", lost not measured");
	else
		paper_add(
			paper, ", lost %s", paper_count(lost, sizeof(lost), quality->lost_samples));
	if (quality->lost_records > 0)
		paper_add(paper, " and %.0f records", quality->lost_records);
	part(paper, ink_above(quality->truncated_share, 0.05), "truncated",
		quality->truncated_share);
	part(paper, ink_above(quality->broken_share, 0.05), "broken", quality->broken_share);
	part(paper, ink_above(quality->unknown_share, 0.1), "unknown", quality->unknown_share);
	part(paper, ink_above(quality->overhead_share, 0.05), "overhead", quality->overhead_share);
	paper_add(paper, "%s%s\n", quality->filtered ? ", filtered" : "",
		quality->partial ? ", partial run" : "");
}

/* A count that came as a double to be able to say "not measured". */
static void put_count(struct jsonw *w, const char *key, double value, const char *reason)
{
	if (isnan(value))
		jsonw_put_missing(w, key, reason);
	else
		jsonw_put_u64(w, key, (uint64_t)value);
}

static void events_json(struct jsonw *w, const struct profile_quality *quality)
{
	jsonw_put_text(w, "event", quality->event);
	jsonw_put_text(w, "event_note", *quality->event_note ? quality->event_note : NULL);
	jsonw_put_bool(w, "precise", quality->precise);
	jsonw_key(w, "other_events");
	jsonw_begin_array(w);
	for (uint32_t i = 0; i < quality->other_events.count; i++)
		jsonw_text(w, quality->other_events.at[i]);
	jsonw_end_array(w);
}

void quality_json(struct jsonw *w, const struct profile_quality *quality)
{
	static const char none[] = "no sample was let through";
	static const char uncounted[] = "whoever recorded this did not count it";
	static const char unmeasured[] = "whoever recorded this did not measure its CPU time";

	jsonw_key(w, "quality");
	jsonw_begin_object(w);
	jsonw_put_u64(w, "samples", quality->samples);
	jsonw_put_bool(w, "filtered", quality->filtered);
	events_json(w, quality);
	put_count(w, "lost_samples", quality->lost_samples, uncounted);
	put_count(w, "lost_records", quality->lost_records, uncounted);
	jsonw_put_number(w, "lost_share", quality->lost_share, uncounted);
	jsonw_put_number(w, "truncated_share", quality->truncated_share, none);
	jsonw_put_number(w, "broken_share", quality->broken_share, none);
	jsonw_put_number(w, "unknown_share", quality->unknown_share, none);
	jsonw_put_number(w, "kernel_share", quality->kernel_share, none);
	jsonw_put_number(w, "rate_hz", quality->rate_hz, "it takes two samples at different times");
	jsonw_put_u64(w, "span_ns", quality->span_ns);
	put_count(w, "recorder_cpu_ns", quality->recorder_cpu_ns, unmeasured);
	put_count(w, "target_cpu_ns", quality->target_cpu_ns, unmeasured);
	jsonw_put_number(w, "overhead_share", quality->overhead_share, unmeasured);
	jsonw_put_u64(w, "addresses", quality->locations);
	jsonw_put_u64(w, "unnamed_addresses", quality->unnamed_locations);
	jsonw_end_object(w);
}
