/* find_function.c - see find_function.h.
 *
 * From strict to loose, and the first rule that matches anything decides: so `push` finds `push`
 * also where there is a `push_back`.  Two functions that match are two candidates in the message,
 * never a guess. */
#include "analyze/find_function.h"

#include <errno.h>
#include <string.h>

#include "base/str.h"
#include "base/vec.h"
#include "model/run.h"

enum { CANDIDATES_SHOWN = 4 };

typedef bool function_rule(const char *name, const char *text);

static bool name_is(const char *name, const char *text)
{
	return str_equal(name, text);
}

/* "ns::f<int>(long) const" is meant by "ns::f<int>". */
static bool name_is_without_parameters(const char *name, const char *text)
{
	size_t len = strlen(text);

	return strncmp(name, text, len) == 0 && name[len] == '(';
}

static bool name_holds(const char *name, const char *text)
{
	return strstr(name, text) != NULL;
}

typedef vec_of(uint32_t) id_vec;

static bool module_is_meant(const struct run *run, const struct function_row *f, const char *module)
{
	const char *path =
		f->module ? run_text(run, run->modules.at[f->module - 1].path) : "[unknown]";
	size_t len = strlen(path), end = module ? strlen(module) : 0;

	if (!module || !str_ends(path, module))
		return !module;
	return len == end || *module == '/' || path[len - end - 1] == '/';
}

static void rows_matching(const struct run *run, const char *text, const char *module,
	function_rule *rule, id_vec *ret_rows)
{
	for (uint32_t i = 0; i < run->functions.count; i++) {
		const struct function_row *f = &run->functions.at[i];

		if (rule(run_text(run, f->name), text) && module_is_meant(run, f, module))
			vec_push(ret_rows, i + 1);
	}
}

static void rows_at(const struct run *run, uint64_t addr, const char *module, id_vec *ret_rows)
{
	for (uint32_t i = 0; i < run->functions.count; i++) {
		const struct function_row *f = &run->functions.at[i];

		if (f->addr && addr >= f->addr && addr - f->addr < (f->size_bytes ?: 1) &&
			module_is_meant(run, f, module))
			vec_push(ret_rows, i + 1);
	}
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

static int not_found(const struct run *run, const char *text, struct err *err)
{
	const char **words = mem_new(run->functions.count + 1, sizeof(*words));
	const char *nearest;

	for (uint32_t i = 0; i < run->functions.count; i++)
		words[i] = run_text(run, run->functions.at[i].name);
	nearest = str_nearest(text, words);
	err_set(err, ERR_USAGE, EINVAL, "no sample of this run is in a function '%s'", text);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	else if (!run->samples.count)
		err_hint(err, "the run holds no samples: make one with `assay record -- PROGRAM`");
	else if (!run->functions.count)
		err_hint(err, "no address of this run has a name: install the program's symbols");
	else
		err_hint(err, "`assay report RUN` lists the functions that have samples");
	free(words);
	return -EINVAL;
}

static int too_many(const struct run *run, const char *text, const id_vec *rows, struct err *err)
{
	str_auto struct str list = {0};

	for (uint32_t i = 0; i < rows->count && i < CANDIDATES_SHOWN; i++) {
		const struct function_row *f = &run->functions.at[rows->at[i] - 1];
		const char *path =
			f->module ? run_text(run, run->modules.at[f->module - 1].path) : "";

		str_addf(&list, "%s'%.80s'", i ? ", " : "", run_text(run, f->name));
		if (f->addr)
			str_addf(&list, " at 0x%llx", (unsigned long long)f->addr);
		if (*path)
			str_addf(&list, " of %.60s",
				strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
	}
	err_set(err, ERR_USAGE, EINVAL, "'%.100s' may mean more than one function", text);
	err_hint(err, "give the whole name, or its address and --module: %.380s%s", list.at,
		rows->count > CANDIDATES_SHOWN ? ", ..." : "");
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
	static function_rule *const rules[] = {name_is, name_is_without_parameters, name_holds};
	id_vec rows = {0}, apart = {0};
	uint64_t addr;
	int r = 0;

	if (str_starts(text, "0x") && str_to_u64(text, &addr) == 0)
		rows_at(run, addr, module, &rows);
	for (unsigned i = 0; *text && !rows.count && i < sizeof(rules) / sizeof(*rules); i++)
		rows_matching(run, text, module, rules[i], &rows);
	rows_apart(run, &rows, &apart);
	if (!rows.count)
		r = not_found(run, text, err);
	else if (apart.count > 1)
		r = too_many(run, text, &apart, err);
	else
		found_fill(run, &rows, arena, ret_found);
	vec_done(&rows);
	vec_done(&apart);
	return r;
}
