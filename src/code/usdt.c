/* usdt.c - see usdt.h.
 *
 * A note is: three words (bytes of the name, bytes of what follows, type 3), "stapsdt", then the
 * address of the instruction, where .stapsdt.base was when the file was linked, the address of the
 * semaphore, and three texts: provider, name, arguments.  Each part is padded to four bytes.  What
 * moved the file since then moved .stapsdt.base along. */
#include "code/usdt.h"

#include <string.h>

#include "image_parts.h"

enum { USDT_TYPE = 3, USDT_PROBES_MOST = 1 << 16 };

static const char note_name[] = "stapsdt";

static void probe_take(struct image_bytes body, uint64_t base, usdt_probe_vec *ret_probes)
{
	struct cursor cursor = cursor_over(body, 0);
	uint64_t addr = cursor_u64(&cursor), linked = cursor_u64(&cursor);
	uint64_t semaphore = cursor_u64(&cursor), moved = base && linked ? base - linked : 0;
	struct usdt_probe probe = {.addr = addr + moved,
		.semaphore = semaphore ? semaphore + moved : 0,
		.provider = cursor_text(&cursor)};

	probe.name = cursor_text(&cursor);
	if (probe.provider && probe.name && *probe.provider && *probe.name)
		vec_push(ret_probes, probe);
}

void usdt_parse(struct image_bytes notes, uint64_t base, usdt_probe_vec *ret_probes)
{
	struct image_note note;

	while (ret_probes->count < USDT_PROBES_MOST && image_note_next(&notes, &note))
		if (note.type == USDT_TYPE && note.owner.len == sizeof(note_name) &&
			memcmp(note.owner.at, note_name, sizeof(note_name)) == 0)
			probe_take(note.body, base, ret_probes);
}

void usdt_read(struct image *image, usdt_probe_vec *ret_probes)
{
	usdt_parse(image_section(image, ".note.stapsdt"),
		image_section(image, ".stapsdt.base").addr, ret_probes);
}
