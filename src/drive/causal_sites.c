/* causal_sites.c - see causal_sites.h: files of code, and what a user names in them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "causal_cheap.h"
#include "causal_sites_parts.h"
#include "code/usdt.h"

const char *causal_sites_keep(struct causal_sites *sites, const char *text)
{
	return text ? arena_copy(&sites->arena, text) : NULL;
}

/* A system library is not the user's, whatever its debug information calls its files. */
static bool may_be_own(const struct causal_sites *sites, const char *path)
{
	bool narrowed = sites->scope && sites->scope->patterns && *sites->scope->patterns;

	return narrowed || scope_has(NULL, path);
}

uint32_t causal_sites_module(struct causal_sites *sites, const char *path)
{
	struct causal_module module = {0};
	struct err ignored = {0};
	uint32_t known;

	if (map_get(&sites->module_by_path, path, strlen(path), &known))
		return known;
	module.path = causal_sites_keep(sites, path);
	if (image_open(path, &module.image, &ignored) < 0 ||
		names_open(&(struct names_options){.path = path}, &module.names, &ignored) < 0) {
		image_close(module.image);
		module.image = NULL;
	}
	if (module.names && (!sites->modules.count || may_be_own(sites, path)))
		(void)place_of_scope(module.names, sites->scope, &module.own);
	known = sites->modules.count;
	map_put(&sites->module_by_path, path, strlen(path), known);
	vec_push(&sites->modules, module);
	return known;
}

int causal_sites_open(const char *program, const struct scope *scope,
	struct causal_sites **ret_sites, struct err *err)
{
	struct causal_sites *sites = mem_new(1, sizeof(*sites));
	mem_auto char *real = realpath(program, NULL);

	sites->scope = scope;
	sites->program = causal_sites_keep(sites, real ? real : program);
	(void)causal_sites_module(sites, sites->program); /* the first */
	if (sites->modules.at[0].names) {
		*ret_sites = sites;
		return 0;
	}
	err_set(err, ERR_TARGET, ENOEXEC, "%s is not a readable program file", program);
	err_hint(err, "name the program itself, not a script that starts it");
	causal_sites_close(sites);
	return -ENOEXEC;
}

void causal_sites_close(struct causal_sites *sites)
{
	if (!sites)
		return;
	vec_foreach (struct causal_module, module, &sites->modules) {
		names_close(module->names);
		image_close(module->image);
		place_done(&module->own);
	}
	vec_done(&sites->modules);
	vec_done(&sites->heats);
	vec_done(&sites->sites);
	map_done(&sites->module_by_path);
	map_done(&sites->heat_by_key);
	map_done(&sites->heat_by_spot);
	arena_done(&sites->arena);
	free(sites);
}

enum causal_own causal_sites_own(
	struct causal_sites *sites, const char *path, const struct place **ret_place)
{
	uint32_t module = causal_sites_module(sites, path);

	*ret_place = &sites->modules.at[module].own;
	if ((*ret_place)->ranges.count)
		return CAUSAL_OWN_LINES;
	return module ? CAUSAL_OWN_NOTHING : CAUSAL_OWN_ALL;
}

/* ---- a name into bytes of a file ---- */

uint32_t causal_sites_places(struct causal_sites *sites, const struct causal_module *module,
	const struct place *place, const struct causal_place **ret_places)
{
	struct causal_place *places =
		arena_take(&sites->arena, CAUSAL_RANGES_MAX * sizeof(*places));
	uint32_t count = 0;

	vec_foreach (const struct place_range, range, &place->ranges) {
		uint64_t offset;

		if (count < CAUSAL_RANGES_MAX &&
			image_offset_of_addr(module->image, range->low, &offset))
			places[count++] = (struct causal_place){
				module->path, offset, range->high - range->low};
	}
	*ret_places = places;
	return count;
}

const char *causal_sites_line_name(struct causal_sites *sites, const char *file, uint32_t line)
{
	const char *slash = strrchr(file, '/');

	return arena_format(&sites->arena, "%s:%u", slash ? slash + 1 : file, line);
}

