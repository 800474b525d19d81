/* sampler_parts.h - what sampler.c and sampler_open.c share. */
#pragma once

#include "base/map.h"
#include "event_place.h"
#include "source/kernel_record.h"
#include "source/ring.h"
#include "source/sampler.h"

/* One CPU: the ring of its samples and the ring of what happens to tasks and mappings. */
struct sampler_cpu {
	int cpu;
	struct ring samples, side;
	int samples_owner, side_owner;	/* the event whose ring it is */
	uint64_t samples_end, side_end; /* of the pass that runs */
};

/* One open event at one place. */
struct sampler_event {
	int fd;
	uint32_t cpu;	/* index of its CPU */
	uint32_t event; /* id of its spec: 1, 2...; 0: the side-band event */
};

struct sampler {
	struct sampler_options options;
	struct event_list *list;
	const struct wire_sink *sink;
	event_place_vec tasks;
	vec_of(struct sampler_cpu) cpus;
	vec_of(struct sampler_event) events;
	struct map identifiers; /* the kernel's id of an open event -> id of its spec */
	int unswapped[2];	/* see event_fd_forbid_swap() */
	int bell;		/* epoll over all rings */
	bool deaf;		/* a ring cannot ring any more */
	bool with_build_id, with_lost_count; /* the kernel knows it */
	uint64_t sample_type;
	uint64_t previous_ns; /* start of the pass before */
	struct sampler_facts facts;
	struct kernel_scratch scratch;
	unsigned char *bounce;
};

/* Open events and rings; sampler.c does the rest. */
int sampler_open_all(struct sampler *sampler, struct err *err);
void sampler_close_all(struct sampler *sampler);
