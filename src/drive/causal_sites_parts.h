/* causal_sites_parts.h - what the files behind causal_sites.h share.
 *
 *     causal_sites.c    files of code, and what a user names in them
 *     causal_heat.c     where samples fell -> sites */
#pragma once

#include "base/arena.h"
#include "base/map.h"
#include "code/image.h"
#include "code/names.h"
#include "code/places.h"
#include "drive/causal_sites.h"

enum { CAUSAL_CHAIN = 64, CAUSAL_HOT_PERMILLE = 5 };

struct causal_module {
	const char *path;
	struct image *image; /* NULL: cannot be read */
	struct names *names;
	struct place own; /* code that a line in scope stands at */
};

/* A line in scope, or a function where there are no lines, that samples fell on. */
struct causal_heat {
	uint32_t module;
	const char *file, *function;
	uint32_t line;
	uint64_t ns;
	bool is_site;
	uint32_t site;
};

struct causal_sites {
	const struct scope *scope;
	const char *program;
	vec_of(struct causal_module) modules;
	struct map module_by_path, heat_by_key, heat_by_spot;
	vec_of(struct causal_heat) heats;
	vec_of(struct causal_site) sites;
	uint64_t all_ns, outside_ns;
	struct arena arena;
};

const char *causal_sites_keep(struct causal_sites *sites, const char *text);
uint32_t causal_sites_module(struct causal_sites *sites, const char *path);

/* The bytes of a file that a place of its module is; at most CAUSAL_RANGES_MAX. */
uint32_t causal_sites_places(struct causal_sites *sites, const struct causal_module *module,
	const struct place *place, const struct causal_place **ret_places);
const char *causal_sites_line_name(struct causal_sites *sites, const char *file, uint32_t line);
