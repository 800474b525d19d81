/* annotate_place.c - what each location of the run is to the annotated function.
 *
 * Locations are thousands where samples are millions, so everything that takes a search (the inline
 * chain, the line, the instruction that holds the address) is done once for each of them. */
#include <string.h>

#include "analyze/find_function.h"
#include "annotate_parts.h"
#include "base/sorted.h"
#include "base/str.h"
#include "code/listing.h"

uint32_t annotate_file_index(struct annotate_work *work, const char *path)
{
	uint32_t index;

	if (!map_add(&work->file_index, path, strlen(path), work->files.count, &index))
		return index;
	vec_push(&work->files, (struct annotate_file){.path = path});
	return index;
}

uint32_t annotate_line_index(
	struct annotate_work *work, uint32_t file, uint32_t line, const char *function)
{
	const uint32_t key[] = {file, line};
	size_t bytes = work->view->event_count * sizeof(struct profile_cost);
	uint32_t index;

	if (!map_add(&work->line_index, key, sizeof(key), work->lines.count, &index))
		return index;
	vec_push(&work->lines, (struct annotate_line){.file = file,
				       .line = line,
				       .function = function,
				       .self = arena_take(work->arena, bytes),
				       .below = arena_take(work->arena, bytes)});
	return index;
}

/* The last row that does not begin behind `addr`. */
static const struct listing_line *listing_line_at(const struct listing *listing, uint64_t addr)
{
	uint32_t upto = listing ? array_upto(listing->lines, listing->line_count, addr, addr) : 0;

	return upto && listing->lines[upto - 1].line ? &listing->lines[upto - 1] : NULL;
}

/* Index + 1 of the instruction that holds the byte at `addr`, 0: none does. */
static uint32_t instruction_at(const struct annotate_view *view, uint64_t addr)
{
	uint32_t upto = array_upto(view->instructions, view->instruction_count, addr, addr);

	if (!upto ||
		addr - view->instructions[upto - 1].addr >= view->instructions[upto - 1].size_bytes)
		return 0;
	return upto;
}

static uint32_t line_of(struct annotate_work *work, const struct location_row *location,
	const struct frame_row *innermost, bool foreign)
{
	const struct run *run = work->run;
	const char *function =
		foreign ? run_text(run, run->functions.at[innermost->function - 1].name) : NULL;
	const struct listing_line *row;

	if (innermost->line)
		return annotate_line_index(work,
			annotate_file_index(work, run_text(run, innermost->file)), innermost->line,
			function);
	row = listing_line_at(work->options->listing, location->addr);
	return row ? annotate_line_index(
			     work, annotate_file_index(work, row->file), row->line, function)
		   : annotate_line_index(work, annotate_file_index(work, ""), 0, NULL);
}

enum { MARK_FUNCTION = 1, MARK_COPY = 2 };

static unsigned char *functions_marked(const struct annotate_work *work)
{
	const struct function_found *found = work->options->function;
	unsigned char *marks = mem_new(work->run->functions.count + 1, 1);

	for (uint32_t i = 0; i < found->inlined_count; i++)
		marks[found->inlined[i]] = MARK_COPY;
	for (uint32_t i = 0; i < found->count; i++)
		marks[found->rows[i]] = MARK_FUNCTION;
	return marks;
}

/* The marks of a frame and of all that it is inlined into: those are earlier rows. */
static unsigned char *frames_marked(struct annotate_work *work, const unsigned char *functions)
{
	const struct run *run = work->run;
	unsigned char *marks = mem_new(run->frames.count + 1, 1);

	for (row_id id = 1; id <= run->frames.count; id++) {
		const struct frame_row *frame = &run->frames.at[id - 1];

		marks[id] = functions[frame->function] | marks[frame->outer];
		if (functions[frame->function] == MARK_FUNCTION && !frame->outer)
			work->view->inlined_only = false;
	}
	return marks;
}

/* The function that really stands where this frame is. */
static row_id function_at_frame(const struct run *run, row_id frame)
{
	while (frame && run->frames.at[frame - 1].outer)
		frame = run->frames.at[frame - 1].outer;
	return frame ? run->frames.at[frame - 1].function : 0;
}

static void place_find(struct annotate_work *work, row_id id, const unsigned char *functions,
	const unsigned char *frames)
{
	const struct run *run = work->run;
	const struct location_row *location = &run->locations.at[id - 1];
	struct annotate_place *place = &work->places[id];
	const struct frame_row *innermost;

	place->inside = frames[location->frame] & MARK_FUNCTION;
	place->copy = !place->inside && frames[location->frame];
	if (!place->inside)
		return;
	innermost = &run->frames.at[location->frame - 1];
	if (!work->host)
		work->host = function_at_frame(run, location->frame);
	place->foreign = innermost->function && functions[innermost->function] != MARK_FUNCTION;
	place->line = line_of(work, location, innermost, place->foreign);
	if (location->module == run->functions.at[work->options->function->best - 1].module)
		place->instruction = instruction_at(work->view, location->addr);
}

static void instructions_take_lines(struct annotate_work *work)
{
	const struct listing *listing = work->options->listing;
	struct annotate_view *view = work->view;
	uint32_t next = 0, file = 0, line = 0;

	for (uint32_t i = 0; i < view->instruction_count; i++) { /* both in order of address */
		const char *path = i ? NULL : "";

		for (; next < listing->line_count &&
			listing->lines[next].addr <= view->instructions[i].addr;
			next++) {
			line = listing->lines[next].line;
			path = line ? listing->lines[next].file : "";
		}
		if (path)
			file = annotate_file_index(work, path);
		view->instructions[i].line = line;
		view->instructions[i].file = file;
	}
	/* Without a line table the sampled addresses still tell theirs. */
	for (uint32_t i = 1; i <= work->run->locations.count; i++) {
		const struct annotate_place *place = &work->places[i];
		struct annotate_instruction *row;

		if (!place->inside || !place->instruction)
			continue;
		row = &view->instructions[place->instruction - 1];
		if (!row->line) {
			row->line = work->lines.at[place->line].line;
			row->file = work->lines.at[place->line].file;
		}
	}
}

void annotate_find_places(struct annotate_work *work)
{
	mem_auto unsigned char *functions = functions_marked(work);
	mem_auto unsigned char *frames = NULL;

	work->view->inlined_only = true;
	frames = frames_marked(work, functions);
	work->places = mem_new(work->run->locations.count + 1, sizeof(*work->places));
	if (*work->view->file) /* the function's own file comes first */
		annotate_file_index(work, work->view->file);
	for (row_id id = 1; id <= work->run->locations.count; id++)
		place_find(work, id, functions, frames);
	instructions_take_lines(work);
}
