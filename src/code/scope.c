/* scope.c - see scope.h. */
#include "code/scope.h"

#include <stddef.h>
#include <string.h>

#include "base/str.h"

/* Where sources stand that nobody who measures a program wrote: of the system, of Debian's builds,
 * of Rust's and Go's own libraries and of what their package managers fetched. */
static const char *const foreign[] = {
	"/usr/include/%",
	"/usr/lib/%",
	"/usr/local/include/%",
	"/usr/local/go/%",
	"/usr/share/go-%",
	"/usr/src/%",
	"/build/%",
	"/rustc/%",
	"/rust/deps/%", /* crates that the standard library is built with */
	"%/rustlib/src/%",
	"%/.cargo/registry/%",
	"%/.cargo/git/%",
	"%/go/pkg/mod/%",
	"%/sysdeps/%",
	/* glibc is built in folders that its debug information does not name. */
	"csu/%",
	"elf/%",
	"libio/%",
	"malloc/%",
	"nptl/%",
	"stdio-common/%",
	"string/%",
	"./csu/%",
	"./elf/%",
	"./libio/%",
	"./malloc/%",
	"./nptl/%",
	"./stdio-common/%",
	"./string/%",
	NULL,
};

/* % is any text.  After a mismatch only the last % can take more: linear but for its restarts. */
static bool matches(const char *pattern, const char *path)
{
	const char *behind = NULL, *resume = NULL;

	for (;;) {
		if (*pattern == '%') {
			behind = ++pattern;
			resume = path;
		} else if (*pattern == *path) {
			if (!*path)
				return true;
			pattern++;
			path++;
		} else if (behind && *resume) {
			pattern = behind;
			path = ++resume;
		} else {
			return false;
		}
	}
}

bool scope_path_ends(const char *path, const char *end)
{
	size_t len = strlen(path), end_len = strlen(end);

	if (!str_ends(path, end))
		return false;
	return len == end_len || *end == '/' || path[len - end_len - 1] == '/';
}

bool scope_has(const struct scope *scope, const char *path)
{
	const char *const *pattern = scope ? scope->patterns : NULL;

	if (!path)
		return false;
	if (!pattern || !*pattern) {
		for (pattern = foreign; *pattern; pattern++)
			if (matches(*pattern, path))
				return false;
		return true;
	}
	for (; *pattern; pattern++)
		if (strchr(*pattern, '%') || **pattern == '/' ? matches(*pattern, path)
							      : scope_path_ends(path, *pattern))
			return true;
	return false;
}
