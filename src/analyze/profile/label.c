/* label.c - see label.h.
 *
 * Frames are few (thousands) and stacks many, so every frame gets its label once, up front; walking
 * a stack is then two array look-ups per frame and no hashing.  What has no name is grouped by
 * module: a list of addresses that nobody can read hides that one library lacks its symbols. */
#include "analyze/label.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "code/names.h"
#include "model/run.h"

static const char unknown[] = "[unknown]";

/* What makes two rows the same label; zeroed first, because it is compared as bytes. */
struct label_key {
	uint32_t name, definition, module, file, line;
};

bool label_same_function(const char *a, const char *b)
{
	size_t len = names_bare_length(a);

	return names_bare_length(b) == len && memcmp(a, b, len) == 0;
}

const char *label_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint32_t book_add(struct label_book *book, struct map *known, const struct label_key *key,
	const struct label *label)
{
	uint32_t id;

	if (map_get(known, key, sizeof(*key), &id))
		return id;
	vec_push(&book->labels, *label);
	map_put(known, key, sizeof(*key), book->labels.count);
	return book->labels.count;
}

static uint32_t module_flags(const struct run *run, row_id module)
{
	uint32_t flags = module ? run->modules.at[module - 1].flags : 0;

	return (flags & MODULE_KERNEL ? LABEL_KERNEL : 0) | (flags & MODULE_JIT ? LABEL_JIT : 0);
}

static const char *module_path(const struct run *run, row_id module)
{
	return module ? run_text(run, run->modules.at[module - 1].path) : "";
}

/* What stands in `module` and has no name; by module, the module itself. */
static void label_module(struct label_book *book, row_id module)
{
	const char *path = module_path(book->run, module);
	struct label label = {.name = unknown, .module = path, .file = ""};

	label.flags = module_flags(book->run, module) | LABEL_UNNAMED;
	if (book->kind == LABEL_MODULE && *path) {
		label.name = path;
		label.flags &= ~(uint32_t)LABEL_UNNAMED;
	}
	vec_push(&book->labels, label);
	book->of_module[module] = book->labels.count;
}

static uint32_t label_frame(
	struct label_book *book, struct map *known, const struct frame_row *frame)
{
	static const struct function_row none;
	const struct run *run = book->run;
	const struct function_row *function =
		frame->function ? &run->functions.at[frame->function - 1] : &none;
	struct label_key key = {0};
	struct label label = {
		.name = function->name ? run_text(run, function->name) : unknown,
		.module = module_path(run, function->module),
		.file = run_text(run, frame->file),
		.line = frame->line,
		.flags = module_flags(run, function->module),
	};

	if (book->kind == LABEL_FILE) {
		key.file = frame->file;
		label.name = label.file;
		label.module = "";
		label.line = 0;
		return frame->file ? book_add(book, known, &key, &label) : 0;
	}
	if (!function->name && (book->kind == LABEL_FUNCTION || !frame->line))
		return 0;
	key = (struct label_key){function->name, function->file, function->module, 0, 0};
	if (book->kind == LABEL_LINE) {
		key.file = frame->file;
		key.line = frame->line;
	} else {
		label.file = run_text(run, function->file);
		label.line = function->line;
	}
	label.flags |= function->name ? 0 : LABEL_UNNAMED;
	return book_add(book, known, &key, &label);
}

void label_book_init(struct label_book *book, const struct run *run, enum label_kind kind)
{
	struct map known = {0};

	*book = (struct label_book){.run = run, .kind = kind};
	book->of_frame = mem_new((size_t)run->frames.count + 1, sizeof(*book->of_frame));
	book->of_module = mem_new((size_t)run->modules.count + 1, sizeof(*book->of_module));
	vec_push(&book->labels,
		(struct label){
			.name = "[no stack]", .module = "", .file = "", .flags = LABEL_UNNAMED});
	for (row_id module = 0; module <= run->modules.count; module++)
		label_module(book, module);
	for (uint32_t i = 0; i < run->frames.count && kind != LABEL_MODULE; i++)
		book->of_frame[i + 1] = label_frame(book, &known, &run->frames.at[i]);
	map_done(&known);
}

