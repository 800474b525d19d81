/* find_function.c - see find_function.h.
 *
 * What a name means is decided by label.h, as for every command.  Annotating wants more than a
 * label: one place in one file.  Two places of one name are two candidates in the message, never a
 * guess. */
#include "analyze/find_function.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "analyze/label.h"
#include "base/str.h"
#include "base/vec.h"
#include "model/run.h"

enum { CANDIDATES_SHOWN = 4 };

typedef vec_of(uint32_t) id_vec;

static const char *module_path(const struct run *run, const struct function_row *f)
{
	return f->module ? run_text(run, run->modules.at[f->module - 1].path) : "[unknown]";
}

/* `module` is the end of the path, from a '/' on. */
static bool module_is_meant(const struct run *run, const struct function_row *f, const char *module)
{
	const char *path = module_path(run, f);
	size_t len = strlen(path), end = module ? strlen(module) : 0;

	if (!module || !str_ends(path, module))
		return !module;
	return len == end || *module == '/' || path[len - end - 1] == '/';
}

static int rows_named(const struct run *run, const char *text, id_vec *ret_rows, struct err *err)
{
	label_book_auto struct label_book book;
	mem_auto bool *marks = NULL, *known = NULL;
	int r;

	label_book_init(&book, run, LABEL_FUNCTION);
	marks = mem_new((size_t)book.labels.count + 1, sizeof(*marks));
	known = mem_new((size_t)run->functions.count + 1, sizeof(*known));
	r = label_book_find(&book, text, marks, err);
	for (row_id id = 1; r >= 0 && id <= run->frames.count; id++) {
		row_id function = run->frames.at[id - 1].function;

		if (marks[book.of_frame[id]] && !known[function])
			vec_push(ret_rows, function);
		known[function] |= marks[book.of_frame[id]];
	}
	return r;
}

static int rows_at(const struct run *run, uint64_t addr, id_vec *ret_rows, struct err *err)
{
	for (uint32_t i = 0; i < run->functions.count; i++) {
		const struct function_row *f = &run->functions.at[i];

		if (f->addr && addr >= f->addr && addr - f->addr < (f->size_bytes ?: 1))
			vec_push(ret_rows, i + 1);
	}
	if (ret_rows->count)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "no function with samples at 0x%llx",
		(unsigned long long)addr);
	err_hint(err, "use addresses of the program file, as nm and objdump show them");
	return -EINVAL;
}

static int rows_of_module(
	const struct run *run, const char *text, const char *module, id_vec *rows, struct err *err)
{
	const char *path;
	uint32_t kept = 0;

	assert(rows->at && run->functions.at); /* the caller found at least one */
	path = module_path(run, &run->functions.at[rows->at[0] - 1]);

	vec_foreach (const uint32_t, id, rows)
		if (module_is_meant(run, &run->functions.at[*id - 1], module))
			rows->at[kept++] = *id;
	rows->count = kept;
	if (kept)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "'%.200s' has no samples in module '%.200s'", text, module);
	err_hint(err, "it has samples in %s", path);
	return -EINVAL;
}

/* Rows of one function: same name, module and file, and not two places in the module. */
static bool rows_are_one(const struct run *run, uint32_t a, uint32_t b)
{
	const struct function_row *x = &run->functions.at[a - 1], *y = &run->functions.at[b - 1];

	return x->name == y->name && x->module == y->module &&
	       (!x->file || !y->file || x->file == y->file) &&
	       (!x->addr || !y->addr || x->addr == y->addr);
}

/* One of each function that was matched.  Those with an address first: an inlined copy is like each
 * of two functions of its name, and must not make one of them. */
static void rows_apart(const struct run *run, const id_vec *rows, id_vec *ret_apart)
{
	for (unsigned copies = 0; copies < 2; copies++)
		vec_foreach (const uint32_t, id, rows) {
			bool known = (run->functions.at[*id - 1].addr == 0) != copies;

			vec_foreach (const uint32_t, other, ret_apart)
				known |= rows_are_one(run, *id, *other);
			if (!known)
				vec_push(ret_apart, *id);
		}
}

static int too_many(const struct run *run, const char *text, const id_vec *rows, struct err *err)
{
	str_auto struct str list = {0};

	for (uint32_t i = 0; i < rows->count && i < CANDIDATES_SHOWN; i++) {
		const struct function_row *f = &run->functions.at[rows->at[i] - 1];

		str_addf(&list, "%s", i ? ", " : "");
		if (f->addr)
			str_addf(&list, "0x%llx in ", (unsigned long long)f->addr);
		str_addf(&list, "%.100s", label_base(module_path(run, f)));
	}
	err_set(err, ERR_USAGE, EINVAL, "'%.200s' exists in %u places", text, rows->count);
	err_hint(err, "add --module, or use an address instead of the name: %.400s%s", list.at,
		rows->count > CANDIDATES_SHOWN ? "..." : "");
	return -EINVAL;
}

static void found_fill(const struct run *run, const id_vec *rows, struct arena *arena,
	struct function_found *ret_found)
{
	*ret_found = (struct function_found){
		.rows = arena_take(arena, rows->count * sizeof(uint32_t)),
		.inlined = arena_take(arena, rows->count * sizeof(uint32_t)),
		.best = rows->at[0],
	};
	vec_foreach (const uint32_t, id, rows)
		if (run->functions.at[*id - 1].addr) {
			ret_found->rows[ret_found->count++] = *id;
			ret_found->best = *id;
		}
	vec_foreach (const uint32_t, id, rows) {
		if (run->functions.at[*id - 1].addr)
			continue;
		if (run->functions.at[ret_found->best - 1].addr)
			ret_found->inlined[ret_found->inlined_count++] = *id;
		else
			ret_found->rows[ret_found->count++] = *id;
	}
}

int function_find(const struct run *run, const char *text, const char *module, struct arena *arena,
	struct function_found *ret_found, struct err *err)
{
	id_vec rows = {0}, apart = {0};
	uint64_t addr;
	int r;

	if (!run->samples.count) {
		err_set(err, ERR_USAGE, EINVAL, "this run has no samples");
		err_hint(err, "record one that does: assay record -- PROGRAM");
		return -EINVAL;
	}
	if (str_starts(text, "0x") && str_to_u64(text, &addr) == 0)
		r = rows_at(run, addr, &rows, err);
	else
		r = rows_named(run, text, &rows, err);
	if (r >= 0)
		r = rows_of_module(run, text, module, &rows, err);
	if (r >= 0)
		rows_apart(run, &rows, &apart);
	if (r >= 0 && apart.count > 1)
		r = too_many(run, text, &apart, err);
	else if (r >= 0)
		found_fill(run, &rows, arena, ret_found);
	vec_done(&rows);
	vec_done(&apart);
	return r;
}
