/* causal_heat.c - where samples fell, by line: the hottest become sites.
 *
 * Every address that was sampled is named once; what is summed up again each time are numbers. */
#include <string.h>

#include "base/str.h"
#include "causal_sites_parts.h"

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && str_equal(a, b));
}

/* The heat of a line or function, new or known. */
static uint32_t heat_of(struct causal_sites *sites, const struct causal_heat *heat)
{
	str_auto struct str key = {0};
	uint32_t known;

	if (heat->line)
		str_addf(&key, "%s:%u", heat->file, heat->line);
	else
		str_addf(&key, "%u %s", heat->module, heat->function);
	if (map_get(&sites->heat_by_key, key.at, key.len, &known))
		return known;
	known = sites->heats.count;
	map_put(&sites->heat_by_key, key.at, key.len, known);
	vec_push(&sites->heats, (struct causal_heat){.module = heat->module,
					.file = causal_sites_keep(sites, heat->file),
					.function = causal_sites_keep(sites, heat->function),
					.line = heat->line});
	return known;
}

/* The innermost frame in scope; of the program without lines, its function.  UINT32_MAX: neither.
 */
static uint32_t spot_name(struct causal_sites *sites, const struct causal_spot *spot)
{
	uint32_t module = causal_sites_module(sites, spot->path);
	const struct causal_module *m = &sites->modules.at[module];
	struct names_frame frames[CAUSAL_CHAIN];
	struct causal_heat heat = {.module = module};
	uint64_t addr;
	unsigned count;
	int at;

	if (!m->names || !image_addr_of_offset(m->image, spot->offset, &addr))
		return UINT32_MAX;
	count = names_find(m->names, addr, UINT64_MAX, frames, CAUSAL_CHAIN);
	at = place_frame(sites->scope, frames, count);
	if (at >= 0) {
		heat.file = frames[at].file;
		heat.line = frames[at].line;
		heat.function = frames[at].function;
	} else if (count && !frames[count - 1].file && !module && frames[count - 1].function) {
		heat.function = frames[count - 1].function;
	} else {
		return UINT32_MAX;
	}
	return heat_of(sites, &heat);
}

static uint32_t spot_heat(struct causal_sites *sites, const struct causal_spot *spot)
{
	str_auto struct str key = {0};
	uint32_t known;

	str_addf(&key, "%s %llx", spot->path, (unsigned long long)spot->offset);
	if (map_get(&sites->heat_by_spot, key.at, key.len, &known))
		return known;
	known = spot_name(sites, spot);
	map_put(&sites->heat_by_spot, key.at, key.len, known);
	return known;
}

/* Does a site that the user named stand for this line or function? */
static bool heat_find_site(struct causal_sites *sites, struct causal_heat *heat)
{
	vec_foreach (struct causal_site, site, &sites->sites)
		if (site->line == heat->line &&
			(heat->line ? same_text(site->file, heat->file)
				    : same_text(site->function, heat->function))) {
			heat->is_site = true;
			heat->site = (uint32_t)(site - sites->sites.at);
			return true;
		}
	return false;
}

static void heat_promote(struct causal_sites *sites, struct causal_heat *heat)
{
	const struct causal_module *module = &sites->modules.at[heat->module];
	struct causal_site site = {
		.file = heat->file, .function = heat->function, .line = heat->line};
	struct place place = {0};
	bool found;

	if (heat_find_site(sites, heat))
		return;
	found = heat->line
			? place_of_line(module->names, sites->scope, heat->file, heat->line, &place)
			: place_of_function(module->names, heat->function, &place);
	if (found) {
		site.name = heat->line ? causal_sites_line_name(sites, heat->file, heat->line)
				       : heat->function;
		site.what.count = causal_sites_places(sites, module, &place, &site.what.places);
		heat->is_site = true;
		heat->site = sites->sites.count;
		vec_push(&sites->sites, site);
	}
	place_done(&place);
}

/* The hottest line that is no site yet and hot enough to be one. */
static struct causal_heat *hottest(struct causal_sites *sites)
{
	struct causal_heat *found = NULL;

	vec_foreach (struct causal_heat, heat, &sites->heats)
		if (!heat->is_site && heat->ns * 1000 > sites->all_ns * CAUSAL_HOT_PERMILLE &&
			(!found || heat->ns > found->ns))
			found = heat;
	return found;
}

void causal_sites_see(
	struct causal_sites *sites, const struct causal_spot *spots, uint32_t count, uint32_t most)
{
	struct causal_heat *heat;

	sites->all_ns = sites->outside_ns = 0;
	vec_foreach (struct causal_heat, each, &sites->heats)
		each->ns = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = spot_heat(sites, &spots[i]);

		sites->all_ns += spots[i].ns;
		if (at == UINT32_MAX)
			sites->outside_ns += spots[i].ns;
		else
			sites->heats.at[at].ns += spots[i].ns;
	}
	while (sites->sites.count < most && (heat = hottest(sites))) {
		heat_promote(sites, heat);
		if (!heat->is_site)
			heat->ns = 0; /* no code of its own: not asked again in this round */
	}
	vec_foreach (struct causal_site, site, &sites->sites)
		site->ns = 0;
	vec_foreach (struct causal_heat, each, &sites->heats)
		if (each->is_site || heat_find_site(sites, each))
			sites->sites.at[each->site].ns += each->ns;
}

const struct causal_site *causal_sites_list(const struct causal_sites *sites, uint32_t *ret_count)
{
	*ret_count = sites->sites.count;
	return sites->sites.at;
}

uint64_t causal_sites_ns(const struct causal_sites *sites, uint64_t *ret_outside_ns)
{
	*ret_outside_ns = sites->outside_ns;
	return sites->all_ns;
}

const char *causal_sites_missing(const struct causal_sites *sites)
{
	return names_missing(sites->modules.at[0].names);
}
