/* chain.c - one sample's call chain, from the kernel's part to the outermost user frame.
 *
 * The kernel walks its own frames; the user's part is unwound here from the copied registers and
 * stack bytes.  Without those (mode fp, or a file that has none) the kernel's walk along frame
 * pointers is taken as it is.  Where the copied bytes end before the stack does, that walk may
 * know the rest: it is spliced on if the two meet, and the sample is marked all the same. */
#include <linux/perf_event.h>
#include <string.h>

#include "profile.h"

enum { UNWIND_STEPS = 8 }; /* for a frame */

struct chain {
	struct profile *profile;
	const struct wire_sample *sample;
	const struct space *space;
	row_id stack; /* built from the outermost frame inwards */
	uint32_t flags;
};

static struct mapping *mapping_at(
	struct profile *profile, const struct space *space, uint64_t addr, uint64_t time_ns)
{
	struct mapping *mapping = space_find(profile, space, addr, time_ns);

	return mapping ? mapping : space_find(profile, profile->kernel, addr, time_ns);
}

static row_id location_in(struct profile *profile, const struct space *space, uint64_t addr,
	uint64_t time_ns, uint32_t flags)
{
	/* A return address is looked up one before: the call may be its function's last. */
	uint64_t at = flags & LOCATION_CALLER ? addr - 1 : addr;
	struct mapping *mapping = mapping_at(profile, space, at, time_ns);
	struct location_row row = {.addr = at, .flags = flags};

	if (mapping) {
		mapping_place(profile, mapping, at, space->pid);
		row.module = mapping->module->row;
		row.addr = at - mapping->bias;
		if (mapping->module->flags & MODULE_KERNEL)
			row.flags |= LOCATION_KERNEL;
	} else {
		profile->unknown_addresses++;
	}
	return location_intern(profile, &row);
}

row_id location_of_addr(
	struct profile *profile, uint32_t pid, uint64_t addr, uint64_t time_ns, uint32_t flags)
{
	return location_in(profile, space_of_pid(profile, pid), addr, time_ns, flags);
}

static void chain_push(struct chain *chain, uint64_t addr, uint32_t flags)
{
	row_id location =
		location_in(chain->profile, chain->space, addr, chain->sample->time_ns, flags);

	chain->stack = stack_intern(
		chain->profile, &(struct stack_row){.parent = chain->stack, .location = location});
}

static bool place_find(void *context, uint64_t addr, struct unwind_place *ret_place)
{
	struct chain *chain = context;
	struct mapping *mapping =
		space_find(chain->profile, chain->space, addr, chain->sample->time_ns);

	if (!mapping)
		return false;
	mapping_place(chain->profile, mapping, addr, chain->space->pid);
	*ret_place = (struct unwind_place){mapping->module->table, mapping->bias};
	return true;
}

/* The part of the kernel's chain for one context (PERF_CONTEXT_KERNEL or _USER); NULL: none. */
static const uint64_t *chain_part(
	const struct wire_sample *sample, uint64_t context, uint32_t *ret_count)
{
	uint32_t at = 0, start;

	*ret_count = 0;
	while (at < sample->chain_count && sample->chain[at] != context)
		at++;
	start = ++at;
	if (start >= sample->chain_count)
		return NULL;
	while (at < sample->chain_count && sample->chain[at] < (uint64_t)PERF_CONTEXT_MAX)
		at++;
	*ret_count = at - start;
	return sample->chain + start;
}

/* The kernel's walk goes on where the copied bytes ended: append what lies beyond. */
static size_t splice(const struct wire_sample *sample, uint64_t *addrs, size_t count)
{
	uint32_t walked_count, at = 0;
	const uint64_t *walked = chain_part(sample, (uint64_t)PERF_CONTEXT_USER, &walked_count);

	while (at < walked_count && walked[at] != addrs[count - 1])
		at++;
	for (at++; at < walked_count && count < STACK_FRAMES; at++)
		addrs[count++] = walked[at];
	return count;
}

static size_t user_unwind(struct chain *chain)
{
	const struct wire_sample *sample = chain->sample;
	uint64_t *addrs = chain->profile->addrs;
	struct unwind_world world = {
		.machine = sample->machine == WIRE_AARCH64 ? IMAGE_AARCH64 : IMAGE_X86_64,
		.find = place_find,
		.context = chain,
	};
	struct unwind_registers registers = {
		sample->user.ip, sample->user.sp, sample->user.fp, sample->user.lr};
	struct unwind_stack stack = {
		.bytes = sample->stack,
		.len = sample->stack_bytes,
		.base = sample->user.sp,
		.cut = sample->stack_bytes >= sample->stack_asked,
	};
	enum unwind_end end;
	size_t count = unwind_sample(&world, &registers, &stack, addrs, STACK_FRAMES, &end);

	quota_step(chain->profile->quota, UNWIND_STEPS * count);

	if (end == UNWIND_TRUNCATED || end == UNWIND_TOO_DEEP) {
		chain->flags |= SAMPLE_TRUNCATED;
		if (end == UNWIND_TRUNCATED)
			count = splice(sample, addrs, count);
	} else if (end == UNWIND_BROKEN) {
		chain->flags |= SAMPLE_BROKEN;
	}
	return count;
}

