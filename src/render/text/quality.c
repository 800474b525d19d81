/* quality.c - the line above a report: what was sampled, and how far to trust it.  What nobody
 * measured is said to be so in words. */
#include "render/report.h"

#include <math.h>

char *weight_text(char *buf, size_t capacity, double weight, const char *unit)
{
	return str_equal(unit, "ns") ? paper_time(buf, capacity, weight)
				     : paper_count(buf, capacity, weight);
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
	paper_add(paper, " samples");
	if (profile_event_is_told(quality->event))
		paper_add(paper, " of %s%s", quality->event,
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
