/* inside_walk.c - from the registers of a sample to the program's own code: as the kernel side
 * walks (src/source/bpf/causal.bpf.c), with the steps of wire/causal_walk.h. */
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "inside_parts.h"

enum { FRAMES = 24 };

static bool range_has(const struct assay_causal_range *ranges, uint32_t n, uint64_t addr)
{
	for (uint32_t i = 0; i < n && i < WIRE_CAUSAL_RANGES; i++)
		if (addr >= ranges[i].low && addr < ranges[i].high)
			return true;
	return false;
}

static struct wire_causal_walk context_walk(const ucontext_t *context)
{
#if defined(__x86_64__)
	const greg_t *registers = context->uc_mcontext.gregs;

	return (struct wire_causal_walk){.ip = (uint64_t)registers[REG_RIP],
		.sp = (uint64_t)registers[REG_RSP],
		.fp = (uint64_t)registers[REG_RBP]};
#elif defined(__aarch64__)
	const mcontext_t *registers = &context->uc_mcontext;

	return (struct wire_causal_walk){
		registers->pc, registers->sp, registers->regs[29], registers->regs[30]};
#endif
}

/* What is no pointer points anywhere, so the kernel reads it for us. */
static bool stack_read(void *to, uint64_t at, size_t bytes)
{
	struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)at, bytes};

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

/* The mapping with code of others that has the address; NULL: none. */
static const struct wire_causal_foreign *foreign_find(
	const struct assay_causal_settings *settings, uint64_t addr)
{
	const struct wire_causal_foreign *code = settings->foreign_code;
	uint32_t low = 0, high = settings->foreign;

	while (low < high && high <= WIRE_CAUSAL_FOREIGN) {
		uint32_t middle = low + (high - low) / 2;

		if (code[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low && addr < code[low - 1].end ? &code[low - 1] : NULL;
}

/* The step that holds at an address; NULL: it is the user's own code, or nobody's. */
static const struct wire_causal_step *step_at(
	const struct wire_causal_inside *inside, uint64_t addr)
{
	const struct wire_causal_foreign *code = foreign_find(&inside->control.settings, addr);
	uint64_t offset = code ? addr - code->start + code->offset : 0;
	uint32_t low = code ? code->first : 0, high = code ? low + code->count : 0;

	if (low >= high || high > WIRE_CAUSAL_STEPS)
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (inside->steps[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > code->first ? &inside->steps[low - 1] : NULL;
}

/* To the frame that called; `ip` is then in the call. */
static bool walk_out(struct wire_causal_walk *walk, const struct wire_causal_step *step)
{
	uint64_t cfa = wire_causal_cfa(step, walk), ra = walk->lr;

	if (!cfa)
		return false;
	if (step->ra_offset && !stack_read(&ra, cfa + (uint64_t)(int64_t)step->ra_offset, 8))
		return false;
	/* Below the stack pointer it was popped already. */
	if (step->fp_offset && cfa + (uint64_t)(int64_t)step->fp_offset >= walk->sp &&
		!stack_read(&walk->fp, cfa + (uint64_t)(int64_t)step->fp_offset, 8))
		return false;
	*walk = (struct wire_causal_walk){.ip = wire_causal_call(ra), .sp = cfa, .fp = walk->fp};
	return ra != 0;
}

/* In a function without a frame the return address is in a register, or the first on the stack. */
static uint64_t leaf_return(const struct wire_causal_walk *walk)
{
	uint64_t at = walk->lr;

#if defined(__x86_64__)
	(void)stack_read(&at, walk->sp, sizeof(at));
#endif
	return at;
}

/* By frame pointers. */
static bool caller_has(
	const struct assay_causal_settings *settings, const struct wire_causal_walk *walk)
{
	uint64_t frame[2] = {walk->fp, 0};

	if (range_has(settings->caller, settings->callers, leaf_return(walk) - 1))
		return true;
	for (int i = 0; i < FRAMES && frame[0]; i++) {
		uint64_t at = frame[0];

		if (!stack_read(frame, at, sizeof(frame)))
			return false;
		if (range_has(settings->caller, settings->callers, frame[1] - 1))
			return true;
		if (frame[0] <= at)
			return false;
	}
	return false;
}

struct inside_place inside_place_find(
	const struct wire_causal_inside *inside, const ucontext_t *context)
{
	const struct assay_causal_settings *settings = &inside->control.settings;
	struct wire_causal_walk walk = context_walk(context);
	const struct wire_causal_walk first = walk;
	struct inside_place place = {
		walk.ip, range_has(settings->range, settings->ranges, walk.ip)};
	bool own = false;

	for (int i = 0; i < WIRE_CAUSAL_DEPTH; i++) {
		const struct wire_causal_step *step = step_at(inside, walk.ip);

		if (!own && (!step || step->is_own)) {
			place.addr = walk.ip;
			own = true;
		}
		if (own ? !settings->callees || place.hit : i + 1 >= WIRE_CAUSAL_FRAMES)
			break;
		if (!step || !walk_out(&walk, step))
			break;
		place.hit = place.hit || range_has(settings->range, settings->ranges, walk.ip);
	}
	place.hit = place.hit && (!settings->callers || caller_has(settings, &first));
	return place;
}
