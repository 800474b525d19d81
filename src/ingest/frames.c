/* frames.c - the functions and frames of a run, each once. */
#include <string.h>

#include "profile.h"

/* A row and how it is found again; a text of the run is its own key. */
enum { ROW_BYTES = 96, TEXT_TIMES = 2 };

static void key_add(struct str *key, uint64_t number)
{
	str_add_bytes(key, (const char *)&number, sizeof(number));
}

/* The same name at another address of the module is another function (static ones); one that was
 * only ever inlined has no address, and is one function wherever it was inlined. */
static row_id namer_function(struct namer *namer, const struct names_frame *frame, row_id module)
{
	struct run *run = namer->run;
	struct function_row row = {
		.name = run_intern(run, frame->function),
		.file = run_intern(run, frame->function_file ? frame->function_file : frame->file),
		.module = module,
		.line = frame->function_line,
		.addr = frame->inlined ? 0 : frame->function_addr,
		.size_bytes = frame->inlined ? 0 : frame->function_bytes,
	};
	uint32_t id;

	str_clear(&namer->key);
	key_add(&namer->key, row.name);
	key_add(&namer->key, row.module);
	key_add(&namer->key, row.addr);
	if (frame->inlined)
		key_add(&namer->key, (uint64_t)row.file << 32 | row.line);
	if (map_get(&namer->functions, namer->key.at, namer->key.len, &id))
		return id;
	quota_take(namer->quota, ROW_BYTES + TEXT_TIMES * (strlen(frame->function) +
								  strlen(run_text(run, row.file))));
	id = run_add_function(run, &row);
	map_put(&namer->functions, namer->key.at, namer->key.len, id);
	return id;
}

row_id namer_frame(
	struct namer *namer, const struct names_frame *frame, row_id module, row_id outer)
{
	struct frame_row row = {
		.function = frame->function ? namer_function(namer, frame, module) : 0,
		.outer = outer,
		.file = run_intern(namer->run, frame->file),
		.line = frame->line,
	};
	uint32_t id;

	str_clear(&namer->key);
	key_add(&namer->key, (uint64_t)row.function << 32 | row.outer);
	key_add(&namer->key, (uint64_t)row.file << 32 | row.line);
	if (map_get(&namer->frames, namer->key.at, namer->key.len, &id))
		return id;
	quota_take(namer->quota, ROW_BYTES + TEXT_TIMES * (frame->file ? strlen(frame->file) : 0));
	id = run_add_frame(namer->run, &row);
	map_put(&namer->frames, namer->key.at, namer->key.len, id);
	return id;
}

void namer_done(struct namer *namer)
{
	map_done(&namer->functions);
	map_done(&namer->frames);
	str_done(&namer->key);
}
