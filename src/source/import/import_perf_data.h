/* import_perf_data.h - what the parts of the perf.data reader share.
 *
 * The way through: import_perf_data.c walks the records of the file; import_perf_header.c reads
 * what describes them (events, features); import_perf_unpack.c inflates; import_perf_queue.c puts
 * the kernel's records into the order of their time; import_perf_record.c and import_perf_sample.c
 * hand them on.  Everything is borrowed from the file or from an unpacked chunk, nothing is
 * trusted. */
#pragma once

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "import_format.h"
#include "wire/sample.h"

enum {
	RECORD_HEAD = 8,	  /* type, misc, size */
	RECORD_LARGEST = 1 << 16, /* size has 16 bits */
	RECORD_USER = 64,	  /* types from here on are perf's own */
};

struct record_head {
	uint32_t type;
	uint16_t misc, size;
};

/* One perf_event_attr: what is needed of it. */
struct recording_event {
	uint32_t type, stack_user, group;
	uint64_t config, period, sample_type, read_format, flags, branch_type, regs_user, regs_intr;
	const char *name, *unit, *core; /* name NULL: not told, made from type and config */
	double scale;
	bool changed; /* since it was emitted */
};

struct recording_pmu {
	uint32_t type;
	const char *name;
};

/* Bytes that were unpacked; freed when none of its records waits any more. */
struct recording_chunk {
	size_t len, used;
	uint32_t waiting;
	char bytes[];
};

struct recording_waiting {
	uint64_t time_ns, order;
	const char *record;
	struct recording_chunk *chunk; /* NULL: in the file */
};

struct recording_queue {
	vec_of(struct recording_waiting) items;
	uint64_t order;
	uint64_t oldest_ns;	      /* of all that wait */
	uint64_t newest_ns, limit_ns; /* of this round, of the round before */
	size_t chunk_bytes;	      /* unpacked and waiting */
};

struct recording_unpack; /* import_perf_unpack.c */

struct recording {
	struct import_text file;
	const struct wire_sink *sink;
	struct import_report *report;
	struct arena arena;
	vec_of(struct recording_event) events;
	struct map ids;		/* id of a kernel event -> index of `events` */
	struct map read_of;	/* struct read_key -> index of `reads` */
	vec_of(uint64_t) reads; /* its count in the last sample that read its group */
	vec_of(const char *) build_ids;
	struct map build_id_of; /* path -> index of `build_ids` */
	vec_of(struct recording_pmu) pmus;
	struct recording_queue queue;
	struct recording_unpack *unpack;
	enum wire_machine machine;
	bool machine_known;
	uint64_t lost_told;    /* by LOST records so far, and not yet by LOST_SAMPLES */
	bool stop;	       /* nothing behind this can be read */
	bool events_changed;   /* since they were emitted */
	uint32_t unpack_limit; /* bytes that perf compressed at once at most, 0: not told */
	/* A record that does not stand at a multiple of 8 is copied here. */
	uint64_t aligned[RECORD_LARGEST / 8];
	struct wire_branch branches[RECORD_LARGEST / 24];
};

/* import_perf_header.c */
/* Read the header of a file; false with the damage told when its records cannot be found.  The
 * records are `*ret_records`. */
bool recording_read_header(struct recording *rec, struct import_text *ret_records);
/* One attr of `attr_len` bytes. */
void recording_add_event(struct recording *rec, const char *attr, size_t attr_len);
/* The last event that was added has these ids. */
void recording_add_ids(struct recording *rec, const char *ids, uint64_t len);
void recording_take_feature(struct recording *rec, unsigned feature, struct cursor in);
void recording_take_build_id(struct recording *rec, struct cursor in);
/* The event of this id; with one event only any id is its. */
const struct recording_event *recording_event_of(const struct recording *rec, uint64_t id);
/* Tell the sink about new events and new names. */
int recording_emit_events(struct recording *rec);

/* import_perf_name.c: "cycles:u" from type and config. */
const char *recording_event_name(struct recording *rec, const struct recording_event *event);

/* import_perf_queue.c */
/* A whole kernel record: kept until its turn, or handed on at once when it has no time. */
int queue_take(struct recording *rec, const char *record, struct recording_chunk *chunk);
int queue_round(struct recording *rec); /* FINISHED_ROUND */
int queue_end(struct recording *rec);	/* everything that still waits */
void queue_free_chunk(struct recording *rec, struct recording_chunk *chunk);
void queue_done(struct recording *rec);

/* import_perf_unpack.c */
/* Unpack the payload of one COMPRESSED record behind what was left over of the last one.  The chunk
 * belongs to the queue as soon as chunk->waiting is set, until then to the caller.  Behind a damage
 * it holds what came before; NULL when there is nothing. */
struct recording_chunk *unpack_take(struct recording *rec, struct import_text packed);
/* Keep what is left of the chunk behind `used` for the next one. */
void unpack_keep_rest(struct recording *rec, const struct recording_chunk *chunk);
void unpack_done(struct recording *rec);

/* import_perf_record.c: one kernel record that is whole and aligned. */
int recording_emit(struct recording *rec, const char *record);
/* When it happened, 0: it does not say. */
uint64_t recording_time(const struct recording *rec, const char *record);

/* import_perf_sample.c */
int recording_emit_sample(struct recording *rec, const char *record);
/* The event of a SAMPLE record, NULL: none that is known. */
const struct recording_event *sample_event(const struct recording *rec, const char *record);
uint64_t sample_time(const struct recording_event *event, const char *record);

static inline struct record_head record_head(const char *record)
{
	struct record_head head;

	memcpy(&head, record, sizeof(head));
	return head;
}

static inline struct cursor record_body(const char *record)
{
	return cursor_of(record + RECORD_HEAD, record_head(record).size - (size_t)RECORD_HEAD);
}
