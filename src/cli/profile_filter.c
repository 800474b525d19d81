/* profile_filter.c - --event, --thread, --time and the like into a filter, for every command that
 * shows samples. */
#include "analyze/profile_filter.h"

#include "cli.h"

int cli_profile_filter(const struct cli *cli, struct profile_filter *ret_filter, struct err *err)
{
	const char *time = cli_value(cli, "time"), *side = cli_value(cli, "side");

	*ret_filter = (struct profile_filter){
		.event = cli_value(cli, "event"),
		.thread = cli_value(cli, "thread"),
		.module = cli_value(cli, "module"),
		.function = cli_value(cli, "function"),
		.side = !side || str_equal(side, "both") ? PROFILE_BOTH_SIDES
			: str_equal(side, "user")	 ? PROFILE_USER
							 : PROFILE_KERNEL,
	};
	return time ? profile_filter_time(ret_filter, time, err) : 0;
}
