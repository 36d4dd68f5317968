import { useEffect, useState } from 'react'
import type { Event } from '#client/types.gen'
import { formatNumber } from '../../../components/format.ts'
import { messages } from '../../../messages.ts'
import classes from './live-strip.module.css'
import { secondsBefore } from './live-timeline.ts'

const SECOND_MS = 1000

/** Events in each of the last 60 seconds, newest on the right. It doesn't move while paused. */
export function LiveStrip({ events, isPaused }: { events: readonly Event[]; isPaused: boolean }) {
  const now = useSeconds(isPaused)
  const seconds = secondsBefore(events, now)
  const most = Math.max(1, ...seconds.map((second) => second.events))
  const sum = (name: 'events' | 'violating') =>
    formatNumber(
      seconds.reduce((total, second) => total + second[name], 0),
      0,
    )
  const t = messages.domains.live
  return (
    <figure className={classes.strip}>
      <div className={classes.bars} role="img" aria-label={t.strip(sum('events'), sum('violating'))}>
        {seconds.map(({ at, events: count, violating }) => (
          <span key={at} className={classes.second} style={{ height: `${(count / most) * 100}%` }}>
            <span className={classes.violating} style={{ height: count > 0 ? `${(violating / count) * 100}%` : 0 }} />
          </span>
        ))}
      </div>
      <figcaption className={classes.caption} aria-hidden>
        <span>{t.minuteAgo}</span>
        <span>{t.strip(sum('events'), sum('violating'))}</span>
        <span>{t.now}</span>
      </figcaption>
    </figure>
  )
}

/** The current time, updated once a second unless paused. */
function useSeconds(isPaused: boolean): number {
  const [now, tick] = useState(Date.now)
  useEffect(() => {
    if (isPaused) return
    const timer = setInterval(() => tick(Date.now()), SECOND_MS)
    return () => clearInterval(timer)
  }, [isPaused])
  return now
}
