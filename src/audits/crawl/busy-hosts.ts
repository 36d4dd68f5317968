import { SECOND_MS, systemClock } from '../../core/clock.ts'
import { retryAfterMs } from '../../integrations/delivery-outcome.ts'
import type { HostDelay } from './host-delay.ts'

/** True for statuses that mean that a host is overloaded or temporarily unavailable. */
export const isBusy = (status: number | null): boolean => status === 429 || status === 503
/** Number of attempts for one URL. */
const TRIES = 3
/** First pause when the response does not specify one. The pause is doubled after each further busy response. */
const FIRST_PAUSE_MS = 5 * SECOND_MS
/** Longest accepted pause. A URL is skipped when its host requires a longer pause. */
const PAUSE_MAX_MS = 120 * SECOND_MS
/** Number of consecutive URLs with busy responses after which the crawl stops sending requests to the host. */
const ADDRESSES = 3

/** The fields that are read from a response. */
interface Answer {
  /** HTTP status; null without a response. */
  status: number | null
  /** Value of `Retry-After`; null when absent. */
  retryAfter: string | null
}

interface Host {
  /** Number of consecutive busy responses, and number of consecutive URLs that were skipped. */
  answers: number
  addresses: number
}

/** Pauses requests to busy hosts and repeats these requests afterwards. */
export class BusyHosts {
  private readonly hosts = new Map<string, Host>()

  constructor(private readonly pace: Pick<HostDelay, 'rest'>) {}

  /**
   * Returns the first response that is not busy, or the last of three responses. `ask` must respect the delay of the
   * host.
   * @param giveUp called with a reason, without a full stop, when no more requests may be sent to the host
   */
  async ask<A extends Answer>(host: string, ask: () => Promise<A>, giveUp: (why: string) => void): Promise<A> {
    const known = this.hosts.get(host) ?? { answers: 0, addresses: 0 }
    this.hosts.set(host, known)
    for (let tries = 1; ; tries++) {
      const answer = await ask()
      const { status } = answer
      if (!isBusy(status)) {
        Object.assign(known, { answers: 0, addresses: 0 })
        return answer
      }
      const asked = retryAfterMs(answer.retryAfter ?? undefined, systemClock.now())
      const pauseMs = asked ?? Math.min(PAUSE_MAX_MS, FIRST_PAUSE_MS * 2 ** known.answers++)
      const isTooLong = pauseMs > PAUSE_MAX_MS
      if (!isTooLong) this.pace.rest(host, pauseMs)
      if (!isTooLong && tries < TRIES) continue
      if (++known.addresses >= ADDRESSES) {
        const pause = isTooLong ? `, and requests a delay of ${Math.round(pauseMs / SECOND_MS)} s` : ''
        giveUp(`${host} responded with status ${status} for ${ADDRESSES} URLs in a row${pause}`)
      }
      return answer
    }
  }
}
