/* target_parts.h - what target.c and target_facts.c share. */
#pragma once

#include "analyze/target.h"

struct target_work {
	const struct binary_facts *facts;
	struct arena *arena;
	struct target_view *view;
};

/* Fill view->facts: every fact under its name in the JSON document. */
void target_list_facts(struct target_work *work);
