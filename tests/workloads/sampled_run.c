/* sampled_run.c - a run with samples at addresses of one's choice: `sampled-run PROGRAM RUN <LIST`.
 *
 * Each line of the list is one sample: EVENT PERIOD ADDR [CALLER...], in hex as in the ELF file,
 * innermost first; a caller is a return address less one.  Names and lines are found as for a
 * recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"
#include "base/str.h"
#include "code/image.h"
#include "ingest/ingest.h"
#include "model/run.h"
#include "model/store.h"

struct maker {
	struct run *run;
	row_id module;
	struct map locations, stacks;
};

static row_id location_of(struct maker *maker, uint64_t addr, uint32_t flags)
{
	const uint64_t key[] = {addr, flags};
	row_id id;

	if (map_get(&maker->locations, key, sizeof(key), &id))
		return id;
	id = run_add_location(maker->run,
		&(struct location_row){.module = maker->module, .addr = addr, .flags = flags});
	map_put(&maker->locations, key, sizeof(key), id);
	return id;
}

static row_id event_of(struct maker *maker, const char *name)
{
	for (row_id id = 1; id <= maker->run->events.count; id++)
		if (str_equal(run_text(maker->run, maker->run->events.at[id - 1].name), name))
			return id;
	return run_add_event(
		maker->run, &(struct event_row){.name = run_intern(maker->run, name), .scale = 1});
}

enum { DEPTH = 64 };

static void sample_add(struct maker *maker, char *line)
{
	char *save = NULL, *event = strtok_r(line, " \n", &save);
	char *period = strtok_r(NULL, " \n", &save), *word;
	uint64_t addrs[DEPTH];
	unsigned count = 0;
	row_id stack = 0;

	while (count < DEPTH && (word = strtok_r(NULL, " \n", &save)))
		addrs[count++] = strtoull(word, NULL, 16);
	while (count--) {
		row_id location = location_of(maker, addrs[count], count ? LOCATION_CALLER : 0);
		const row_id key[] = {stack, location};

		if (!map_get(&maker->stacks, key, sizeof(key), &stack)) {
			stack = run_add_stack(maker->run, &(struct stack_row){key[0], location});
			map_put(&maker->stacks, key, sizeof(key), stack);
		}
	}
	if (period)
		run_add_sample(
			maker->run, &(struct sample_row){.time_ns = maker->run->samples.count,
					    .period = strtoull(period, NULL, 10),
					    .event = event_of(maker, event),
					    .thread = 1,
					    .stack = stack});
}

static int run_make(struct run *run, const char *path, struct err *err)
{
	struct maker maker = {.run = run};
	struct image *image;
	char line[4096];
	int r = image_open(path, &image, err);

	if (r < 0)
		return r;
	run->command = run_intern(run, "record");
	run->target = run_intern(run, path);
	run->started_ns = (uint64_t)time(NULL) * 1000000000;
	run_add_thread(run, &(struct thread_row){1, 1, run_intern(run, "main")});
	maker.module =
		run_add_module(run, &(struct module_row){.path = run_intern(run, path),
					    .build_id = run_intern(run, image_build_id(image))});
	image_close(image);
	while (fgets(line, sizeof(line), stdin))
		sample_add(&maker, line);
	ingest_name(run, NULL);
	map_done(&maker.locations);
	map_done(&maker.stacks);
	return 0;
}

int main(int argc, char **argv)
{
	run_auto struct run *run = run_open();
	store_auto struct store *store = NULL;
	struct err err = {0};

	if (argc != 3) {
		fprintf(stderr, "usage: sampled-run PROGRAM RUN <LIST\n");
		return 2;
	}
	if (run_make(run, argv[1], &err) < 0 || store_create(argv[2], &store, &err) < 0 ||
		store_finish(store, run, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}
