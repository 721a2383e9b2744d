/* The log of an explored run: see log.h. A log that is full says so, and then has a gap at its end. */
#include "log.h"

void pct_log_start(struct pct_sched *s, struct pct_channel *channel)
{
    s->log = s->objects.log = channel;
    s->run.plan = channel->plan;
    s->run.plan_count = channel->plan_count < channel->plan_max ? channel->plan_count : channel->plan_max;
}

void pct_log_add(struct pct_channel *channel, struct pct_log_entry entry)
{
    if (channel->log_count < channel->log_max)
        pct_channel_log(channel)[channel->log_count++] = entry;
    else
        channel->doubts |= 1u << PCT_DOUBT_FULL;
}
