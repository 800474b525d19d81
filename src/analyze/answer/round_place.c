/* round_place.c - what became of the place that a gain was promised for.
 *
 * Nothing can arrive where nothing was changed.  One profile of each job tells how much less time
 * the place takes, with three errors: of the samples; of the program, whose runs differ; and of the
 * machine, which may be faster as a whole this time (two speeds of one CPU, 12 % apart, were seen
 * beside other programs).  So the place has to be faster by itself, and faster than the rest of the
 * program, where there is enough of a rest to tell. */
#include <math.h>
#include <stdlib.h>

#include "analyze/answer.h"
#include "analyze/causal_view.h"
#include "analyze/round.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "model/manifest.h"

#define Z 1.96		  /* beyond an error of 95 % */
#define RUNS_DIFFER 0.05  /* the CPU time of one run from that of the next */
#define BY_OTHERS 0.15	  /* the same, as a part of what other programs have of the CPUs */
#define PARTS_DIFFER 0.03 /* one part of a run from the rest of it */
#define REST_LEAST 0.2	  /* of the samples, to be compared with */

/* Of the place with all that it calls, and of the rest of the program. */
struct place_time {
	double ns, rest_ns;
	double samples, rest_samples;
};

static struct place_time time_of(const struct run *profile, const char *function)
{
	struct hotspot_below below = hotspot_below(profile, function);
	double share = below.total_ns > 0 ? below.ns / below.total_ns : (double)NAN;

	return (struct place_time){
		.ns = below.ns,
		.rest_ns = below.total_ns - below.ns,
		.samples = share * below.samples,
		.rest_samples = (1 - share) * below.samples,
	};
}

/* Of a share that few samples or none were seen in, too. */
static double variance_of(double samples)
{
	return 1 / fmax(samples, 1);
}

static bool has_rest(const struct place_time *time)
{
	return time->rest_samples >= REST_LEAST * (time->samples + time->rest_samples);
}

/* The ratios are logarithms; of a time of 0 at least one sample's. */
static bool is_faster(
	const struct place_time *before, const struct place_time *after, double others)
{
	double runs = hypot(RUNS_DIFFER, others > 0 ? BY_OTHERS * others : 0);
	double sample_ns = before->ns / fmax(before->samples, 1);
	double own = log(before->ns / fmax(after->ns, sample_ns));
	double own_variance = variance_of(before->samples) + variance_of(after->samples);
	double rest = log(before->rest_ns / after->rest_ns);
	double rest_variance = variance_of(before->rest_samples) + variance_of(after->rest_samples);

	if (!(own > Z * sqrt(own_variance + 2 * runs * runs)))
		return false;
	if (!has_rest(before) || !has_rest(after))
		return true;
	return own - rest >
	       Z * sqrt(own_variance + rest_variance + 2 * PARTS_DIFFER * PARTS_DIFFER);
}

/* On the straight line through what was promised, for the part of the time below the place that is
 * gone: without an experiment the promise was arithmetic, which is one. */
static bool promise_scale(
	double gone, const struct manifest_promise *promise, struct causal_gain *ret_gain)
{
	double scale = gone / promise->at;

	if (!isfinite(scale) || !isfinite(promise->gain))
		return false;
	*ret_gain = (struct causal_gain){.speedup = gone,
		.gain = promise->gain * scale,
		.lo = promise->lo * scale,
		.hi = fmin(promise->hi * scale, 1),
		.is_known = true};
	return true;
}

/* By the experiments before, on the function itself. */
static bool curve_read(const struct round_evidence *evidence, const char *function,
	struct arena *arena, struct causal_gain *ret_gain)
{
	struct evidence_piece before = {.run = evidence->before_profile, .path = ""};
	struct evidence_piece after = {.run = evidence->after_profile, .path = ""};
	double before_ns = hotspot_function_ns(&before, function);
	double after_ns = hotspot_function_ns(&after, function);
	struct causal_view view = {0};
	struct err err = {0};

	if (!evidence->before_causal || !(before_ns > 0) || isnan(after_ns) ||
		causal_view_make(evidence->before_causal, NULL, arena, &view, &err) < 0)
		return false;
	for (uint32_t i = 0; i < view.target_count; i++)
		if (str_equal(view.targets[i].function, function))
			return causal_curve_at(&view.targets[i].curve,
				fmin(fmax(1 - after_ns / before_ns, 0), 1), ret_gain);
	return false;
}

enum round_place round_place(const struct round_evidence *evidence,
	const struct manifest_promise *promise, struct arena *arena, struct causal_gain *ret_gain)
{
	struct place_time before, after;

	if (!*promise->function)
		return ROUND_PLACE_UNKNOWN;
	before = time_of(evidence->before_profile, promise->function);
	after = time_of(evidence->after_profile, promise->function);
	if (!(before.ns > 0) || isnan(after.ns))
		return ROUND_PLACE_UNKNOWN;
	if (!is_faster(&before, &after, evidence->others_share))
		return ROUND_PLACE_UNCHANGED;
	if (curve_read(evidence, promise->function, arena, ret_gain) ||
		promise_scale(1 - after.ns / before.ns, promise, ret_gain))
		return ROUND_PLACE_FASTER;
	return ROUND_PLACE_UNKNOWN;
}
