import { useEffect, useSyncExternalStore } from 'react'
import { followStream, type LiveState, live } from '../api/stream.ts'
import { useWho } from '../api/who.ts'
import { messages } from '../messages.ts'
import { Ago } from '../parts/ago.tsx'
import { Data } from '../parts/data.tsx'
import { formatDate } from '../parts/format.ts'
import { useZone } from '../parts/zone.ts'
import classes from './live-dot.module.css'

export const useLive = (): LiveState => useSyncExternalStore(live.subscribe, live.read)

/** Whether what is on screen is kept fresh, and since when it is not. While it is shown the stream is followed. */
export function LiveDot() {
  const who = useWho()
  const name = who && `tagwarden-stream ${who.orgId} ${who.userId}`
  useEffect(() => (name ? followStream(name) : undefined), [name])
  const { isLive, heardAt, pulse } = useLive()
  const zone = useZone()
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
          {messages.shell.lastEvent} <Ago at={pulse.lastStoredAt} isQuiet />
        </span>
      )}
    </span>
  )
}
