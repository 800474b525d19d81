/* usdt.h - the probes that a program was built with (sys/sdt.h): PROVIDER:NAME and where they are.
 *
 * Does: read the notes of .note.stapsdt, moved as the program was (prelink).  Does not: attach.
 * Owns: the list, until vec_done(); texts are borrowed from the image.  Trusts nothing in the file.
 */
#pragma once

#include "base/vec.h"
#include "code/image.h"

struct usdt_probe {
	const char *provider, *name;
	uint64_t addr;	    /* of the instruction, in the ELF's addresses */
	uint64_t semaphore; /* address of the counter that switches the probe on; 0: always on */
};

typedef vec_of(struct usdt_probe) usdt_probe_vec;

/* All probes of a file, one entry for each place; broken notes are passed over. */
void usdt_read(struct image *image, usdt_probe_vec *ret_probes);

/* The same from the section's bytes; `base` is the address of .stapsdt.base, 0: there is none. */
void usdt_parse(struct image_bytes notes, uint64_t base, usdt_probe_vec *ret_probes);
