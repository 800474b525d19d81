/* imported.c - one row per event, with the count of the whole run. */
#include "analyze/imported.h"

#include "model/run.h"

static const char *status_word(enum event_status status)
{
	static const char *const words[] = {[EVENT_COUNTED] = "counted",
		[EVENT_NOT_COUNTED] = "not counted",
		[EVENT_NOT_SUPPORTED] = "not supported",
		[EVENT_NOT_PERMITTED] = "not permitted",
		[EVENT_NOT_TRUSTED] = "not trusted"};

	return status < EVENT_STATUSES ? words[status] : "";
}

/* Counts of an event that is scaled already are taken as they are. */
static double count_value(const struct event_row *event, const struct count_row *count)
{
	double value = (double)count->value * event->scale;

	if ((event->flags & EVENT_PRESCALED) || !count->running_ns)
		return value;
	return value * (double)count->enabled_ns / (double)count->running_ns;
}

void imported_view_make(const struct run *run, struct imported_view *ret_view)
{
	struct imported_view view = {0};
	uint64_t newest_ns = 0;

	vec_foreach (const struct event_row, event, &run->events)
		vec_push(&view.events, (struct imported_event){
					       .name = run_text(run, event->name),
					       .core = run_text(run, event->core),
					       .unit = run_text(run, event->unit),
					       .status = status_word(event->status),
					       .reason = run_text(run, event->reason),
				       });
	vec_foreach (const struct count_row, count, &run->counts) {
		struct imported_event *row;

		if (count->at_ns > newest_ns) {
			newest_ns = count->at_ns;
			view.intervals++;
		}
		if (count->at_ns || !count->event || count->event > view.events.count)
			continue;
		row = &view.events.at[count->event - 1];
		row->known = run->events.at[count->event - 1].status == EVENT_COUNTED;
		row->value = count_value(&run->events.at[count->event - 1], count);
		row->enabled_ns = count->enabled_ns;
		row->running_ns = count->running_ns;
	}
	*ret_view = view;
}

void imported_view_done(struct imported_view *view)
{
	vec_done(&view->events);
}