/* The user's frames into profile->addrs, innermost first. */
static size_t user_frames(struct chain *chain)
{
	const struct wire_sample *sample = chain->sample;
	uint32_t count;
	const uint64_t *walked;

	if (sample->user.valid && sample->stack_bytes && sample->machine != WIRE_MACHINE_OTHER)
		return user_unwind(chain);
	walked = chain_part(sample, (uint64_t)PERF_CONTEXT_USER, &count);
	if (count > STACK_FRAMES)
		count = STACK_FRAMES;
	if (count) {
		memcpy(chain->profile->addrs, walked, count * sizeof(*walked));
	} else if (!(sample->flags & WIRE_SAMPLE_KERNEL) && !sample->chain_count) {
		chain->profile->addrs[0] = sample->ip;
		count = 1;
	}
	return count;
}

static void kernel_frames(struct chain *chain)
{
	const struct wire_sample *sample = chain->sample;
	uint32_t count;
	const uint64_t *walked = chain_part(sample, (uint64_t)PERF_CONTEXT_KERNEL, &count);

	if (!count && sample->flags & WIRE_SAMPLE_KERNEL) {
		chain_push(chain, sample->ip, LOCATION_KERNEL);
		return;
	}
	while (count--)
		chain_push(chain, walked[count], LOCATION_KERNEL | (count ? LOCATION_CALLER : 0));
}

static row_id named_frame(
	struct profile *profile, const struct wire_named *named, row_id module, row_id outer)
{
	struct names_frame frame = {
		.function = named->function,
		.file = named->file,
		.line = named->line,
		.inlined = outer != 0,
	};

	return named->function || named->file ? namer_frame(&profile->namer, &frame, module, outer)
					      : outer;
}

/* The location of the frame before `*at`, with what was inlined into it; `*at` moves behind them.
 */
static row_id named_location(
	struct profile *profile, const struct wire_sample *sample, uint32_t *at)
{
	const struct wire_named *named = &sample->named[--*at];
	struct location_row row = {.addr = named->addr};

	if (named->module && *named->module)
		row.module = module_of_path(profile, named->module, "", sample->pid)->row;
	row.frame = named_frame(profile, named, row.module, 0);
	while (*at && sample->named[*at - 1].inlined)
		row.frame = named_frame(profile, &sample->named[--*at], row.module, row.frame);
	return location_intern(profile, &row);
}

/* Where the frame's location is kept once it is known; NULL: its source does not number it, or
 * others are inlined into it. */
static row_id *named_known(struct profile *profile, const struct wire_sample *sample, uint32_t at)
{
	uint32_t known = sample->named[at - 1].known;

	if (!known || known > KNOWN_MOST || (at > 1 && sample->named[at - 2].inlined))
		return NULL;
	while (profile->known.count < known)
		vec_push(&profile->known, 0);
	return &profile->known.at[known - 1];
}

/* Frames that came with names.  What was inlined belongs to the location it was inlined into. */
static void named_frames(struct chain *chain)
{
	const struct wire_sample *sample = chain->sample;
	struct profile *profile = chain->profile;

	if (!quota_step(profile->quota, FRAME_STEPS * (uint64_t)sample->named_count))
		return;
	for (uint32_t i = sample->named_count; i;) {
		row_id *known = named_known(profile, sample, i);
		row_id location = known && *known ? *known : 0;

		if (location)
			i--;
		else
			location = named_location(profile, sample, &i);
		if (known)
			*known = location;
		chain->stack = stack_intern(profile, &(struct stack_row){chain->stack, location});
	}
	if (sample->named_truncated)
		chain->flags |= SAMPLE_TRUNCATED;
}

row_id chain_of_sample(
	struct profile *profile, const struct wire_sample *sample, uint32_t *ret_flags)
{
	struct chain chain = {
		.profile = profile,
		.sample = sample,
		.space = space_of_pid(profile, sample->pid),
	};
	size_t count;

	if (sample->named_count) {
		named_frames(&chain);
	} else {
		count = user_frames(&chain);
		quota_step(profile->quota, FRAME_STEPS * count);
		for (size_t i = count; i; i--)
			chain_push(&chain, profile->addrs[i - 1], i > 1 ? LOCATION_CALLER : 0);
		kernel_frames(&chain);
	}
	if (sample->flags & WIRE_SAMPLE_KERNEL)
		chain.flags |= SAMPLE_KERNEL;
	*ret_flags = chain.flags;
	return chain.stack;
}
