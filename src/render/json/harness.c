/* harness.c - "data" of `assay harness --json`; docs/commands/harness.md describes each member. */
#include "render/machine_json.h"

#include "analyze/harness.h"

void harness_json(struct jsonw *w, const struct harness_view *view)
{
	jsonw_put_text(w, "name", view->name);
	jsonw_put_text(w, "lang", view->lang);
	jsonw_put_text(w, "path", view->path);
	jsonw_put_text(w, "build", view->build);
	jsonw_open_array(w, "next");
	for (unsigned i = 0; i < HARNESS_STEPS; i++) {
		if (!view->steps[i].line)
			continue;
		jsonw_begin_object(w);
		jsonw_put_text(w, "line", view->steps[i].line);
		jsonw_put_text(w, "does", view->steps[i].does);
		jsonw_end_object(w);
	}
	jsonw_end_array(w);
}
