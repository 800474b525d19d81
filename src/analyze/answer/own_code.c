/* own_code.c - is a frame the program's own code? */
#include "own_code.h"

#include <string.h>

#include "analyze/label.h"
#include "base/str.h"
#include "code/scope.h"

/* "[vdso]" is the kernel's. */
static bool module_is_library(const struct label *function)
{
	const char *base = label_base(function->module);

	return strstr(base, ".so") || *base == '[';
}

bool own_code_is_in_program(const struct label *function)
{
	return *function->module && !(function->flags & LABEL_KERNEL) &&
	       !module_is_library(function);
}

bool own_code_is_of_library(const struct label *function)
{
	return (str_starts(function->module, "/usr/lib") || str_starts(function->module, "/lib") ||
		       str_equal(function->module, "[vdso]")) &&
	       !own_code_is_in_program(function) && !(function->flags & LABEL_UNNAMED);
}

bool own_code_has(const struct label *function, const char *file)
{
	static const struct scope everything;

	if (function->flags & (LABEL_KERNEL | LABEL_UNNAMED) || own_code_is_of_library(function))
		return false;
	return *file ? scope_has(&everything, file) : !module_is_library(function);
}
