/* hotspot_alone.c - for how much of the time a place runs, and for how much of it nobody else does.
 *
 * Threads that run side by side are each sampled once in a period.  So a sample of one thread with
 * none of another within a period before and behind it was taken while that thread had the program
 * to itself: what is saved there, the program saves.  What is saved beside others it may save or
 * not.  Where threads take turns quickly this finds less than there is.  Where the others sleep
 * until a timer ends it finds more: what is saved there is waited for. */
#include "analyze/profile_filter.h"
#include "base/mem.h"
#include "base/str.h"
#include "hotspot_parts.h"
#include "model/run.h"

struct sweep {
	const struct sample_row *at;
	uint32_t count;
	row_id event;
};

/* Whether another thread was sampled within a period, going from a sample in one direction. */
static bool is_beside(const struct sweep *s, uint32_t from, int step)
{
	const struct sample_row *own = &s->at[from];

	for (uint32_t i = from + (uint32_t)step; i < s->count; i += (uint32_t)step) {
		const struct sample_row *other = &s->at[i];
		uint64_t apart =
			step > 0 ? other->time_ns - own->time_ns : own->time_ns - other->time_ns;

		if (apart > own->period)
			return false;
		if (other->event == s->event && other->thread != own->thread)
			return true;
	}
	return false; /* below 0 is above every count */
}

/* The part of a period that a sample adds to the time, after the one before it. */
static double slot_of(const struct sample_row *sample, uint64_t *last_ns)
{
	uint64_t since = *last_ns ? sample->time_ns - *last_ns : sample->period;

	*last_ns = sample->time_ns;
	return (double)(since < sample->period ? since : sample->period);
}

double hotspot_times_take(const struct run *run, const struct profile_samples *samples,
	const uint32_t *place_of, uint32_t count, struct hotspot_times *ret_times)
{
	const struct sweep s = {run->samples.at, run->samples.count, samples->event};
	mem_auto uint64_t *last_ns = mem_new((size_t)count + 1, sizeof(*last_ns));
	uint64_t first_ns = 0, end_ns = 0;

	if (samples->merged || !str_equal(samples->unit, "ns"))
		return 0;
	for (uint32_t i = 0; i < s.count; i++) {
		const struct sample_row *sample = &s.at[i];
		uint32_t place = place_of[sample->stack];

		if (sample->event != s.event)
			continue;
		first_ns = first_ns ? first_ns : sample->time_ns - sample->period;
		end_ns = sample->time_ns;
		ret_times[0].present += slot_of(sample, &last_ns[0]);
		if (!place)
			continue;
		ret_times[place].present += slot_of(sample, &last_ns[place]);
		if (!is_beside(&s, i, -1) && !is_beside(&s, i, 1))
			ret_times[place].alone += (double)sample->period;
	}
	for (uint32_t i = 0; i <= count && end_ns > first_ns; i++) {
		ret_times[i].alone /= (double)(end_ns - first_ns);
		ret_times[i].present /= (double)(end_ns - first_ns);
	}
	return (double)(end_ns - first_ns);
}
