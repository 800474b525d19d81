/* flame.c - see flame.h. */
#include "job/flame.h"

#include "base/io.h"
#include "render/flame.h"

int job_write_flame(const struct flame_view *view, const struct flame_options *look,
	const char *path, uint64_t *ret_bytes, struct err *err)
{
	struct io_writer writer;
	struct stream out = {.write = io_writer_write, .context = &writer};
	int r = io_writer_open(&writer, path, err);

	if (r < 0)
		return r;
	flame_svg(&out, view, look);
	r = stream_end(&out);
	if (ret_bytes)
		*ret_bytes = out.given_bytes;
	return io_writer_close(&writer, r, err);
}
