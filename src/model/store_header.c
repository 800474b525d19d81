/* store_header.c - offsets are those of the SQLite file format, all numbers big endian. */
#include "store_header.h"

#include <errno.h>
#include <string.h>

#include "model/store.h"

static const char magic[16] = "SQLite format 3";

enum {
	AT_PAGE_SIZE = 16,
	AT_WRITE_FORMAT = 18,
	AT_READ_FORMAT = 19,
	AT_CHANGES = 24,
	AT_PAGE_COUNT = 28,
	AT_ENCODING = 56,
	AT_USER_VERSION = 60,
	AT_APPLICATION_ID = 68,
	AT_PAGE_COUNT_OF = 92, /* the change counter for which the page count is right */
};

static uint32_t u32_at(const unsigned char *header, unsigned at)
{
	return (uint32_t)header[at] << 24 | (uint32_t)header[at + 1] << 16 |
	       (uint32_t)header[at + 2] << 8 | header[at + 3];
}

bool store_header_is_run(const unsigned char header[STORE_HEADER_BYTES])
{
	return memcmp(header, magic, sizeof(magic)) == 0 &&
	       u32_at(header, AT_APPLICATION_ID) == STORE_APPLICATION_ID;
}

static int check_origin(
	const unsigned char *header, uint64_t size, const char *name, struct err *err)
{
	if (size == 0) {
		err_set(err, ERR_USAGE, EINVAL, "%s is empty", name);
		err_hint(err, "assay ended before it stored the first row");
		return -EINVAL;
	}
	if (size < STORE_HEADER_BYTES || memcmp(header, magic, sizeof(magic)) != 0) {
		err_set(err, ERR_USAGE, EINVAL, "%s is not an assay run file", name);
		err_hint(err, "run files come from `assay record` and from -o of other commands");
		return -EINVAL;
	}
	if (u32_at(header, AT_APPLICATION_ID) != STORE_APPLICATION_ID) {
		err_set(err, ERR_USAGE, EINVAL, "%s is a SQLite database, but not an assay run",
			name);
		err_hint(err, "run files come from `assay record` and from -o of other commands");
		return -EINVAL;
	}
	return 0;
}

static int check_version(const unsigned char *header, const char *name, struct err *err)
{
	uint32_t version = u32_at(header, AT_USER_VERSION);

	if (version > STORE_VERSION && version <= INT32_MAX) {
		err_set(err, ERR_USAGE, EINVAL,
			"%s was written by a newer assay (schema %u, this one reads up to %d)",
			name, version, STORE_VERSION);
		err_hint(err, "update assay");
		return -EINVAL;
	}
	if (version < 1 || version > STORE_VERSION) {
		err_set(err, ERR_USAGE, EINVAL, "%s is corrupt: it has no schema number", name);
		err_hint(err, "measure again; every run file has a schema number");
		return -EINVAL;
	}
	if (header[AT_WRITE_FORMAT] == 2 || header[AT_READ_FORMAT] == 2) {
		err_set(err, ERR_USAGE, EINVAL, "%s was changed to SQLite's WAL mode", name);
		err_hint(err, "change it back: sqlite3 %s 'PRAGMA journal_mode=DELETE'", name);
		return -EINVAL;
	}
	return 0;
}

static int check_size(const unsigned char *header, uint64_t size, const char *name, struct err *err)
{
	uint64_t page = (uint64_t)header[AT_PAGE_SIZE] << 8 | header[AT_PAGE_SIZE + 1];
	uint64_t expected;

	if (page == 1)
		page = 65536;
	if (page < 512 || page & (page - 1) || u32_at(header, AT_ENCODING) != 1) {
		err_set(err, ERR_USAGE, EINVAL, "%s is corrupt: its header is damaged", name);
		err_hint(err, "copy it again from where it was written, or measure again");
		return -EINVAL;
	}
	expected = page * u32_at(header, AT_PAGE_COUNT);
	if (u32_at(header, AT_CHANGES) != u32_at(header, AT_PAGE_COUNT_OF) || size >= expected)
		return 0;
	err_set(err, ERR_USAGE, EINVAL, "%s is truncated: %llu of %llu bytes", name,
		(unsigned long long)size, (unsigned long long)expected);
	err_hint(err, "copy it again from where it was written");
	return -EINVAL;
}

int store_header_check(const unsigned char *header, uint64_t size, bool has_journal,
	const char *name, struct err *err)
{
	int r = check_origin(header, size, name, err);

	if (r == 0)
		r = check_version(header, name, err);
	if (r == 0 && !has_journal)
		r = check_size(header, size, name, err);
	return r;
}
