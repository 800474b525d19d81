/* space.c - what was mapped where, and when.
 *
 * Samples come nearly in order of time, so the current layout answers almost all of them by one
 * binary search; a mapping that a newer one covers is kept aside for the late ones.  There is no
 * record of munmap(): an address stays mapped until something else is mapped there.  A fork shares
 * its parent's layout until one of them maps something, so a storm of forks costs nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "profile.h"

enum { MOVED_STEP = 16 }; /* mappings that are moved or looked at in a step */

static struct layout *layout_new(struct profile *profile)
{
	struct layout *layout = mem_new(1, sizeof(*layout));

	vec_push(&profile->layouts, layout);
	return layout;
}

static struct layout *layout_copy(struct profile *profile, const struct layout *from)
{
	struct layout *copy = layout_new(profile);
	uint64_t count = (uint64_t)from->now.count + from->before.count;

	if (!quota_step(profile->quota, count / MOVED_STEP) ||
		!quota_take(profile->quota, count * sizeof(struct mapping)))
		return copy;

	vec_foreach (const struct mapping, mapping, &from->now)
		vec_push(&copy->now, *mapping);
	vec_foreach (const struct mapping, mapping, &from->before)
		vec_push(&copy->before, *mapping);
	return copy;
}

struct space *space_of_pid(struct profile *profile, uint32_t pid)
{
	struct space *space;
	uint32_t index;

	if (map_get(&profile->space_of, &pid, sizeof(pid), &index))
		return profile->spaces.at[index - 1];
	space = mem_new(1, sizeof(*space));
	space->pid = pid;
	vec_push(&space->versions, (struct space_version){0, layout_new(profile)});
	vec_push(&profile->spaces, space);
	map_put(&profile->space_of, &pid, sizeof(pid), profile->spaces.count);
	return space;
}

static struct space_version *version_at(const struct space *space, uint64_t time_ns)
{
	uint32_t i = space->versions.count - 1;

	while (i && space->versions.at[i].since_ns > time_ns)
		i--;
	return &space->versions.at[i];
}

/* Index of the first mapping that ends above `addr`. */
static uint32_t layout_above(const struct layout *layout, uint64_t addr)
{
	return vec_upto(&layout->now, end, addr);
}

/* Make room for [start, end): what is covered goes aside, what is cut keeps its rest. */
static void layout_clear(struct layout *layout, const struct mapping *new)
{
	uint32_t at = layout_above(layout, new->start), kept = at;
	struct mapping rest[2];
	unsigned rests = 0;

	for (; at < layout->now.count && layout->now.at[at].start < new->end; at++) {
		struct mapping old = layout->now.at[at];

		if (old.start < new->start && rests < 2) {
			rest[rests] = old;
			rest[rests++].end = new->start;
		}
		if (old.end > new->end && rests < 2) {
			rest[rests] = old;
			rest[rests].file_offset += new->end - old.start;
			rest[rests].placed = old.placed;
			rest[rests++].start = new->end;
		}
		old.hidden_ns = new->time_ns;
		vec_push(&layout->before, old);
	}
	if (at > kept) {
		memmove(&layout->now.at[kept], &layout->now.at[at],
			(layout->now.count - at) * sizeof(*layout->now.at));
		layout->now.count -= at - kept;
	}
	for (unsigned i = 0; i < rests; i++) {
		uint32_t where = layout_above(layout, rest[i].start);

		vec_push(&layout->now, rest[i]);
		memmove(&layout->now.at[where + 1], &layout->now.at[where],
			(layout->now.count - 1 - where) * sizeof(*layout->now.at));
		layout->now.at[where] = rest[i];
	}
}

void space_map(struct profile *profile, struct space *space, const struct mapping *mapping)
{
	struct space_version *version = version_at(space, mapping->time_ns);
	struct layout *layout = version->layout;
	uint32_t where;

	if (layout->shared) {
		layout = layout_copy(profile, layout);
		version->layout = layout;
	}
	quota_step(profile->quota, layout->now.count / MOVED_STEP);
	layout_clear(layout, mapping);
	where = layout_above(layout, mapping->start);
	vec_push(&layout->now, *mapping);
	memmove(&layout->now.at[where + 1], &layout->now.at[where],
		(layout->now.count - 1 - where) * sizeof(*layout->now.at));
	layout->now.at[where] = *mapping;
}

static void version_add(struct space *space, uint64_t time_ns, struct layout *layout)
{
	struct space_version *last = &space->versions.at[space->versions.count - 1];

	/* A process that was not known before starts with what it gets now. */
	if (!last->layout->now.count && space->versions.count == 1)
		*last = (struct space_version){0, layout};
	else
		vec_push(&space->versions, (struct space_version){time_ns, layout});
}

void space_fork(struct profile *profile, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	struct space *parent = space_of_pid(profile, parent_pid);
	struct layout *layout = version_at(parent, time_ns)->layout;

	if (pid == parent_pid)
		return; /* a thread */
	layout->shared = true;
	version_add(space_of_pid(profile, pid), time_ns, layout);
}

void space_exec(struct profile *profile, uint32_t pid, uint64_t time_ns)
{
	version_add(space_of_pid(profile, pid), time_ns, layout_new(profile));
}

struct mapping *space_find(
	const struct profile *profile, const struct space *space, uint64_t addr, uint64_t time_ns)
{
	struct layout *layout = version_at(space, time_ns)->layout;
	uint32_t at = layout_above(layout, addr);

	if (at < layout->now.count && layout->now.at[at].start <= addr &&
		layout->now.at[at].time_ns <= time_ns)
		return &layout->now.at[at];
	quota_step(profile->quota, (layout->before.count + space->versions.count) / MOVED_STEP);
	for (uint32_t i = layout->before.count; i; i--) {
		struct mapping *old = &layout->before.at[i - 1];

		if (old->start <= addr && addr < old->end && old->time_ns <= time_ns &&
			time_ns < old->hidden_ns)
			return old;
	}
	/* A sample from before its mapping was reported: the mapping is still the best answer. */
	return at < layout->now.count && layout->now.at[at].start <= addr ? &layout->now.at[at]
									  : NULL;
}

void space_done(struct profile *profile)
{
	vec_foreach (struct layout *, layout, &profile->layouts) {
		vec_done(&(*layout)->now);
		vec_done(&(*layout)->before);
		free(*layout);
	}
	vec_foreach (struct space *, space, &profile->spaces) {
		vec_done(&(*space)->versions);
		free(*space);
	}
	vec_done(&profile->layouts);
	vec_done(&profile->spaces);
	map_done(&profile->space_of);
}
