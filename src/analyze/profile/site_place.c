/* site_place.c - see site_place.h. */
#include "analyze/site_place.h"

#include "model/run.h"

struct site_place site_place_of(const struct label_book *book, uint32_t location)
{
	uint32_t labels[LABEL_INLINES_MAX];
	const struct label *label;

	label_book_at(book, location, labels);
	label = &book->labels.at[labels[0] - 1];
	return (struct site_place){
		.function = label->name,
		.module = label->module,
		.file = label->file,
		.line = label->line,
		.addr = location ? book->run->locations.at[location - 1].addr : 0,
		.flags = label->flags,
	};
}

struct site_place site_place_simulated(const struct run *run, const struct place_row *place)
{
	return (struct site_place){
		.function = place->function ? run_text(run, place->function) : "[unknown]",
		.module = "",
		.file = run_text(run, place->file),
		.line = place->line,
	};
}
