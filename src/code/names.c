/* names.c - see names.h: the book of one module, and the way of one question through it.
 *
 * A question costs three binary searches: the symbol, the piece of inlined code, the line.  The
 * physical function is named by its symbol where there is one (it says .cold, .part and .isra, and
 * is the same with and without debug information), everything inlined by debug information. */
#include "code/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "names_parts.h"

enum { NAME_BYTES = 96 }; /* of one that is kept, besides its text */

static void symbols_open(struct names *names, struct str *basis)
{
	struct symbols *symbols = &names->symbols;
	struct image *image = names->image, *debug = names->debug.separate;
	const char *kind = "symbols", *path = image->path;
	uint32_t found = symbols_read(symbols, image, SHT_SYMTAB);

	if (!found && debug && (found = symbols_read(symbols, debug, SHT_SYMTAB)) > 0)
		path = debug->path;
	if (!found) {
		kind = "exported symbols";
		symbols_read(symbols, image, SHT_DYNSYM);
		names->mini = image_open_mini(image);
		if (names->mini && symbols_read(symbols, names->mini, SHT_SYMTAB))
			kind = "symbols and mini debug info";
		if (symbols_read_go(symbols, image))
			kind = "Go's function table";
	}
	symbols_read_stubs(symbols, image, &names->arena);
	if (symbols->list.count)
		str_addf(basis, "%s of %s", kind, path);
	else
		str_addf(basis, "no symbols in %s", path);
	if (str_equal(kind, "exported symbols"))
		str_addf(&names->missing, "%s is stripped: only exported functions have names; ",
			image->path);
	symbols_lay(symbols);
}

static void debug_missing(struct names *names, const struct image_search *search)
{
	struct str *missing = &names->missing;

	str_addf(missing, "no debug information for %s: no lines and no inlined functions",
		names->image->path);
	if (search->failure)
		str_addf(missing, " (%s)", search->failure);
	else
		str_add(missing,
			"; compile with -g, install its -dbgsym package or ask debuginfod");
}

static void debug_open(struct names *names, struct image_search *search)
{
	struct debug_set *debug = &names->debug;

	if (image_is_relocatable(debug->image)) {
		str_add(&names->missing,
			"debug information of object files and kernel modules is not supported");
		return;
	}
	debug_set_find_shared(debug, search);
	debug_set_open(debug);
	if (!debug->file) {
		debug_missing(names, search);
		return;
	}
	str_addf(&names->basis, ", lines of %s", debug->image->path);
	if (debug->shared_name && !debug->alternate)
		str_addf(&names->missing,
			"%s, shared debug information of %s, is missing: some inlined functions "
			"have no names; install its -dbgsym package",
			debug->shared_name, debug->image->path);
}

/* What belongs to names->image, which was just opened. */
static struct names *names_fill(
	struct names *names, const struct names_options *options, struct image_search *search)
{
	names->quota = names->image->quota;
	names->quota->interrupted = options->interrupted;
	names->without_inlines = options->without_inlines;
	if (!options->without_lines || !image_has(names->image, ".symtab"))
		debug_set_find(&names->debug, search, names->image);
	symbols_open(names, &names->basis);
	if (!options->without_lines)
		debug_open(names, search);
	if (str_ends(str_text(&names->missing), "; ")) {
		names->missing.len -= 2;
		names->missing.at[names->missing.len] = '\0';
	}
	return names;
}

static int names_start(const void *bytes, size_t len, const struct names_options *options,
	struct names **ret_names, struct err *err)
{
	struct names *names = mem_new(1, sizeof(*names));
	struct image_search search = {.path = options->path,
		.build_id = options->build_id,
		.symfs = options->symfs,
		.debuginfod = options->debuginfod,
		.arena = &names->arena};
	int r = bytes ? image_open_bytes(bytes, len, options->path, &names->image, err)
		      : image_search_file(&search, &names->image, err);

	if (r < 0)
		names_close(names);
	else
		*ret_names = names_fill(names, options, &search);
	return r;
}

int names_open(const struct names_options *options, struct names **ret_names, struct err *err)
{
	return names_start(NULL, 0, options, ret_names, err);
}

int names_open_bytes(const void *bytes, size_t len, const struct names_options *options,
	struct names **ret_names, struct err *err)
{
	return names_start(bytes, len, options, ret_names, err);
}

