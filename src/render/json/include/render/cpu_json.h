/* cpu_json.h - "data" of the commands that count or simulate events of the processor: stat,
 * topdown, branches, cache.  Each writes members into the open object. */
#pragma once

#include "base/jsonw.h"

struct branches_page;
struct cache_page;
struct simulated_page;
struct simulated_view;
struct stat_view;
struct topdown_view;
struct verdict;

void stat_json(struct jsonw *w, const struct stat_view *view);
/* Of these only "events", "metrics" and "intervals", for counts that come from elsewhere. */
void stat_json_counts(struct jsonw *w, const struct stat_view *view);

void topdown_json(struct jsonw *w, const struct topdown_view *view);
void simulated_json(
	struct jsonw *w, const struct simulated_view *view, const struct simulated_page *page);
void branches_json(struct jsonw *w, const struct branches_page *page);
void cache_json(struct jsonw *w, const struct cache_page *page);

/* "verdict": {category, share, share_of, confidence, doubt, why, meaning, effect,
 * advice[]{language,text}, next, plan[]}. */
void verdict_json(struct jsonw *w, const struct verdict *verdict);
