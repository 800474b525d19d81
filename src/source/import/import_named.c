/* import_named.c - see import_named.h.  An inlined frame has no module of its own in any of these
 * formats; it gets that of the frame it is inlined into. */
#include "import_named.h"

#include <string.h>

#include "wire/build.h"

enum { NAMED_EVENTS = 4096, TEXT_BYTES = 64 };

struct named named_of(const struct wire_sink *sink, struct import_report *report)
{
	return (struct named){.sink = sink, .report = report};
}

void named_done(struct named *named)
{
	vec_done(&named->texts);
	vec_done(&named->frames);
	vec_done(&named->branches);
	map_done(&named->ids);
	map_done(&named->events);
	map_done(&named->tasks);
	arena_done(&named->arena);
}

static uint32_t text_index(struct named *named, const char *at, size_t len)
{
	uint32_t index;

	if (map_get(&named->ids, at, len, &index))
		return index;
	index = named->texts.count;
	quota_take(named->report->quota, TEXT_BYTES + 2 * len); /* here and as the key */
	vec_push(&named->texts, arena_text(&named->arena, at, len));
	map_put(&named->ids, at, len, index);
	return index;
}

const char *named_text(struct named *named, const char *at, size_t len)
{
	uint32_t index;

	if (!len)
		return NULL;
	index = text_index(named, at, len);
	return named->texts.at[index];
}

static int emit_event(struct named *named, uint32_t id, const struct named_event *event)
{
	union {
		struct wire_event event;
		unsigned char bytes[8192];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_EVENT, sizeof(space.event));
	const char *name = event->name, *core = NULL;

	import_core_split(&named->arena, &name, &core);
	space.event.event = id;
	space.event.status = WIRE_EVENT_COUNTED;
	space.event.flags = event->flags;
	space.event.scale = 1;
	wire_add_text(&b, &space.event.unit, event->unit);
	wire_add_text(&b, &space.event.core, core);
	wire_add_text(&b, &space.event.name, name);
	return named->sink->take(named->sink->context, wire_end(&b));
}

int named_event(struct named *named, const struct named_event *event, uint32_t *ret_id)
{
	uint32_t id = named->events.count + 1;

	if (map_get(&named->events, event->name, strlen(event->name), ret_id))
		return 0;
	*ret_id = 0;
	if (id > NAMED_EVENTS)
		return 0;
	map_put(&named->events, event->name, strlen(event->name), id);
	*ret_id = id;
	return emit_event(named, id, event);
}

int named_task(struct named *named, uint32_t pid, uint32_t tid, const char *name)
{
	union {
		struct wire_task task;
		unsigned char bytes[1024];
	} space;
	struct wire_builder b = wire_begin(&space, sizeof(space), WIRE_TASK, sizeof(space.task));
	uint32_t known, index = text_index(named, name, strlen(name));

	if (map_get(&named->tasks, &tid, sizeof(tid), &known) && known == index)
		return 0;
	map_put(&named->tasks, &tid, sizeof(tid), index);
	space.task.kind = WIRE_TASK_NAME;
	space.task.pid = pid;
	space.task.tid = tid;
	wire_add_text(&b, &space.task.name, name);
	return named->sink->take(named->sink->context, wire_end(&b));
}

int named_sample(struct named *named, struct wire_sample *sample)
{
	const char *module = NULL;
	int r = 0;

	for (uint32_t i = named->frames.count; i-- > 0;) {
		struct wire_named *frame = &named->frames.at[i];

		if (frame->inlined && !frame->module)
			frame->module = module;
		module = frame->module;
	}
	sample->named = named->frames.at;
	sample->named_count = named->frames.count;
	sample->branches = named->branches.at;
	sample->branch_count = named->branches.count;
	named->report->samples++;
	if (named->sink->take_sample)
		r = named->sink->take_sample(named->sink->context, sample);
	named->frames.count = 0;
	named->branches.count = 0;
	return r;
}
