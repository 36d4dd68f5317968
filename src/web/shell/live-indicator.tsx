import { useEffect } from 'react'
import { followChanges, useLive } from '../api/change-stream.ts'
import { useWhoami } from '../api/whoami.ts'
import { Data } from '../components/data-text.tsx'
import { formatDate } from '../components/format.ts'
import { TimeAgo } from '../components/time-ago.tsx'
import { useTimeZone } from '../components/use-time-zone.ts'
import { messages } from '../messages.ts'
import classes from './live-indicator.module.css'

/** Shows whether the page receives live updates. Subscribes to the change stream while mounted. */
export function LiveIndicator() {
  const who = useWhoami()
  const name = who && `tagwarden-stream ${who.orgId} ${who.userId}`
  useEffect(() => (name ? followChanges(name) : undefined), [name])
  const { isLive, heardAt, pulse } = useLive()
  const zone = useTimeZone()
  const since = heardAt ?? performance.timeOrigin
  return (
    <span
      className={classes.live}
      data-live={isLive || undefined}
      title={isLive ? messages.shell.live : messages.shell.notLiveHint}
    >
      <span className={classes.dot} aria-hidden />
      <span aria-live="polite" className={isLive ? 'heard' : undefined}>
        {isLive ? messages.shell.live : messages.shell.notLive}{' '}
        {!isLive && <Data>{formatDate(since, zone, { hour: '2-digit', minute: '2-digit' })}</Data>}
      </span>
      {isLive && pulse?.lastStoredAt && (
        <span className={classes.fresh}>
          {messages.shell.lastEvent} <TimeAgo at={pulse.lastStoredAt} isQuiet />
        </span>
      )}
    </span>
  )
}
