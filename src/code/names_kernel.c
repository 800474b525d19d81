/* names_kernel.c - the kernel's functions, from /proc/kallsyms.
 *
 * One line each: address, type, name and, for modules and BPF programs, [module].  Names stay where
 * they were read; only the ends are written into the text.  Symbols have no sizes there: a function
 * ends where the next begins, or with its page when that one belongs to another module. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/sorted.h"
#include "kernel_text.h"
#include "names_parts.h"

enum { KERNEL_TEXT_LIMIT = 256 << 20, PAGE = 4096, GAP_LIMIT = 1 << 20 };

static char *hex_read(char *at, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (;; at++) {
		unsigned digit = (unsigned char)*at - '0';

		if (digit > 9) {
			digit = ((unsigned char)*at | 0x20) - 'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		value = value << 4 | digit;
	}
	*ret_value = value;
	return at;
}

/* One line, which ends at `end`. */
static void line_read(struct symbols *symbols, char *line, char *end)
{
	struct symbol symbol = {.is_function = true};
	char *at = hex_read(line, &symbol.addr), type, *tab;

	if (at == line || end - at < 4 || at[0] != ' ' || at[2] != ' ')
		return;
	type = at[1];
	at += 3;
	if (!strchr("tTwW", type) || *at == '$')
		return;
	*end = '\0';
	tab = memchr(at, '\t', (size_t)(end - at));
	if (tab) {
		*tab = '\0';
		if (tab[1] == '[' && end > tab + 2 && end[-1] == ']') {
			end[-1] = '\0';
			symbol.module = tab + 2;
		}
	}
	symbol.linkage = symbol.name = at;
	symbol.binding = type == 'T' ? SYMBOL_GLOBAL : type == 't' ? SYMBOL_LOCAL : SYMBOL_WEAK;
	if (*at)
		vec_push(&symbols->list, symbol);
}

static bool same_module(const struct symbol *a, const struct symbol *b)
{
	if (!a->module || !b->module)
		return a->module == b->module;
	return str_equal(a->module, b->module);
}

static void sizes_set(struct symbols *symbols)
{
	const struct symbol *next = NULL;

	for (uint32_t i = symbols->list.count; i-- > 0;) {
		struct symbol *symbol = &symbols->list.at[i];

		if (i + 1 < symbols->list.count && symbol[1].addr > symbol->addr)
			next = symbol + 1;
		if (next && same_module(symbol, next) && next->addr - symbol->addr < GAP_LIMIT)
			symbol->size = next->addr - symbol->addr;
		else
			symbol->size = PAGE - symbol->addr % PAGE;
		if (next && next->addr - symbol->addr < symbol->size)
			symbol->size = next->addr - symbol->addr;
	}
}

static int symbols_hidden(const char *path, bool any, struct err *err)
{
	if (!any)
		return err_set(err, ERR_UNAVAILABLE, EINVAL, "%s has no kernel symbols", path);
	err_set(err, ERR_UNAVAILABLE, EPERM, "kernel addresses are hidden: %s shows only zeros",
		path);
	return err_hint(err,
		"run `sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1`, or "
		"run as root");
}

int names_open_kernel(const char *path, struct names **ret_names, struct err *err)
{
	const char *from = path ? path : "/proc/kallsyms";
	struct names *names = mem_new(1, sizeof(*names));
	struct symbols *symbols = &names->symbols;
	int result = path ? io_read_stream(path, KERNEL_TEXT_LIMIT, &names->kernel_text, err)
			  : kernel_text_read(&names->kernel_text, err);
	char *line = names->kernel_text.at, *end;
	bool shown = false;

	if (result < 0) {
		names_close(names);
		return result;
	}
	for (; line && *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			break; /* cut in the middle */
		line_read(symbols, line, end);
	}
	vec_foreach (const struct symbol, symbol, &symbols->list)
		shown |= symbol->addr != 0;
	if (!shown) {
		result = symbols_hidden(from, symbols->list.count > 0, err);
		names_close(names);
		return result;
	}
	vec_sort(&symbols->list, sorted_compare);
	sizes_set(symbols);
	symbols_lay(symbols);
	str_addf(&names->basis, "kernel symbols of %s", from);
	*ret_names = names;
	return 0;
}
