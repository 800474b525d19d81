/* names_demangle.c - C++, Rust and D names as people write them.
 *
 * libiberty does the work.  Parameters and template arguments stay, as in perf, addr2line and
 * c++filt: overloads are different functions, and a renderer can shorten what it shows.  Rust's
 * hash goes.  A name of 4 KiB can be made to unfold into gigabytes (back references that double),
 * so the callback leaves by longjmp() once the text is too long; the C++ demangler keeps everything
 * on its stack, so nothing is lost by that.  The one for D has no callback: 125 bytes kept it busy
 * for 7 s (binutils 2.40), so a name with many back references is left as it is. */
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "code/names.h"
#include "names_parts.h"

enum { MANGLED_LIMIT = 4096, TEXT_LIMIT = 32768, D_REFERENCE_LIMIT = 24 };

struct demangling {
	struct str *text;
	size_t start;
	jmp_buf too_long;
};

static void take_piece(const char *piece, size_t len, void *context)
{
	struct demangling *demangling = context;

	if (demangling->text->len - demangling->start + len > TEXT_LIMIT)
		longjmp(demangling->too_long, 1);
	str_add_bytes(demangling->text, piece, len);
}

static void str_cut(struct str *text, size_t len)
{
	text->len = len;
	if (text->at)
		text->at[len] = '\0';
}

typedef int demangler(const char *mangled, int options, demangle_callbackref take, void *context);

static bool demangle_with(demangler *demangle, const char *linkage, struct str *name)
{
	struct demangling demangling = {.text = name, .start = name->len};

	if (setjmp(demangling.too_long) == 0 &&
		demangle(linkage, DMGL_PARAMS | DMGL_ANSI, take_piece, &demangling) &&
		name->len > demangling.start)
		return true;
	str_cut(name, demangling.start);
	return false;
}

static bool demangle_d(const char *linkage, struct str *name)
{
	unsigned references = 0;
	char *text;
	bool good;

	for (const char *at = linkage; *at; at++)
		references += *at == 'Q';
	if (references > D_REFERENCE_LIMIT)
		return false;
	text = dlang_demangle(linkage, 0);
	good = text && strlen(text) < TEXT_LIMIT;
	if (good)
		str_add(name, text);
	free(text);
	return good;
}

static bool demangle(const char *linkage, struct str *name)
{
	if (linkage[0] != '_' || strlen(linkage) > MANGLED_LIMIT)
		return false;
	if (linkage[1] == 'R')
		return demangle_with(rust_demangle_callback, linkage, name);
	if (linkage[1] == 'Z')
		return demangle_with(rust_demangle_callback, linkage, name) ||
		       demangle_with(cplus_demangle_v3_callback, linkage, name);
	return linkage[1] == 'D' && demangle_d(linkage, name);
}

void names_demangle(const char *linkage, struct str *ret_name)
{
	static const char stub[] = "@plt";
	size_t len = strlen(linkage);

	if (str_ends(linkage, stub) && len < MANGLED_LIMIT) {
		char *bare = mem_copy_text(linkage, len - strlen(stub));
		bool good = demangle(bare, ret_name);

		free(bare);
		if (good) {
			str_add(ret_name, stub);
			return;
		}
	}
	if (!demangle(linkage, ret_name))
		str_add(ret_name, linkage);
}

bool names_demangle_within(struct quota *quota, const char *linkage, struct str *ret_name)
{
	size_t start = ret_name->len, len;

	if (!quota_is_left(quota))
		return false;
	names_demangle(linkage, ret_name);
	len = ret_name->len - start;
	return quota_step(quota, DEMANGLE_STEPS + len) && quota_take(quota, len);
}

size_t names_bare_length(const char *function)
{
	static const char *const qualifiers[] = {" const", " &&", " &", " volatile", " noexcept"};
	const char *clone = strstr(function, " [clone ");
	size_t len = clone ? (size_t)(clone - function) : strlen(function), whole = len, depth = 0;

	for (unsigned i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++) {
		size_t tail = strlen(qualifiers[i]);

		if (len > tail + 1 && function[len - tail - 1] == ')' &&
			memcmp(function + len - tail, qualifiers[i], tail) == 0)
			len -= tail;
	}
	if (!len || function[len - 1] != ')')
		return whole;
	for (size_t i = len; i-- > 1;) {
		depth += function[i] == ')';
		depth -= function[i] == '(';
		if (!depth)
			return i;
	}
	return whole;
}
