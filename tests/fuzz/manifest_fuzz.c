/* manifest_fuzz.c - any bytes as a manifest: refused, or written out and read again it is the same,
 * and no path in it leads out of its directory. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	manifest_auto struct manifest manifest, again;
	str_auto struct str text = {0}, second = {0};
	struct err err = {0};
	int r = manifest_read((const char *)data, size, "fuzz", &manifest, &err);

	manifest_init(&again);
	if (r < 0)
		return err.code ? 0 : (abort(), 0);
	vec_foreach (const struct manifest_file, file, &manifest.files) {
		str_auto struct str parts = {0};

		str_addf(&parts, "/%s/", file->path);
		if (*file->path == '/' || !*file->path || strstr(parts.at, "/../"))
			abort();
	}
	manifest_write(&manifest, &text);
	manifest_done(&again);
	if (manifest_read(str_text(&text), text.len, "fuzz", &again, &err) < 0)
		abort();
	manifest_write(&again, &second);
	if (text.len != second.len || memcmp(text.at, second.at, text.len) != 0)
		abort();
	return 0;
}