void names_close(struct names *names)
{
	if (!names)
		return;
	debug_set_done(&names->debug);
	image_close(names->mini);
	image_close(names->image);
	symbols_done(&names->symbols);
	map_done(&names->debug_names);
	vec_done(&names->names_said);
	str_done(&names->kernel_text);
	jit_close(names->jit);
	str_done(&names->basis);
	str_done(&names->missing);
	arena_done(&names->arena);
	free(names);
}

/* The qualified name of a function without a mangled one.  gcc gives the class of a lambda no name:
 * its line tells it from others. */
static void name_compose(struct str *text, const struct debug_said *said)
{
	enum { DEPTH = 16 };
	const struct debug_unit *unit = said->name_unit;
	uint32_t chain[DEPTH], scope = said->scope;
	unsigned depth = 0;

	for (; scope != SPAN_NONE && depth < DEPTH; scope = unit->scopes.at[scope].parent)
		chain[depth++] = scope;
	while (depth) {
		const struct debug_scope *outer = &unit->scopes.at[chain[--depth]];

		if (!depth && !outer->name && str_equal(said->name, "operator()"))
			str_addf(text, "{lambda:%u}::", outer->line);
		else
			str_addf(text, "%s::", outer->name ? outer->name : "{unnamed}");
	}
	str_add(text, said->name);
}

/* The name behind an entry, found as few times as there are entries: many places inline one
 * function.  Returns its place in names_said. */
static uint32_t name_find(
	struct names *names, struct debug_file *file, uint64_t offset, bool is_alternate)
{
	struct {
		const void *file;
		uint64_t offset, is_alternate;
	} key = {file, offset, is_alternate};
	str_auto struct str text = {0};
	struct debug_said said;
	struct debug_name name;
	uint32_t known;

	if (map_get(&names->debug_names, &key, sizeof(key), &known))
		return known;
	debug_function_said(file, offset, is_alternate, &said);
	name = (struct debug_name){.linkage = said.linkage ? said.linkage : said.name,
		.file = said.file,
		.line = said.line};
	if (said.linkage)
		names_demangle_within(names->quota, said.linkage, &text);
	else if (said.name && quota_is_left(names->quota))
		name_compose(&text, &said);
	if (text.len && quota_step(names->quota, text.len / NAME_STEP) &&
		quota_take(names->quota, NAME_BYTES + text.len))
		name.function = arena_text(&names->arena, text.at, text.len);
	known = names->names_said.count;
	map_put(&names->debug_names, &key, sizeof(key), known);
	vec_push(&names->names_said, name);
	return known;
}

const struct debug_name *names_of_node(
	struct names *names, struct debug_unit *unit, struct debug_node *node)
{
	if (!node->name)
		node->name =
			1 + name_find(names, unit->file, node->origin, node->origin_is_alternate);
	return &names->names_said.at[node->name - 1];
}

/* The physical function: by its symbol, else by debug information. */
static void frame_of_symbol(struct names *names, uint64_t addr, struct names_frame *frame)
{
	struct symbol *symbol = symbols_find(&names->symbols, addr);

	if (!symbol || (frame->function && !symbol->size))
		return;
	frame->function = symbol_name(symbol, names->quota, &names->arena);
	frame->linkage = symbol->linkage;
	frame->module = symbol->module;
	frame->function_addr = symbol->addr;
	frame->function_bytes = symbol_end(&names->symbols, symbol) - symbol->addr;
}

static void split_missing(struct names *names)
{
	if (names->debug.file->splits_missing == names->splits_missing)
		return;
	if (!names->splits_missing)
		str_addf(&names->missing,
			"%s%s is missing: no inlined functions there; keep the .dwo files of the "
			"build, or compile without -gsplit-dwarf",
			names->missing.len ? "; " : "", names->debug.file->split_missing);
	names->splits_missing = names->debug.file->splits_missing;
}

/* The chain of inlined functions at `addr`, all but the frames that do not fit; the last is always
 * the physical function. */
static unsigned frames_of_unit(struct names *names, struct debug_unit *unit, uint64_t addr,
	struct names_frame *frames, unsigned max)
{
	struct debug_unit *full = debug_unit_full(unit);
	const struct debug_row *row = debug_row_find(debug_unit_lines(unit), addr);
	const char *file = row ? debug_unit_path(unit, row->file) : NULL;
	uint32_t line = row ? row->line : 0, at = SPAN_NONE;
	unsigned count = 0;

