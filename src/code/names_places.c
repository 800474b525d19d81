/* names_places.c - see places.h.
 *
 * The rows of the line table and the pieces of inlined code are walked side by side, both in order
 * of address, so that every stretch between two borders has one chain of lines. */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/str.h"
#include "code/places.h"
#include "names_parts.h"

struct line_search {
	const struct scope *scope;
	const char *file;
	uint32_t line;
	struct place *found;
};

static void range_add(struct place *place, uint64_t low, uint64_t high)
{
	if (low < high)
		vec_push(&place->ranges, (struct place_range){low, high});
}

/* Sort, and join what touches or overlaps. */
static void place_tidy(struct place *place)
{
	uint32_t kept = 0;

	vec_sort(&place->ranges, sorted_compare);
	vec_foreach (struct place_range, range, &place->ranges) {
		struct place_range *last = kept ? &place->ranges.at[kept - 1] : NULL;

		if (last && range->low <= last->high)
			last->high = range->high > last->high ? range->high : last->high;
		else
			place->ranges.at[kept++] = *range;
	}
	place->ranges.count = kept;
	kept = 0;
	vec_sort(&place->entries, sorted_compare);
	vec_foreach (uint64_t, entry, &place->entries)
		if (!kept || place->entries.at[kept - 1] != *entry)
			place->entries.at[kept++] = *entry;
	place->entries.count = kept;
	place->copies = kept;
}

void place_done(struct place *place)
{
	vec_done(&place->ranges);
	vec_done(&place->entries);
}

/* ---- a line ---- */

struct line_at {
	const char *file;
	uint32_t line;
	uint32_t node; /* the inlined function, or the physical one, that the line stands in */
};

/* The innermost line in scope of the chain that begins with `row` inside `node`; line 0: none. */
static struct line_at line_in_scope(const struct scope *scope, struct debug_unit *unit,
	struct debug_unit *full, const struct debug_row *row, uint32_t node)
{
	struct line_at at = {debug_unit_path(unit, row->file), row->line, node};

	while (!scope_has(scope, at.file)) {
		const struct debug_node *inlined =
			at.node != SPAN_NONE ? &full->nodes.at[at.node] : NULL;

		if (!inlined || inlined->parent == SPAN_NONE)
			return (struct line_at){.node = SPAN_NONE};
		at.file = debug_unit_path(full, inlined->call_file);
		at.line = inlined->call_line;
		at.node = inlined->parent;
	}
	return at;
}

static void nearest_note(struct line_search *search, uint32_t line)
{
	uint32_t *nearest = &search->found->nearest_line;
	uint32_t distance = line > search->line ? line - search->line : search->line - line;
	uint32_t before =
		*nearest > search->line ? *nearest - search->line : search->line - *nearest;

	if (line && (!*nearest || distance < before))
		*nearest = line;
}

/* One stretch of code with one chain.  Entries: the lowest address in each function it is in. */
static void stretch_take(struct line_search *search, const struct line_at *at, uint64_t low,
	uint64_t high, uint64_t *entry_of_node)
{
	if (!at->line || !at->file || !scope_path_ends(at->file, search->file))
		return;
	search->found->file = at->file;
	nearest_note(search, at->line);
	if (at->line != search->line)
		return;
	range_add(search->found, low, high);
	if (at->node == SPAN_NONE)
		vec_push(&search->found->entries, low);
	else if (!entry_of_node[at->node] || low < entry_of_node[at->node])
		entry_of_node[at->node] = low;
}

/* Is the file among those of the unit's line table? */
static bool unit_mentions(struct debug_unit *unit, const char *file)
{
	const struct debug_lines *lines = debug_unit_lines(unit);
	const char *slash = strrchr(file, '/');

	vec_foreach (const struct debug_path, path, &lines->files)
		if (path->name && str_ends(path->name, slash ? slash + 1 : file))
			return true;
	return false;
}

static uint64_t row_end(const struct debug_lines *lines, uint32_t row)
{
	return row + 1 < lines->rows.count ? lines->rows.at[row + 1].addr
					   : lines->rows.at[row].addr;
}

static void unit_search_line(struct line_search *search, struct debug_unit *unit)
{
	struct debug_unit *full = debug_unit_full(unit);
	const struct debug_lines *lines = debug_unit_lines(unit);
	const struct spans *spans = &full->spans;
	mem_auto uint64_t *entry_of_node = NULL;
	uint32_t piece = 0;

	debug_unit_walk(full);
	entry_of_node = mem_new((size_t)full->nodes.count + 1, sizeof(*entry_of_node));
	for (uint32_t i = 0; i < lines->rows.count; i++) {
		const struct debug_row *row = &lines->rows.at[i];
		uint64_t low = row->addr, end = row_end(lines, i);

		while (row->file != SPAN_NONE && low < end) {
			uint64_t high = end;
			struct line_at at;

			while (piece + 1 < spans->pieces.count &&
				spans->pieces.at[piece + 1].low <= low)
				piece++;
			if (piece + 1 < spans->pieces.count &&
				spans->pieces.at[piece + 1].low < high)
				high = spans->pieces.at[piece + 1].low;
			at = line_in_scope(search->scope, unit, full, row, spans_find(spans, low));
			stretch_take(search, &at, low, high, entry_of_node);
			low = high;
		}
	}
	for (uint32_t i = 0; i < full->nodes.count; i++)
		if (entry_of_node[i])
			vec_push(&search->found->entries, entry_of_node[i]);
}

