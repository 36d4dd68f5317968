import { type Instant, SECOND_MS } from '../../../core/clock.ts'

/** Slack takes one message a second in a channel: https://docs.slack.dev/apis/web-api/rate-limits */
const INTERVAL_MS = SECOND_MS
/** Channels of which it is remembered; the others were posted to long ago. */
const REMEMBERED = 10_000

const lastAt = new Map<string, Instant>()

/**
 * Takes the next turn of a channel, or says how long it is until then, in ms. After a start nothing is known: then Slack itself
 * says when it is too much.
 */
export function takeTurn(channel: string, now: Instant): number {
  const last = lastAt.get(channel)
  // A time to come is from before the clock was put back.
  const waitMs = last === undefined || last > now ? 0 : last + INTERVAL_MS - now
  if (waitMs > 0) return waitMs
  lastAt.delete(channel)
  lastAt.set(channel, now)
  const [oldest] = lastAt.size > REMEMBERED ? lastAt.keys() : []
  if (oldest !== undefined) lastAt.delete(oldest)
  return 0
}