	if (!names->without_inlines) {
		debug_unit_walk(full);
		split_missing(names);
		at = spans_find(&full->spans, addr);
	}
	while (at != SPAN_NONE) {
		struct debug_node *node = &full->nodes.at[at];
		const struct debug_name *name = names_of_node(names, full, node);
		bool inlined = node->parent != SPAN_NONE;

		frames[count] = (struct names_frame){.function = name->function,
			.linkage = name->linkage,
			.file = file,
			.line = line,
			.function_file = name->file,
			.function_line = name->line,
			.function_addr = inlined ? 0 : node->low,
			.function_bytes = inlined ? 0 : node->high - node->low,
			.inlined = inlined};
		if (!inlined)
			return count + 1;
		file = debug_unit_path(full, node->call_file);
		line = node->call_line;
		count += count + 1 < max;
		at = node->parent;
	}
	frames[0] = (struct names_frame){.file = file, .line = line};
	return row ? 1 : 0;
}

unsigned names_find(struct names *names, uint64_t addr, uint64_t time_ns,
	struct names_frame *ret_frames, unsigned max)
{
	struct debug_unit *unit;
	unsigned count = 0;

	if (!max)
		return 0;
	if (names->jit)
		return jit_find(names->jit, addr, time_ns, ret_frames);
	unit = names->debug.file ? debug_unit_of_addr(names->debug.file, addr) : NULL;
	if (unit)
		count = frames_of_unit(names, unit, addr, ret_frames, max);
	if (!count)
		ret_frames[0] = (struct names_frame){0};
	frame_of_symbol(names, addr, &ret_frames[count ? count - 1 : 0]);
	return count ? count : ret_frames[0].function != NULL;
}

unsigned names_functions(struct names *names, struct names_frame *ret_frames, unsigned max)
{
	unsigned count = 0;

	vec_foreach (struct symbol, symbol, &names->symbols.list) {
		if (!symbol->is_function || !symbol->size || count == max ||
			(count && ret_frames[count - 1].function_addr == symbol->addr))
			continue;
		ret_frames[count++] = (struct names_frame){
			.function = symbol_name(symbol, names->quota, &names->arena),
			.linkage = symbol->linkage,
			.function_addr = symbol->addr,
			.function_bytes = symbol->size,
		};
	}
	return count;
}

bool names_find_function(struct names *names, const char *function, struct names_frame *ret_frame)
{
	enum { CHAIN = 64 };
	struct names_frame frames[CHAIN];
	struct symbol *symbol;
	unsigned count;

	if (names->jit)
		return jit_search(names->jit, function, ret_frame);
	symbol = symbols_search(&names->symbols, function, names->quota, &names->arena);
	if (!symbol)
		return false;
	count = names_find(names, symbol->addr, UINT64_MAX, frames, CHAIN);
	if (count)
		*ret_frame = frames[count - 1];
	else
		*ret_frame = (struct names_frame){0};
	if (ret_frame->function_file) {
		ret_frame->file = ret_frame->function_file;
		ret_frame->line = ret_frame->function_line;
	}
	ret_frame->function = symbol_name(symbol, names->quota, &names->arena);
	ret_frame->linkage = symbol->linkage;
	ret_frame->function_addr = symbol->addr;
	ret_frame->function_bytes = symbol_end(&names->symbols, symbol) - symbol->addr;
	return true;
}

unsigned names_lines(struct names *names, uint64_t addr, uint64_t len, struct names_line *ret_lines,
	unsigned max)
{
	struct debug_unit *unit;
	struct debug_lines *lines;
	const struct debug_row *row, *end;
	unsigned count = 0;

	if (names->jit)
		return jit_lines(names->jit, addr, len, ret_lines, max);
	unit = names->debug.file ? debug_unit_of_addr(names->debug.file, addr) : NULL;
	lines = unit ? debug_unit_lines(unit) : NULL;
	row = lines ? debug_row_find(lines, addr) : NULL;
	if (!row)
		return 0;
	end = lines->rows.at + lines->rows.count;
	for (; row < end && count < max && (row->addr <= addr || row->addr - addr < len); row++)
		if (row->file != SPAN_NONE)
			ret_lines[count++] =
				(struct names_line){row->addr < addr ? addr : row->addr,
					debug_unit_path(unit, row->file), row->line};
	return count;
}

struct quota *names_quota(struct names *names)
{
	return names->quota;
}

const char *names_basis(const struct names *names)
{
	return str_text(&names->basis);
}

const char *names_missing(const struct names *names)
{
	return str_text(&names->missing);
}