bool place_of_line(struct names *names, const struct scope *scope, const char *file, uint32_t line,
	struct place *ret_place)
{
	struct line_search search = {scope, file, line, ret_place};

	*ret_place = (struct place){0};
	if (!names->debug.file)
		return false;
	vec_foreach (struct debug_unit, unit, &names->debug.file->units) {
		debug_unit_head(unit);
		if (unit->type != DW_UT_partial && unit_mentions(unit, file))
			unit_search_line(&search, unit);
	}
	place_tidy(ret_place);
	return ret_place->ranges.count > 0;
}

/* ---- a function ---- */

/* What compilers append to the name of a part or copy of a function. */
static size_t without_clone(const char *name, size_t len)
{
	static const char *const suffixes[] = {
		".cold", ".part.", ".isra.", ".constprop.", ".lto_priv.", ".llvm.", NULL};

	for (const char *const *suffix = suffixes; *suffix; suffix++) {
		const char *at = memmem(name, len, *suffix, strlen(*suffix));

		if (at && at > name)
			len = (size_t)(at - name);
	}
	return len;
}

/* "ns::parse(int)" is meant by "parse", "ns::parse" and itself; "parse.cold" by "parse". */
static bool function_is(const char *name, const char *asked)
{
	size_t asked_len = strlen(asked), len = strcspn(name, "(");

	if (str_equal(name, asked))
		return true;
	if (!len) /* "(anonymous namespace)::f(int)" */
		len = strrchr(name, '(') > name ? (size_t)(strrchr(name, '(') - name)
						: strlen(name);
	len = without_clone(name, len);
	if (len < asked_len || strncmp(name + len - asked_len, asked, asked_len) != 0)
		return false;
	return len == asked_len ||
	       (len >= asked_len + 2 && !strncmp(name + len - asked_len - 2, "::", 2));
}

static void symbols_take(struct names *names, const char *function, struct place *place)
{
	vec_foreach (struct symbol, symbol, &names->symbols.list) {
		if (!symbol->is_function ||
			!function_is(symbol_name(symbol, names->quota, &names->arena), function))
			continue;
		range_add(place, symbol->addr, symbol_end(&names->symbols, symbol));
		if (!strchr(symbol->linkage, '.'))
			vec_push(&place->entries, symbol->addr);
	}
}

static void unit_search_function(
	struct names *names, struct debug_unit *unit, const char *function, struct place *place)
{
	struct debug_unit *full = debug_unit_full(unit);
	const struct spans *spans = &full->spans;
	mem_auto bool *within = NULL;

	debug_unit_walk(full);
	within = mem_new((size_t)full->nodes.count + 1, sizeof(*within));
	for (uint32_t i = 0; i < full->nodes.count; i++) {
		struct debug_node *node = &full->nodes.at[i];
		const char *name = names_of_node(names, full, node)->function;
		bool is_it = name && function_is(name, function);

		within[i] = is_it || (node->parent != SPAN_NONE && within[node->parent]);
		if (is_it)
			vec_push(&place->entries, node->low);
	}
	for (uint32_t i = 0; i + 1 < spans->pieces.count; i++)
		if (spans->pieces.at[i].item != SPAN_NONE && within[spans->pieces.at[i].item])
			range_add(place, spans->pieces.at[i].low, spans->pieces.at[i + 1].low);
}

bool place_of_function(struct names *names, const char *function, struct place *ret_place)
{
	*ret_place = (struct place){0};
	symbols_take(names, function, ret_place);
	if (names->debug.file)
		vec_foreach (struct debug_unit, unit, &names->debug.file->units) {
			debug_unit_head(unit);
			if (unit->type != DW_UT_partial)
				unit_search_function(names, unit, function, ret_place);
		}
	place_tidy(ret_place);
	return ret_place->ranges.count > 0;
}

static void unit_search_scope(
	struct debug_unit *unit, const struct scope *scope, struct place *place)
{
	const struct debug_lines *lines = debug_unit_lines(unit);
	enum { UNKNOWN, IN, OUT };
	mem_auto uint8_t *state = mem_new((size_t)lines->files.count + 1, sizeof(*state));

	for (uint32_t i = 0; i < lines->rows.count; i++) {
		const struct debug_row *row = &lines->rows.at[i];

		if (row->file > lines->files.count || !row->line)
			continue;
		if (state[row->file] == UNKNOWN)
			state[row->file] =
				scope_has(scope, debug_unit_path(unit, row->file)) ? IN : OUT;
		if (state[row->file] == IN)
			range_add(place, row->addr, row_end(lines, i));
	}
}

bool place_of_scope(struct names *names, const struct scope *scope, struct place *ret_place)
{
	*ret_place = (struct place){0};
	if (names->debug.file)
		vec_foreach (struct debug_unit, unit, &names->debug.file->units) {
			debug_unit_head(unit);
			if (unit->type != DW_UT_partial)
				unit_search_scope(unit, scope, ret_place);
		}
	place_tidy(ret_place);
	return ret_place->ranges.count > 0;
}

int place_frame(const struct scope *scope, const struct names_frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (frames[i].file && frames[i].line && scope_has(scope, frames[i].file))
			return (int)i;
	return -1;
}
