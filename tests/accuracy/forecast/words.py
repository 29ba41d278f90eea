"""What the page says between its tables."""

from __future__ import annotations

INTRODUCTION = """
Written by `python -m tests.accuracy.forecast --shared DIR --write` from one run over the data beside the
project; do not edit it here. `make accuracy` measures again, and fails when a figure on this page has
changed or a promise below is missed.

The forecaster is used as a host uses it: told of every call, asked after every call, told when a period is
over, and kept through all periods of a series, from knowing nothing on. Beside it, at the same moments:
`predict_linear` of Prometheus (least squares of the running total over a window as long as our half-lives:
5 or 15 minutes of an hour, 1 or 6 hours of a day, 6 hours or a day of a week; never over a reset), and the
average since the start, which gateways and clouds extrapolate.

- *hour*: three services, each recorded for an hour less some minutes, so that an hour is 57 minutes;
  *quarter of an hour*: the same recordings, cut.
- *day*, *week*: 45 clients of a service over two weeks. Sums of ten minutes were recorded; each is spread
  over five calls.
- *hour of one coding agent*, *of four*: recorded runs of a coding agent, one after the other, by one or
  by four workers. Times of steps are recorded, that arrangement is ours, and costs are sizes times a list
  price without caches.

Each period has eleven limits: at 50, 60, 70, 80, 90 and 95 % of what it truly came to, which are hit at a
known moment, and at 105, 110, 125, 150 and 200 %, which are not.
"""

ENDS = """
How far off the moment of exhaustion was said to be when three quarters of a limit were spent, as a share of
the period: median, and the ninth decile. `exhausted_at` is made of the *short rate*.
"""

ALARMS = """
Of the limits that are hit, how many were alarmed of before, and how long before (median, share of the
period). *False*: alarms of limits with room for a quarter more or better, at any moment of the period; last,
the same of limits that were missed by 5 or 10 %, where an alarm is arguable. *Little time left*: less than
15 % of the period, and less than what is left of it. *Imminent* asks that of both rates, *runaway* of the
short one alone, when it is three times the long one. But for *80 % of the limit*, nobody may speak before a
tenth of the period and twenty calls; ours may also when half of the limit is gone by then.
"""

RUNAWAYS = """
From a moment on, every call costs ten times as much; four such moments are drawn for each period, and the
limit is 1.25 times what the period truly came to. How many of those that were not alarmed of before were
caught between onset and exhaustion, how long after the one and before the other (medians, shares of the
period); *early*: the alarm was on before the onset. Left out are those in which one recorded sum alone takes
half of the limit.
"""

TOTALS = """
What a period comes to, said when a part of it is over: median error and ninth decile, shares of the true
total. Bands are to hold in 80 % of periods; each series calibrates its own, on nine of its own periods at
least, so that weeks and recorded hours have none here. *Width*: of the band, over the true total.
"""

STEPS = """
With how many more steps a cap is reached, asked when a part of it was spent; caps are 50, 70 and 90 % of what
each run came to. Relative error: median, mean and ninth decile. Answers are whole steps, because a cap is
reached at one; on short runs an answer is then right or a good part off, and a median of nothing says only
that most are right. The closed form of the study is shown as it was there, unrounded.
"""

FINALS = """
Runs in the order in which they are recorded; said only when twenty have finished, and nineteen of them went
beyond that step. Intervals are to hold in 90 % of runs.
"""

WEAK = """
## What is weak

- What a run comes to. The interval holds as often as it says, and is so wide that it says little: early
  in a run the high end is six to more than a hundred times the low one. Nothing that was fitted to more
  did better. Warn with it; stop no run on it.
- What a period comes to, before half of it is over: days are off by a fifth or more, hours of an agent by
  a third or more, where others are as good. In recorded hours the average since the start is as good.
- In the middle, `predict_linear` over as short a window is about as near to the moment of exhaustion, and
  nearer on the three whole hours. It is further off in the tail of days and weeks, and as an alarm it is
  false several times as often.
- As an alarm, the average since the start is as good as ours on services, once it is asked for little
  time left and not for the end of the period: fewer hits on days and weeks, fewer false alarms too. It
  does not see when, and sees runaways later.
- Bursts of agents. Where a budget's end is said 2 % wrong for services, it is said 5 or 6 % wrong for
  agents, and with one agent half of the limits that are just missed are paged for.
- A limit that is missed by 5 or 10 % is paged for on a third of the days.
- A burst within one call, or within one recorded sum, is foreseen by nobody; nor is a day's money that is
  gone within minutes. Two runaways in three thousand were not paged for: such a burst, and one that reached
  its limit in the last second of its period. The mark at 80 % told of both. Strict budgets end them.
- The alarm *runaway* adds little to *imminent*: some runaways in two thousand and minutes of lead, for half
  as many false alarms again on days.
- Months: nothing public is as long. Half-lives of a day and four days go on from those of weeks,
  unmeasured, as are budgets that roll.
"""

READING = """
## How to read it

- Half-lives, the 15 % and the guards come from a study of these and other recordings, and were not fitted
  again. That silence fades, that half a limit spent ends the waiting, and the shape of the day were added
  with these recordings in view. Expect less on data that nobody has seen.
- Three hours are a handful. The study had two more series, of agents, which are not at hand.
- Clients' sums are spread evenly within ten minutes: what happens from minute to minute is understated.
- Runaways are made by us; real ones need not begin at once, nor be ten-fold.
- A budget that throttles or refuses changes what it forecasts. Such periods are not learnt from.
"""
