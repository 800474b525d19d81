/* names_symbols.c - functions of a symbol table: sorted, one of several aliases chosen.
 *
 * A symbol with a size owns its range, and the innermost wins.  One without (hand-written
 * assembler) gets what lies up to the next symbol or the end of its section, where no sized one
 * stands. Of several names at one address: one with a size, without leading underscores, global
 * before weak before local, then the longest. */
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/str.h"
#include "names_parts.h"

static void code_read(struct symbols *symbols, const struct image *image)
{
	vec_foreach (const struct image_section, section, &image->sections)
		if (section->head.sh_flags & SHF_EXECINSTR)
			spans_add(&symbols->code, section->head.sh_addr,
				section->head.sh_addr + section->head.sh_size, 0);
}

/* aarch64 marks where code and data begin with $x and $d. */
static bool is_wanted(const Elf64_Sym *symbol, const char *name)
{
	unsigned type = ELF64_ST_TYPE(symbol->st_info);

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !*name)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && name[0] != '$' && name[0] != '.';
}

static uint8_t binding_of(const Elf64_Sym *symbol)
{
	unsigned binding = ELF64_ST_BIND(symbol->st_info);

	if (binding == STB_GLOBAL || binding == STB_GNU_UNIQUE)
		return SYMBOL_GLOBAL;
	return binding == STB_WEAK ? SYMBOL_WEAK : SYMBOL_LOCAL;
}

uint32_t symbols_read(struct symbols *symbols, const struct image *image, unsigned type)
{
	const struct image_section *table = image_symbol_table(image, type);
	uint32_t before = symbols->list.count;
	const char *name;
	Elf64_Sym symbol;

	if (!symbols->code.all.count)
		code_read(symbols, image);
	for (uint64_t i = 0; image_symbol(image, table, i, &symbol, &name); i++) {
		if (!quota_step(image->quota, name ? 1 + strlen(name) / NAME_STEP : 1))
			break;
		if (name && is_wanted(&symbol, name) && quota_take(image->quota, SYMBOL_BYTES))
			vec_push(&symbols->list,
				(struct symbol){.addr = symbol.st_value,
					.size = symbol.st_size,
					.linkage = name,
					.binding = binding_of(&symbol),
					.is_function =
						ELF64_ST_TYPE(symbol.st_info) != STT_NOTYPE});
	}
	return symbols->list.count - before;
}

