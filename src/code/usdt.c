/* usdt.c - see usdt.h.
 *
 * A note is: three words (bytes of the name, bytes of what follows, type 3), "stapsdt", then the
 * address of the instruction, where .stapsdt.base was when the file was linked, the address of the
 * semaphore, and three texts: provider, name, arguments.  Each part is padded to four bytes.  What
 * moved the file since then moved .stapsdt.base along. */
#include "code/usdt.h"

#include <elf.h>
#include <string.h>

enum { USDT_TYPE = 3, USDT_PROBES_MOST = 1 << 16 };

static const char note_name[] = "stapsdt";

/* A text that ends inside the bytes; NULL: it does not.  Moves on behind it. */
static const char *text_take(struct image_bytes *rest)
{
	const unsigned char *end = rest->len ? memchr(rest->at, '\0', rest->len) : NULL;
	const char *text = (const char *)rest->at;
	size_t len;

	if (!end)
		return NULL;
	len = (size_t)(end - rest->at) + 1;
	rest->at += len;
	rest->len -= len;
	return text;
}

static void probe_take(struct image_bytes body, uint64_t base, usdt_probe_vec *ret_probes)
{
	struct usdt_probe probe;
	uint64_t words[3];

	if (body.len < sizeof(words))
		return;
	memcpy(words, body.at, sizeof(words));
	body.at += sizeof(words);
	body.len -= sizeof(words);
	probe.provider = text_take(&body);
	probe.name = text_take(&body);
	probe.addr = base && words[1] ? words[0] + (base - words[1]) : words[0];
	probe.semaphore = words[2] && base && words[1] ? words[2] + (base - words[1]) : words[2];
	if (probe.provider && probe.name && *probe.provider && *probe.name)
		vec_push(ret_probes, probe);
}

static uint64_t padded(uint32_t bytes)
{
	return ((uint64_t)bytes + 3) / 4 * 4;
}

void usdt_parse(struct image_bytes notes, uint64_t base, usdt_probe_vec *ret_probes)
{
	while (notes.len >= sizeof(Elf64_Nhdr) && ret_probes->count < USDT_PROBES_MOST) {
		const unsigned char *at = notes.at + sizeof(Elf64_Nhdr);
		Elf64_Nhdr head;
		uint64_t name, body, whole;

		memcpy(&head, notes.at, sizeof(head));
		name = padded(head.n_namesz);
		body = padded(head.n_descsz);
		whole = sizeof(head) + name + body;
		/* The last note need not be padded. */
		if (sizeof(head) + name + head.n_descsz > notes.len)
			return;
		if (head.n_type == USDT_TYPE && head.n_namesz == sizeof(note_name) &&
			memcmp(at, note_name, sizeof(note_name)) == 0)
			probe_take((struct image_bytes){at + name, head.n_descsz, 0}, base,
				ret_probes);
		if (whole >= notes.len)
			return;
		notes.at += whole;
		notes.len -= (size_t)whole;
	}
}

void usdt_read(struct image *image, usdt_probe_vec *ret_probes)
{
	usdt_parse(image_section(image, ".note.stapsdt"),
		image_section(image, ".stapsdt.base").addr, ret_probes);
}
