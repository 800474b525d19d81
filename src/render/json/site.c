/* site.c - what `assay branches --json` and `assay cache --json` share. */
#include "parts.h"

#include "analyze/label.h"
#include "analyze/site_place.h"
#include "analyze/site_summary.h"

static void text_or_missing(struct jsonw *w, const char *key, const char *text, const char *reason)
{
	if (*text)
		jsonw_put_text(w, key, text);
	else
		jsonw_put_missing(w, key, reason);
}

void site_place_json(struct jsonw *w, const char *key, const struct site_place *place)
{
	jsonw_key(w, key);
	jsonw_begin_object(w);
	if (place->flags & LABEL_UNNAMED)
		jsonw_put_missing(w, "function", "no symbol is known at this address");
	else
		jsonw_put_text(w, "function", place->function);
	text_or_missing(w, "module", place->module, "it is not known which file the code is from");
	text_or_missing(w, "file", place->file, "no debug information tells the line");
	if (place->line)
		jsonw_put_u64(w, "line", place->line);
	else
		jsonw_put_missing(w, "line", "no debug information tells it, or it is a function");
	if (place->addr)
		jsonw_put_u64(w, "addr", place->addr);
	else
		jsonw_put_missing(w, "addr", "only the line is known");
	jsonw_end_object(w);
}

void site_head_json(struct jsonw *w, const struct site_summary *summary)
{
	jsonw_put_text(w, "target", summary->target);
	jsonw_put_text(w, "engine", summary->engine);
	text_or_missing(w, "arch", summary->arch, "the run does not tell its CPU");
	jsonw_put_bool(w, "simulated", summary->simulated);
	jsonw_put_bool(w, "user_only", summary->user_only);
	metric_results_json(w, summary->metrics, summary->metric_count, summary->simulated);
}
