/* err.c - see err.h.  Text that does not fit is cut: a sentence that long is a bug, not a crash. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int err_set(struct err *err, enum err_kind kind, int code, const char *format, ...)
{
	va_list args;

	err->kind = kind;
	err->code = code > 0 ? code : EINVAL;
	err->hint[0] = '\0';
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	return -err->code;
}

void err_hint(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
}

const char *err_words(int code)
{
	switch (code) {
	case ENOENT:
		return "no such file or directory";
	case EACCES:
		return "permission denied";
	case EPERM:
		return "operation not permitted";
	case ENOSPC:
		return "no space left on the disk";
	case EROFS:
		return "the file system is read-only";
	case EISDIR:
		return "it is a directory";
	case ENOTDIR:
		return "a part of the path is not a directory";
	case EDQUOT:
		return "the disk quota is used up";
	case EMFILE:
		return "too many open files";
	default:
		return strerrordesc_np(code) ? strerrordesc_np(code) : "unknown error";
	}
}