static unsigned underscores(const char *name)
{
	unsigned count = (unsigned)strspn(name, "_");

	return count == 1 && (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D') ? 0 : count;
}

/* True when `a` is the better of two names for one address. */
static bool is_better(const struct symbol *a, const struct symbol *b)
{
	if (!a->size != !b->size)
		return a->size != 0;
	if (a->is_function != b->is_function)
		return a->is_function;
	if (underscores(a->linkage) != underscores(b->linkage))
		return underscores(a->linkage) < underscores(b->linkage);
	if (a->binding != b->binding)
		return a->binding > b->binding;
	return strlen(a->linkage) > strlen(b->linkage);
}

static bool is_sorted(const struct symbols *symbols)
{
	for (uint32_t i = 1; i < symbols->list.count; i++)
		if (symbols->list.at[i].addr < symbols->list.at[i - 1].addr)
			return false;
	return true;
}

static uint64_t limit_of(const struct symbols *symbols, uint64_t addr)
{
	const struct span_piece *pieces = symbols->code.pieces.at;
	uint32_t upto = vec_upto(&symbols->code.pieces, low, addr);

	if (upto && upto < symbols->code.pieces.count && pieces[upto - 1].item != SPAN_NONE)
		return pieces[upto].low;
	return symbols->code.pieces.count ? 0 : UINT64_MAX;
}

/* A symbol table of one address [first, end): its best name goes into the spans. */
static void alias_lay(struct symbols *symbols, uint32_t first, uint32_t end)
{
	const struct symbol *list = symbols->list.at;
	uint64_t next = end < symbols->list.count ? list[end].addr : UINT64_MAX, limit;
	uint32_t best = first;

	for (uint32_t i = first + 1; i < end; i++)
		if (is_better(&list[i], &list[best]))
			best = i;
	if (list[best].size) {
		spans_add(
			&symbols->sized, list[best].addr, list[best].addr + list[best].size, best);
		return;
	}
	limit = limit_of(symbols, list[best].addr);
	spans_add(&symbols->loose, list[best].addr, next < limit ? next : limit, best);
}

void symbols_lay(struct symbols *symbols)
{
	uint32_t end;

	if (!is_sorted(symbols))
		vec_sort(&symbols->list, sorted_compare);
	spans_lay(&symbols->code);
	for (uint32_t i = 0; i < symbols->list.count; i = end) {
		for (end = i + 1; end < symbols->list.count &&
				  symbols->list.at[end].addr == symbols->list.at[i].addr;
			end++)
			;
		alias_lay(symbols, i, end);
	}
	spans_lay(&symbols->sized);
	spans_lay(&symbols->loose);
}

struct symbol *symbols_find(const struct symbols *symbols, uint64_t addr)
{
	uint32_t found = spans_find(&symbols->sized, addr);

	if (found == SPAN_NONE)
		found = spans_find(&symbols->loose, addr);
	return found == SPAN_NONE ? NULL : &symbols->list.at[found];
}

uint64_t symbol_end(const struct symbols *symbols, const struct symbol *symbol)
{
	const struct symbol *next = symbol + 1, *end = symbols->list.at + symbols->list.count;
	uint64_t limit;

	if (symbol->size)
		return symbol->addr + symbol->size;
	while (next < end && next->addr == symbol->addr)
		next++;
	limit = limit_of(symbols, symbol->addr);
	if (next < end && next->addr < limit)
		return next->addr;
	return limit == UINT64_MAX ? symbol->addr + 1 : limit;
}

const char *symbol_name(struct symbol *symbol, struct quota *quota, struct arena *arena)
{
	str_auto struct str text = {0};

	if (!symbol->name && symbol->linkage[0] != '_')
		symbol->name = symbol->linkage;
	if (!symbol->name) {
		if (!names_demangle_within(quota, symbol->linkage, &text))
			return symbol->linkage;
		symbol->name = arena_text(arena, str_text(&text), text.len);
	}
	return symbol->name;
}

/* The identifier that the mangled form of `name` must contain, "" when that is not known. */
static void identifier_of(const char *name, char *ret_word, size_t capacity)
{
	size_t len = strcspn(name, "(<[ @."), start = len;

	*ret_word = '\0';
	while (start && name[start - 1] != ':' && name[start - 1] != '~')
		start--;
	if (strstr(name, "operator") || len - start >= capacity)
		return;
	memcpy(ret_word, name + start, len - start);
	ret_word[len - start] = '\0';
}

enum match { MATCH_NONE, MATCH_TAIL, MATCH_PLAIN, MATCH_WHOLE };

/* "ns::f(int)" is asked for as itself, as "ns::f", or as the tail "f" or "f(int)". */
static enum match match_of(const char *full, const char *wanted)
{
	size_t plain = strcspn(full, "("), len = strlen(wanted);
	size_t full_len = strlen(full);

	if (str_equal(full, wanted))
		return MATCH_WHOLE;
	if (len == plain && strncmp(full, wanted, len) == 0)
		return MATCH_PLAIN;
	if (len + 2 < full_len && str_ends(full, wanted) && full[full_len - len - 1] == ':')
		return MATCH_TAIL;
	if (len + 2 < plain && strncmp(full + plain - len, wanted, len) == 0 &&
		full[plain - len - 1] == ':')
		return MATCH_TAIL;
	return MATCH_NONE;
}

/* A whole match wins; a shorter form must fit one function only. */
struct symbol *symbols_search(
	struct symbols *symbols, const char *name, struct quota *quota, struct arena *arena)
{
	struct symbol *best = NULL;
	enum match best_match = MATCH_NONE;
	bool unique = true;
	char word[256];

	identifier_of(name, word, sizeof(word));
	vec_foreach (struct symbol, symbol, &symbols->list) {
		enum match match;

		if (str_equal(symbol->linkage, name))
			return symbol;
		if (symbol->linkage[0] != '_' || !strstr(symbol->linkage, word))
			continue;
		match = match_of(symbol_name(symbol, quota, arena), name);
		if (match == MATCH_NONE || match < best_match)
			continue;
		unique = match > best_match || best->addr == symbol->addr;
		if (match > best_match)
			best = symbol;
		best_match = match;
	}
	return best && (unique || best_match == MATCH_WHOLE) ? best : NULL;
}

void symbols_done(struct symbols *symbols)
{
	vec_done(&symbols->list);
	spans_done(&symbols->code);
	spans_done(&symbols->sized);
	spans_done(&symbols->loose);
}
