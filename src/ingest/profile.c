/* profile.c - tasks, mappings and samples as they come. */
#include "profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wire/record.h"

struct profile *profile_open(struct run *run, struct quota *quota)
{
	struct profile *profile = mem_new(1, sizeof(*profile));

	profile->run = run;
	profile->namer.run = run;
	profile->quota = profile->namer.quota = quota;
	profile->kernel = mem_new(1, sizeof(*profile->kernel));
	profile->kernel->pid = UINT32_MAX;
	vec_push(&profile->layouts, mem_new(1, sizeof(struct layout)));
	vec_push(&profile->kernel->versions, (struct space_version){0, profile->layouts.at[0]});
	vec_push(&profile->spaces, profile->kernel);
	return profile;
}

void profile_close(struct profile *profile)
{
	if (!profile)
		return;
	vec_foreach (struct module *, module, &profile->modules)
		module_done(*module);
	space_done(profile);
	vec_done(&profile->modules);
	map_done(&profile->module_of);
	vec_done(&profile->tasks);
	map_done(&profile->task_of);
	id_table_done(&profile->locations);
	id_table_done(&profile->stacks);
	namer_done(&profile->namer);
	vec_done(&profile->known);
	vec_done(&profile->waiting);
	vec_done(&profile->waiting_branches);
	arena_done(&profile->arena);
	free(profile);
}

void profile_map(struct profile *profile, const struct wire_record *record)
{
	const struct wire_map *map = (const struct wire_map *)record;
	struct mapping mapping = {
		.start = map->start,
		.end = map->start + map->len,
		.file_offset = map->file_offset,
		.time_ns = map->time_ns,
	};
	bool kernel = map->flags & WIRE_MAP_KERNEL;

	if (mapping.end <= mapping.start)
		mapping.end = UINT64_MAX; /* "to the end": the kernel's own */
	mapping.module = module_of_path(profile, kernel ? "[kernel]" : wire_text(record, map->path),
		wire_text(record, map->build_id), map->pid);
	space_map(profile, kernel ? profile->kernel : space_of_pid(profile, map->pid), &mapping);
}

static struct task *task_of(struct profile *profile, uint32_t pid, uint32_t tid)
{
	uint32_t key[2] = {pid, tid}, index;

	if (!map_get(&profile->task_of, key, sizeof(key), &index)) {
		vec_push(&profile->tasks, (struct task){.pid = pid, .tid = tid});
		index = profile->tasks.count;
		map_put(&profile->task_of, key, sizeof(key), index);
	}
	return &profile->tasks.at[index - 1];
}

static void task_name(struct profile *profile, uint32_t pid, uint32_t tid, text_id name)
{
	struct task *task = task_of(profile, pid, tid);

	if (task->name != name)
		task->row = 0;
	task->name = name;
}

void profile_task(struct profile *profile, const struct wire_record *record)
{
	const struct wire_task *task = (const struct wire_task *)record;

	switch ((enum wire_task_kind)task->kind) {
	case WIRE_TASK_FORK:
		space_fork(profile, task->pid, task->parent_pid, task->time_ns);
		task_name(profile, task->pid, task->tid,
			task_of(profile, task->parent_pid, task->parent_tid)->name);
		break;
	case WIRE_TASK_EXEC:
		space_exec(profile, task->pid, task->time_ns);
		task_name(profile, task->pid, task->tid,
			run_intern(profile->run, wire_text(record, task->name)));
		break;
	case WIRE_TASK_NAME:
		task_name(profile, task->pid, task->tid,
			run_intern(profile->run, wire_text(record, task->name)));
		break;
	case WIRE_TASK_EXIT:
	case WIRE_TASK_KINDS:
		break;
	}
}

void profile_lost(struct profile *profile, const struct wire_record *record)
{
	const struct wire_lost *lost = (const struct wire_lost *)record;

	profile->lost[lost->kind] += lost->count;
}

static row_id thread_row(struct profile *profile, const struct wire_sample *sample)
{
	struct task *task = task_of(profile, sample->pid, sample->tid);

	if (!task->row)
		task->row = run_add_thread(
			profile->run, &(struct thread_row){sample->pid, sample->tid, task->name});
	return task->row;
}

void profile_sample(struct profile *profile, const struct wire_sample *sample)
{
	struct waiting waiting = {
		.row =
			{
				.time_ns = sample->time_ns,
				.period = sample->period,
				.event = sample->event,
				.cpu = sample->cpu,
			},
	};

	if (!sample->event || sample->event > profile->run->events.count)
		waiting.row.event = 0;
	waiting.row.stack = chain_of_sample(profile, sample, &waiting.row.flags);
	waiting.row.thread = thread_row(profile, sample);
	if (sample->has_access) {
		waiting.has_access = true;
		waiting.access = (struct access_row){
			.addr = sample->addr,
			.weight = sample->weight,
			.data_source = sample->data_source,
		};
	}
	profile->samples++;
	profile->truncated += (waiting.row.flags & SAMPLE_TRUNCATED) != 0;
	profile->broken += (waiting.row.flags & SAMPLE_BROKEN) != 0;
	profile->without_stack += !waiting.row.stack;
	order_add(profile, &waiting, sample);
}

void profile_end(struct profile *profile)
{
	struct run *run = profile->run;

	order_flush(profile, UINT64_MAX);
	run_set_quality(run, "samples", profile->samples);
	run_set_quality(run, "lost_samples", profile->lost[WIRE_LOST_SAMPLES]);
	run_set_quality(run, "lost_records", profile->lost[WIRE_LOST_RECORDS]);
	run_set_quality(run, "throttled", profile->lost[WIRE_LOST_THROTTLED]);
	run_set_quality(run, "truncated_stacks", profile->truncated);
	run_set_quality(run, "broken_stacks", profile->broken);
	run_set_quality(run, "samples_without_stack", profile->without_stack);
	run_set_quality(run, "unknown_addresses", profile->unknown_addresses);
}
