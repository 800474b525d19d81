/* import_sink.h - a sink that counts and remembers what a reader handed over. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/import.h"
#include "wire/record.h"
#include "wire/sample.h"

struct counted {
	struct str told;  /* one line per record or sample worth reading */
	struct str notes; /* codes */
	struct str said;  /* their texts, one a line */
	unsigned records[WIRE_TYPES];
	uint64_t samples, branches, chain, accesses, unwindable, period, backwards, time_ns;
	uint64_t of_event[64];
	struct import_report report;
	struct err err;
	int r;
};

static inline int counted_take(void *context, const struct wire_record *record)
{
	struct counted *in = context;

	assert_true(wire_check(record, record->size));
	in->records[record->type]++;
	if (record->type == WIRE_EVENT) {
		const struct wire_event *event = (const struct wire_event *)record;

		str_addf(&in->told, "event %u %s %s%s\n", event->event,
			wire_text(record, event->name), wire_text(record, event->core),
			wire_text(record, event->unit));
	} else if (record->type == WIRE_TASK) {
		const struct wire_task *task = (const struct wire_task *)record;

		str_addf(&in->told, "task %u/%u %s\n", task->pid, task->tid,
			wire_text(record, task->name));
	} else if (record->type == WIRE_COUNT) {
		const struct wire_count *count = (const struct wire_count *)record;

		str_addf(&in->told, "count %u %llu\n", count->event,
			(unsigned long long)count->value);
	} else if (record->type == WIRE_NOTE) {
		str_addf(&in->notes, "%s ",
			wire_text(record, ((const struct wire_note *)record)->code));
		str_addf(&in->said, "%s\n",
			wire_text(record, ((const struct wire_note *)record)->text));
	}
	return 0;
}

/* "sample 1 7/8 12.5 x3: leaf@a (module) file:12 < outer" */
static inline void counted_tell(struct counted *in, const struct wire_sample *sample)
{
	str_addf(&in->told, "sample %u %u/%u %llu x%llu:", sample->event, sample->pid, sample->tid,
		(unsigned long long)sample->time_ns, (unsigned long long)sample->period);
	for (uint32_t i = 0; i < sample->named_count; i++) {
		const struct wire_named *frame = &sample->named[i];

		str_addf(&in->told, "%s%s", i ? (frame[-1].inlined ? " in " : " < ") : " ",
			frame->function ? frame->function : "?");
		if (frame->module)
			str_addf(&in->told, " (%s)", frame->module);
		if (frame->file)
			str_addf(&in->told, " %s:%u", frame->file, frame->line);
	}
	for (uint32_t i = 0; i < sample->branch_count; i++)
		str_addf(&in->told, " %llx>%llx:%x:%u",
			(unsigned long long)sample->branches[i].from,
			(unsigned long long)sample->branches[i].to, sample->branches[i].flags,
			sample->branches[i].cycles);
	str_add(&in->told, "\n");
}

static inline int counted_take_sample(void *context, const struct wire_sample *sample)
{
	struct counted *in = context;

	assert_in_range(sample->event, 1, 63);
	in->samples++;
	in->of_event[sample->event]++;
	in->branches += sample->branch_count;
	in->chain += sample->chain_count;
	in->accesses += sample->has_access;
	in->unwindable += sample->user.valid && sample->stack_bytes;
	in->period += sample->period;
	in->backwards += sample->time_ns < in->time_ns;
	in->time_ns = sample->time_ns;
	if (sample->named_count || sample->branch_count)
		counted_tell(in, sample);
	return 0;
}

static inline void counted_import(struct counted *in, const char *bytes, size_t len)
{
	struct wire_sink sink = {counted_take, counted_take_sample, in};

	*in = (struct counted){0};
	in->r = import_bytes(bytes, len, "t", &sink, &in->report, &in->err);
}

static inline void counted_import_file(struct counted *in, const char *path)
{
	struct wire_sink sink = {counted_take, counted_take_sample, in};

	*in = (struct counted){0};
	in->r = import_file(path, &(struct quota){0}, &sink, &in->report, &in->err);
}

static inline void counted_done(struct counted *in)
{
	str_done(&in->told);
	str_done(&in->notes);
	str_done(&in->said);
}
