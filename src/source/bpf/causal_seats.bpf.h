/* causal_seats.bpf.h - what the programs of causal.bpf.c share: the maps, and the seat of
 * each thread with its account.
 *
 * A seat is taken by a thread's first event and found by its id in a few tries; its account begins
 * anew with each experiment. */
#pragma once

#include "causal_kernel.bpf.h"

/* ---- maps ---- */

enum { MMAPABLE = 1 << 10, USER_STACK = 1 << 8, NO_EXIST = 1 };
enum { MAP_HASH = 1, MAP_ARRAY = 2, MAP_PERCPU_ARRAY = 6 };

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_causal_board);
} assay_board SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, WIRE_CAUSAL_SEATS);
	__uint(map_flags, MMAPABLE);
	__type(key, __u32);
	__type(value, struct wire_causal_seat);
} assay_seats SEC(".maps");

struct assay_cpu {
	__s32 interrupts, timers; /* how deep */
	__u32 theirs;		  /* it runs another program, and could run ours */
	__s32 network;		  /* how deep in packets that came in */
	__u64 sampled_ns;
	struct causal_clock left; /* of the thread of the program that had it last */
	__u64 left_ns;		  /* when that left; 0: it was idle since */
	__u64 left_share_ns;	  /* struct assay_causal_queue's share_ns then */
};

struct {
	__uint(type, MAP_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct assay_cpu);
} assay_cpus SEC(".maps");

/* Where the program is, by address, with the CPU time that the samples stand for. */
struct {
	__uint(type, MAP_HASH);
	__uint(max_entries, ASSAY_CAUSAL_SPOTS);
	__type(key, __u64);
	__type(value, __u64);
} assay_spots SEC(".maps");

struct {
	__uint(type, MAP_ARRAY);
	__uint(max_entries, ASSAY_CAUSAL_STACKS);
	__uint(map_flags, MMAPABLE);
	__type(key, __u32);
	__type(value, struct assay_causal_stack);
} assay_stacks SEC(".maps");

/* Set by the loader: the kernel can tell with which registers a thread entered it (5.15), find the
 * mapping of an address and loop (5.17). */
const volatile struct {
	__u32 tell_registers, find_mappings, loop;
} kernel_can;

struct assay_causal causal;

#define COUNT(what, by) __sync_fetch_and_add(&causal.counts.what, by)

static __always_inline struct wire_causal_board *board(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&assay_board, &key);
}

static __always_inline struct assay_cpu *this_cpu(void)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&assay_cpus, &key);
}

static __always_inline bool is_target(__u32 pid)
{
	return causal.settings.active && pid == causal.settings.pid;
}

/* ---- seats ---- */

static __always_inline struct wire_causal_seat *seat_search(__u32 tid)
{
	for (__u32 probe = 0; probe < WIRE_CAUSAL_PROBES; probe++) {
		__u32 key = wire_causal_place(tid, probe);
		struct wire_causal_seat *seat = bpf_map_lookup_elem(&assay_seats, &key);

		if (seat && seat->tid == tid)
			return seat;
	}
	return 0;
}

static __always_inline struct wire_causal_seat *seat_take(__u32 tid)
{
	for (__u32 probe = 0; probe < WIRE_CAUSAL_PROBES; probe++) {
		__u32 key = wire_causal_place(tid, probe);
		struct wire_causal_seat *seat = bpf_map_lookup_elem(&assay_seats, &key);

		if (seat && !seat->tid && __sync_val_compare_and_swap(&seat->tid, 0, tid) == 0) {
			seat->epoch = 0;
			seat->queued = 0;
			seat->hands_off = 4;
			seat->mark = (struct causal_mark){0};
			seat->account.pause_ns = 0;
			return seat;
		}
	}
	return 0;
}

/* The seat of a thread of the target, its account begun anew with each experiment. */
static __noinline struct wire_causal_seat *seat_of(__u32 tid, __u64 now, int waits)
{
	struct wire_causal_seat *seat = seat_search(tid);

	if (!seat)
		seat = seat_take(tid);
	if (!seat) {
		COUNT(no_seat, 1);
		return 0;
	}
	if (seat->epoch != causal.settings.epoch) {
		__u64 pause = seat->account.pause_ns;

		causal_begin(&seat->account, causal.settings.owed_start_ns,
			causal.settings.start_ns, waits);
		seat->account.pause_ns = pause; /* one from before ends by itself */
		seat->account.cpu_ns = 0;
		seat->cpu_ns = 0;
		seat->running_ns = waits ? 0 : now;
		seat->blocked_ns = seat->account.since_ns;
		seat->asked_ns = 0;
		if (seat->share_ns < causal.settings.share_start_ns)
			seat->share_ns = causal.settings.share_start_ns;
		seat->woke = 0;
		seat->halted = 0;
		seat->chosen = 0;
		seat->epoch = causal.settings.epoch;
	}
	return seat;
}

/* Raise what all owe to at least `to`. */
static __always_inline void owed_raise(struct wire_causal_board *b, __u64 to)
{
	for (int tries = 0; tries < 16; tries++) {
		__u64 owed = *(volatile __u64 *)&b->owed_ns;

		if (owed >= to || __sync_val_compare_and_swap(&b->owed_ns, owed, to) == owed)
			return;
	}
}

static __always_inline void seat_hit(
	struct wire_causal_board *b, struct wire_causal_seat *seat, __u64 weight)
{
	COUNT(hits, 1);
	COUNT(hit_ns, weight);
	owed_raise(b,
		causal_hit(&seat->account, b->owed_ns, weight, causal.settings.speedup_permille));
}
