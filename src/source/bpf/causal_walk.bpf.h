/* causal_walk.bpf.h - the part of causal.bpf.c that leads from a sample to the user's own code.
 *
 * Time in the kernel is the line's that called it, time in the code of others too.  The steps are
 * the tool's (wire/causal_walk.h); functions that are not static are verified once, not at each
 * call. */
#pragma once

#include "causal_seats.bpf.h"

/* Out of the code of others, file by file. */
struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, WIRE_CAUSAL_STEPS);
	__uint(map_flags, MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_causal_step);
} assay_steps SEC(".maps");

static __always_inline bool is_kernel(__u64 addr)
{
	return addr >> 63;
}

/* The registers with which the thread entered the kernel. */
static __always_inline __u64 entry_register(struct pt_regs *registers, unsigned which)
{
	__u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), &registers->words[which]);
	return value;
}

/* Where the thread is in user space: also time in the kernel is the line's that called it.  Without
 * a stack pointer only the address is known, with an address of 0 nothing. */
static __always_inline struct wire_causal_walk walk_begin(struct assay_sample_context *context)
{
	__u64 *now = context->registers;
	struct wire_causal_walk walk = {0};

	if (!is_kernel(now[ASSAY_IP_REGISTER])) {
		walk.ip = now[ASSAY_IP_REGISTER];
		walk.sp = now[ASSAY_SP_REGISTER];
		walk.fp = now[ASSAY_FP_REGISTER];
#ifdef ASSAY_LR_REGISTER
		walk.lr = now[ASSAY_LR_REGISTER];
#endif
	} else if (kernel_can.tell_registers) {
		struct pt_regs *entry =
			(struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());

		walk.ip = entry_register(entry, ASSAY_IP_REGISTER);
		walk.sp = entry_register(entry, ASSAY_SP_REGISTER);
		walk.fp = entry_register(entry, ASSAY_FP_REGISTER);
#ifdef ASSAY_LR_REGISTER
		walk.lr = entry_register(entry, ASSAY_LR_REGISTER);
#endif
	} else if (bpf_get_stack(context, &walk.ip, sizeof(walk.ip), USER_STACK) < 8) {
		walk.ip = 0;
	}
	return walk;
}

/* Which mapping with code of others has it; WIRE_CAUSAL_FOREIGN: none. */
__noinline __u32 foreign_find(__u64 addr)
{
	__u32 low = 0, high = causal.settings.foreign;

	for (int i = 0; i < WIRE_CAUSAL_FOREIGN_BITS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;

		if (middle >= WIRE_CAUSAL_FOREIGN)
			return WIRE_CAUSAL_FOREIGN;
		if (causal.settings.foreign_code[middle].start <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low > WIRE_CAUSAL_FOREIGN || addr >= causal.settings.foreign_code[low - 1].end)
		return WIRE_CAUSAL_FOREIGN;
	return low - 1;
}

/* The step behind the one that holds there; 0: none does. */
__noinline __u32 step_behind(__u32 first, __u32 count, __u32 offset)
{
	__u32 low = first, high = first + count;

	for (int i = 0; i < WIRE_CAUSAL_STEP_BITS && low < high; i++) {
		__u32 middle = low + (high - low) / 2;
		struct wire_causal_step *step = bpf_map_lookup_elem(&assay_steps, &middle);

		if (!step)
			return 0;
		if (step->offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > first ? low : 0;
}

static __always_inline bool word_read(__u64 *to, __u64 from)
{
	return bpf_probe_read_user(to, sizeof(*to), (void *)from) == 0;
}

/* The step that holds at an address; NULL: it is the user's own code, or nobody's. */
static __always_inline struct wire_causal_step *step_at(__u64 addr)
{
	__u32 mapping = foreign_find(addr), behind;
	struct wire_causal_foreign *code;

	if (mapping >= WIRE_CAUSAL_FOREIGN)
		return 0;
	code = &causal.settings.foreign_code[mapping];
	behind = step_behind(code->first, code->count, (__u32)(addr - code->start + code->offset));
	if (!behind--)
		return 0;
	return bpf_map_lookup_elem(&assay_steps, &behind);
}

/* To the frame that called; `ip` is then in the call. */
static __always_inline bool walk_out(
	struct wire_causal_walk *walk, const struct wire_causal_step *step)
{
	__u64 cfa = wire_causal_cfa(step, walk), ra = walk->lr;

	if (!cfa)
		return false;
	if (step->ra_offset && !word_read(&ra, cfa + (__u64)(__s64)step->ra_offset))
		return false;
	/* Below the stack pointer it was popped already. */
	if (step->fp_offset && cfa + (__u64)(__s64)step->fp_offset >= walk->sp &&
		!word_read(&walk->fp, cfa + (__u64)(__s64)step->fp_offset))
		return false;
	walk->ip = wire_causal_call(ra);
	walk->sp = cfa;
	walk->lr = 0;
	return ra != 0;
}
