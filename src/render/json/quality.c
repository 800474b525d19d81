/* quality.c - "quality" of report and diff: how many samples, of what, how good. */
#include "analyze/profile.h"
#include "base/str.h"
#include "parts.h"

static void events_json(struct jsonw *w, const struct profile_quality *quality)
{
	jsonw_put_text(w, "event", quality->event);
	jsonw_put_text(w, "event_note", str_or_null(quality->event_note));
	jsonw_put_bool(w, "precise", quality->precise);
	jsonw_put_texts(w, "other_events", quality->other_events.at, quality->other_events.count);
}

void quality_json(struct jsonw *w, const struct profile_quality *quality)
{
	static const char none[] = "the filters leave no sample";
	static const char uncounted[] = "the recorder did not count it";
	static const char unmeasured[] = "the recorder did not measure its CPU time";

	jsonw_open_object(w, "quality");
	jsonw_put_u64(w, "samples", quality->samples);
	jsonw_put_bool(w, "filtered", quality->filtered);
	events_json(w, quality);
	jsonw_put_number(w, "lost_samples", quality->lost_samples, uncounted);
	jsonw_put_number(w, "lost_records", quality->lost_records, uncounted);
	jsonw_put_number(w, "lost_share", quality->lost_share, uncounted);
	jsonw_put_number(w, "truncated_share", quality->truncated_share, none);
	jsonw_put_number(w, "broken_share", quality->broken_share, none);
	jsonw_put_number(w, "unknown_share", quality->unknown_share, none);
	jsonw_put_number(w, "kernel_share", quality->kernel_share, none);
	jsonw_put_number(w, "rate_hz", quality->rate_hz, "it needs two samples at different times");
	jsonw_put_u64(w, "span_ns", quality->span_ns);
	jsonw_put_number(w, "recorder_cpu_ns", quality->recorder_cpu_ns, unmeasured);
	jsonw_put_number(w, "target_cpu_ns", quality->target_cpu_ns, unmeasured);
	jsonw_put_number(w, "overhead_share", quality->overhead_share, unmeasured);
	jsonw_put_u64(w, "addresses", quality->locations);
	jsonw_put_u64(w, "unnamed_addresses", quality->unnamed_locations);
	jsonw_end_object(w);
}
