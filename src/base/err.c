/* err.c - see err.h.  Text that does not fit is cut: a sentence that long is a bug, not a crash. */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

int err_set(struct err *err, enum err_kind kind, int code, const char *format, ...)
{
	va_list args;

	err->kind = kind;
	err->code = code > 0 ? code : EINVAL;
	err->hint[0] = '\0';
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	str_flatten(err->text); /* names from outside may hold anything */
	return -err->code;
}

int err_hint(struct err *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->hint, sizeof(err->hint), format, args);
	va_end(args);
	str_flatten(err->hint);
	return -err->code;
}

int err_nearest(struct err *err, const char *nearest, const char *otherwise)
{
	return nearest ? err_hint(err, "did you mean '%.400s'?", nearest)
		       : err_hint(err, "%s", otherwise);
}

int err_refuse(struct err *err, const char *text, const char *hint)
{
	err_set(err, ERR_USAGE, EINVAL, "%s", text);
	return err_hint(err, "%s", hint);
}

const char *err_words(int code)
{
	switch (code) {
	case EMEDIUMTYPE: /* io_open_regular() */
		return "not a regular file";
	case EINVAL:
		return "invalid argument";
	case EIO:
		return "the disk or device does not respond";
	case EBUSY:
		return "it is in use";
	case EEXIST:
		return "it already exists";
	case EFBIG:
		return "it is too large";
	case ELOOP:
		return "too many symbolic links";
	case ENAMETOOLONG:
		return "the name is too long";
	case ENOMEM:
		return "not enough memory";
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
