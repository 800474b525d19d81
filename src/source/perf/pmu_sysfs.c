/* pmu_sysfs.c - a PMU's `format` folder says where the bits of each field go ("config:0-7,32-35"),
 * its `events` folder holds names ("event=0x3c"), with NAME.unit and NAME.scale beside them. */
#include "source/pmu_sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/str.h"
#include "source/pmu.h"

enum { TERMS_DEPTH = 4 }; /* an event may name another; the kernel's own never go deeper than 1 */

static bool name_is_safe(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') && strlen(name) < 100;
}

static int pmu_read(
	const char *pmu, const char *folder, const char *file, char *line, size_t capacity)
{
	char path[512];

	if (!name_is_safe(pmu) || (file && !name_is_safe(file)))
		return -ENOENT;
	snprintf(path, sizeof(path), PMU_DEVICES "/%s/%s%s%s", pmu, folder, file ? "/" : "",
		file ? file : "");
	return io_read_line(path, line, capacity);
}

int pmu_type(const char *pmu, uint32_t *ret_type)
{
	char line[32];
	uint64_t type;
	int r = pmu_read(pmu, "type", NULL, line, sizeof(line));

	if (r < 0)
		return r;
	if (str_to_u64(line, &type) < 0 || type > UINT32_MAX)
		return -EINVAL;
	*ret_type = (uint32_t)type;
	return 0;
}

/* Spread the low bits of `value` over the ranges of `format`, lowest range first. */
static int field_put(struct event_spec *spec, const char *format, uint64_t value)
{
	uint64_t *word = str_starts(format, "config:")	  ? &spec->config
			 : str_starts(format, "config1:") ? &spec->config1
			 : str_starts(format, "config2:") ? &spec->config2
							  : NULL;
	const char *at = strchr(format, ':');

	if (!word || !at)
		return -EOPNOTSUPP;
	for (at++; *at; at += *at == ',') {
		char *end;
		unsigned long low = strtoul(at, &end, 10), high = low;

		if (end == at)
			return -EINVAL;
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63)
			return -EINVAL;
		for (unsigned long bit = low; bit <= high; bit++, value >>= 1) {
			*word &= ~(1ull << bit);
			*word |= (value & 1) << bit;
		}
		at = end;
	}
	return value ? -ERANGE : 0;
}

static int term_refuse(const char *pmu, const char *term, int code, struct err *err)
{
	if (code == -ERANGE)
		err_set(err, ERR_USAGE, ERANGE, "the value in %s/%s/ does not fit its field", pmu,
			term);
	else
		err_set(err, ERR_USAGE, EINVAL, "%s/%s/ is not a field or event of the PMU %s", pmu,
			term, pmu);
	err_hint(err, "ls " PMU_DEVICES "/%s/format " PMU_DEVICES "/%s/events", pmu, pmu);
	return code;
}

static int terms_put(struct arena *arena, const char *pmu, const char *terms,
	struct event_spec *spec, unsigned depth, struct err *err);

/* NAME as an event of the PMU: its terms, then its unit and scale. */
static int event_name_put(struct arena *arena, const char *pmu, const char *name,
	struct event_spec *spec, unsigned depth, struct err *err)
{
	char line[256], file[128];
	int r = pmu_read(pmu, "events", name, line, sizeof(line));

	if (r < 0 || depth >= TERMS_DEPTH)
		return -ENOENT;
	r = terms_put(arena, pmu, line, spec, depth + 1, err);
	if (r < 0)
		return r;
	snprintf(file, sizeof(file), "%s.unit", name);
	if (pmu_read(pmu, "events", file, line, sizeof(line)) > 0)
		spec->unit = arena_copy(arena, line);
	snprintf(file, sizeof(file), "%s.scale", name);
	if (pmu_read(pmu, "events", file, line, sizeof(line)) > 0 && strtod(line, NULL) > 0)
		spec->scale = strtod(line, NULL);
	return 0;
}

static int term_put(struct arena *arena, const char *pmu, char *term, struct event_spec *spec,
	unsigned depth, struct err *err)
{
	char *equals = strchr(term, '='), format[128];
	uint64_t value = 1;
	int r;

	if (equals) {
		*equals = '\0';
		if (str_to_u64(equals + 1, &value) < 0)
			return term_refuse(pmu, term, -EINVAL, err);
	} else {
		r = event_name_put(arena, pmu, term, spec, depth, err);
		if (r != -ENOENT)
			return r;
	}
	if (str_equal(term, "config"))
		spec->config = value;
	else if (str_equal(term, "config1"))
		spec->config1 = value;
	else if (str_equal(term, "config2"))
		spec->config2 = value;
	else if (str_equal(term, "name") || str_equal(term, "period"))
		return term_refuse(pmu, term, -EINVAL, err);
	else {
		r = pmu_read(pmu, "format", term, format, sizeof(format));
		r = r < 0 ? r : field_put(spec, format, value);
		if (r < 0)
			return term_refuse(pmu, term, r, err);
	}
	return 0;
}

static int terms_put(struct arena *arena, const char *pmu, const char *terms,
	struct event_spec *spec, unsigned depth, struct err *err)
{
	mem_auto char *copy = mem_copy_text(terms, strlen(terms));
	char *rest = copy, *term;

	while ((term = strsep(&rest, ","))) {
		term = str_trim(term);
		if (*term) {
			int r = term_put(arena, pmu, term, spec, depth, err);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

int pmu_encode(struct arena *arena, const char *pmu, const char *terms, struct event_spec *spec,
	struct err *err)
{
	char line[256];
	int r = pmu_type(pmu, &spec->type);

	if (r < 0) {
		err_set(err, ERR_USAGE, ENOENT, "this machine has no PMU named '%s'", pmu);
		return err_hint(err, "ls " PMU_DEVICES " lists the ones it has");
	}
	r = terms_put(arena, pmu, terms, spec, 0, err);
	if (r < 0)
		return r;
	/* `cpumask`: one CPU per package, an uncore PMU; `cpus`: one core type of a hybrid. */
	if (pmu_read(pmu, "cpumask", NULL, line, sizeof(line)) > 0) {
		spec->cpus = arena_copy(arena, line);
		spec->whole_machine = true;
	} else if (pmu_read(pmu, "cpus", NULL, line, sizeof(line)) > 0) {
		spec->cpus = arena_copy(arena, line);
	}
	return 0;
}

bool pmu_find_event(const char *event, char *ret_pmu, size_t capacity)
{
	DIR *folder = opendir(PMU_DEVICES);
	const struct dirent *entry;
	bool found = false;
	char line[256];

	while (folder && !found && (entry = readdir(folder))) {
		found = pmu_read(entry->d_name, "events", event, line, sizeof(line)) > 0;
		if (found)
			snprintf(ret_pmu, capacity, "%s", entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}