/* FILE:LINE; false: the text has not that form. */
static bool line_parse(
	struct causal_sites *sites, const char *text, const char **ret_file, uint32_t *ret_line)
{
	const char *colon = strrchr(text, ':');
	uint64_t line;

	if (!colon || colon == text || str_to_u64(colon + 1, &line) < 0 || !line ||
		line > UINT32_MAX)
		return false;
	*ret_file = arena_text(&sites->arena, text, (size_t)(colon - text));
	*ret_line = (uint32_t)line;
	return true;
}

/* Where the text stands in one module.  The place is the caller's to free in each case. */
static bool text_find(struct causal_sites *sites, const struct causal_module *module,
	const char *text, struct place *ret_place, struct causal_site *ret_site)
{
	const char *file;
	uint32_t line;

	*ret_site = (struct causal_site){.name = causal_sites_keep(sites, text)};
	*ret_place = (struct place){0};
	if (!module->names)
		return false;
	if (line_parse(sites, text, &file, &line)) {
		/* The user names the line: no file is out of scope then. */
		static const char *const everything[] = {"%", NULL};

		if (!place_of_line(
			    module->names, &(struct scope){everything}, file, line, ret_place))
			return false;
		ret_site->file = causal_sites_keep(sites, ret_place->file);
		ret_site->line = line;
		ret_site->name = causal_sites_line_name(sites, ret_site->file, line);
		return true;
	}
	ret_site->function = ret_site->name;
	return place_of_function(module->names, text, ret_place);
}

static int not_found(
	struct causal_sites *sites, const char *text, uint32_t nearest, struct err *err)
{
	const char *missing = names_missing(sites->modules.at[0].names), *file;
	uint32_t line;

	err_set(err, ERR_USAGE, ENOENT, "%s is not code of %s", text, sites->program);
	if (nearest && line_parse(sites, text, &file, &line))
		err_hint(err, "the nearest line with code is %s:%u", file, nearest);
	else if (*missing)
		err_hint(err, "%s", missing);
	else
		err_hint(err, "write FILE:LINE or a function name as `assay report` shows it");
	return -ENOENT;
}

/* The first module that has it, the program first. */
static int text_search(struct causal_sites *sites, const char *text, struct place *ret_place,
	struct causal_site *ret_site, uint32_t *ret_module, struct err *err)
{
	uint32_t nearest = 0;

	for (uint32_t i = 0; i < sites->modules.count; i++) {
		if (text_find(sites, &sites->modules.at[i], text, ret_place, ret_site)) {
			*ret_module = i;
			return 0;
		}
		nearest = nearest ? nearest : ret_place->nearest_line;
		place_done(ret_place);
	}
	return not_found(sites, text, nearest, err);
}

/* The part behind @: who calls. */
static int caller_add(
	struct causal_sites *sites, const char *text, struct causal_site *site, struct err *err)
{
	struct causal_site caller;
	struct place place;
	uint32_t module;
	int r = text_search(sites, text, &place, &caller, &module, err);

	if (r < 0)
		return r;
	site->what.caller_count =
		causal_sites_places(sites, &sites->modules.at[module], &place, &site->what.callers);
	site->name = arena_format(&sites->arena, "%s@%s", site->name, caller.name);
	place_done(&place);
	return 0;
}

/* FUNCTION+: with everything it calls.  C++ has functions whose names end so. */
static bool has_callees(const char *text, size_t len)
{
	static const char *const names[] = {"operator+", "operator++"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t name = strlen(names[i]);

		if (len >= name && strncmp(text + len - name, names[i], name) == 0)
			return false;
	}
	return len > 1 && text[len - 1] == '+';
}