void label_book_done(struct label_book *book)
{
	vec_done(&book->labels);
	free(book->of_frame);
	free(book->of_module);
	book->of_frame = book->of_module = NULL;
}

unsigned label_book_at(
	const struct label_book *book, uint32_t location, uint32_t ret_labels[LABEL_INLINES_MAX])
{
	static const struct location_row nowhere;
	const struct run *run = book->run;
	const struct location_row *at = location ? &run->locations.at[location - 1] : &nowhere;
	row_id frame = at->frame;
	unsigned count = 0;

	do {
		uint32_t label = book->of_frame[frame];

		ret_labels[count++] = label ? label : book->of_module[at->module];
		frame = frame ? run->frames.at[frame - 1].outer : 0;
	} while (frame && count < LABEL_INLINES_MAX);
	return count;
}

/* ---- finding ---- */

enum match { MATCH_NONE, MATCH_PART, MATCH_PLAIN, MATCH_EXACT };

static enum match name_match(const char *name, const char *text)
{
	size_t len = strlen(text);

	if (strcmp(name, text) == 0)
		return MATCH_EXACT;
	if (strncmp(name, text, len) == 0 && name[len] == '(')
		return MATCH_PLAIN;
	return strstr(name, text) ? MATCH_PART : MATCH_NONE;
}

static int find_none(const struct label_book *book, const char *text, struct err *err)
{
	mem_auto const char **names = mem_new((size_t)book->labels.count + 1, sizeof(*names));
	uint32_t count = 0;

	vec_foreach (const struct label, label, &book->labels)
		if (!(label->flags & LABEL_UNNAMED))
			names[count++] = label->name;
	err_set(err, ERR_USAGE, EINVAL, "no function in this run is named '%.200s'", text);
	return err_nearest(err, str_nearest(text, names),
		count ? "assay report RUN --limit 0 lists every function"
		      : "no address of this run has a name");
}

/* The first few names; `best` matched more than one of them. */
static int find_many(
	const struct label_book *book, const char *text, enum match best, struct err *err)
{
	str_auto struct str list = {0};
	const char *last = NULL;
	unsigned count = 0;

	vec_foreach (const struct label, label, &book->labels) {
		if (label->flags & LABEL_UNNAMED || name_match(label->name, text) != best)
			continue;
		if (last && str_equal(last, label->name))
			continue;
		last = label->name;
		if (count++ < 5)
			str_addf(&list, "%s%.80s", count > 1 ? ", " : "", last);
	}
	err_set(err, ERR_USAGE, EINVAL, "'%.200s' matches %u function names", text, count);
	err_hint(err, "write the full name: %s%s", str_text(&list), count > 5 ? "..." : "");
	return -EINVAL;
}

int label_book_find(
	const struct label_book *book, const char *text, bool *ret_marks, struct err *err)
{
	enum match best = MATCH_NONE;
	const char *name = NULL;

	for (uint32_t i = 0; i < book->labels.count; i++) {
		const struct label *label = &book->labels.at[i];
		enum match match =
			label->flags & LABEL_UNNAMED ? MATCH_NONE : name_match(label->name, text);

		best = match > best ? match : best;
	}
	if (best == MATCH_NONE || !*text)
		return find_none(book, text, err);
	for (uint32_t i = 0; i < book->labels.count; i++) {
		const struct label *label = &book->labels.at[i];
		bool hit = !(label->flags & LABEL_UNNAMED) && name_match(label->name, text) == best;

		if (hit && name && !str_equal(name, label->name))
			return find_many(book, text, best, err);
		name = hit ? label->name : name;
		ret_marks[i + 1] = hit;
	}
	return 0;
}

void label_add_text(const struct label *label, enum label_kind kind, struct str *out)
{
	if (label->flags & LABEL_UNNAMED && *label->module && !label->line)
		str_addf(out, label->module[0] == '[' ? "%s" : "[%s]", label_base(label->module));
	else if (kind == LABEL_LINE && label->line)
		str_addf(out, "%s:%u %s", label_base(label->file), label->line, label->name);
	else
		str_add(out, label->name);
}