int causal_sites_add(struct causal_sites *sites, const char *text, bool waits, struct err *err)
{
	const char *at = strchr(text, '@');
	size_t len = at ? (size_t)(at - text) : strlen(text);
	bool callees = !waits && has_callees(text, len);
	const char *what = arena_text(&sites->arena, text, len - callees);
	struct causal_site site;
	struct place place;
	uint32_t module;
	int r = text_search(sites, what, &place, &site, &module, err);

	if (r < 0)
		return r;
	site.what.count =
		causal_sites_places(sites, &sites->modules.at[module], &place, &site.what.places);
	site.what.waits = waits;
	site.what.callees = callees;
	if (callees)
		site.name = arena_format(&sites->arena, "%s+", site.name);
	site.is_fixed = true;
	place_done(&place);
	r = at ? caller_add(sites, at + 1, &site, err) : 0;
	if (r >= 0)
		vec_push(&sites->sites, site);
	return r;
}

static const char usdt_prefix[] = "usdt:";

static bool usdt_is(const struct usdt_probe *probe, const char *text)
{
	size_t provider = strlen(probe->provider);

	return strncmp(text, probe->provider, provider) == 0 && text[provider] == ':' &&
	       str_equal(text + provider + 1, probe->name);
}

/* Every place of a probe that the program was built with, [usdt:]PROVIDER:NAME.  One that a counter
 * switches on is switched on by the kernel while it is counted. */
static bool usdt_points(struct causal_sites *sites, const char *text, causal_point_vec *ret_points)
{
	const struct causal_module *program = &sites->modules.at[0];
	const char *bare = str_starts(text, usdt_prefix) ? text + strlen(usdt_prefix) : text;
	uint32_t before = ret_points->count;
	usdt_probe_vec probes = {0};

	usdt_read(program->image, &probes);
	vec_foreach (const struct usdt_probe, probe, &probes) {
		struct causal_point point = {.kind = CAUSAL_UPROBE, .path = program->path};

		if (!usdt_is(probe, bare) || ret_points->count == CAUSAL_PROBED_MAX ||
			!image_offset_of_addr(program->image, probe->addr, &point.offset))
			continue;
		if (probe->semaphore &&
			!image_offset_of_addr(program->image, probe->semaphore, &point.semaphore))
			continue;
		point.name = causal_sites_keep(sites, bare);
		vec_push(ret_points, point);
	}
	vec_done(&probes);
	return ret_points->count > before;
}

static int usdt_missing(struct causal_sites *sites, const char *text, struct err *err)
{
	enum { TOLD = 8 };
	str_auto struct str known = {0};
	usdt_probe_vec probes = {0};

	usdt_read(sites->modules.at[0].image, &probes);
	for (uint32_t i = 0; i < probes.count && i < TOLD; i++)
		str_addf(
			&known, "%s%s:%s", i ? ", " : "", probes.at[i].provider, probes.at[i].name);
	err_set(err, ERR_USAGE, ENOENT, "%s has no countable USDT probe '%s'", sites->program,
		text + strlen(usdt_prefix));
	if (probes.count)
		err_hint(err, "it has: %s%s", known.at, probes.count > TOLD ? ", ..." : "");
	else
		err_hint(err, "it has no USDT probes (sys/sdt.h); name a function or FILE:LINE");
	vec_done(&probes);
	return -ENOENT;
}

int causal_sites_points(
	struct causal_sites *sites, const char *text, causal_point_vec *ret_points, struct err *err)
{
	struct causal_site site;
	struct place place;
	uint32_t module;
	int r;

	if (usdt_points(sites, text, ret_points))
		return 0;
	if (str_starts(text, usdt_prefix))
		return usdt_missing(sites, text, err);
	r = text_search(sites, text, &place, &site, &module, err);
	if (r < 0)
		return r;
	vec_foreach (uint64_t, entry, &place.entries) {
		const struct causal_module *m = &sites->modules.at[module];
		struct causal_point point = {
			.kind = CAUSAL_UPROBE, .name = site.name, .path = m->path};
		struct names_frame frames[CAUSAL_CHAIN], nothing = {0};
		unsigned count = names_find(m->names, *entry, UINT64_MAX, frames, CAUSAL_CHAIN);

		if (ret_points->count < CAUSAL_PROBED_MAX &&
			causal_cheap_point(
				m->image, count ? &frames[count - 1] : &nothing, *entry, &point))
			vec_push(ret_points, point);
	}
	place_done(&place);
	return 0;
}
