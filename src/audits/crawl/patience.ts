import { SECOND_MS, systemClock } from '../../core/clock.ts'
import { retryAfterMs } from '../../integrations/outcome.ts'
import type { Pace } from './pace.ts'

/** By these a host says that it is asked too much, or not now. */
export const isBusy = (status: number | null): boolean => status === 429 || status === 503
/** How often one address is asked for. */
const TRIES = 3
/** A host that names no time is left in peace for so long, and for twice as long each time that it says so again. */
const FIRST_PAUSE_MS = 5 * SECOND_MS
/** A longer pause is not waited for: the address is given up. */
export const PAUSE_MAX_MS = 120 * SECOND_MS
/** A host that is busy for so many addresses in a row is left alone. */
const ADDRESSES = 3

/** What a host answered, as far as it matters here. */
interface Answer {
  /** Null: nothing. */
  status: number | null
  /** `Retry-After`; null: it named none. */
  retryAfter: string | null
}

interface Host {
  /** Busy answers in a row, and addresses that were given up in a row. */
  answers: number
  addresses: number
}

/** Leaves a host in peace that says it is asked too much, and asks again. */
export class Patience {
  private readonly hosts = new Map<string, Host>()

  constructor(private readonly pace: Pick<Pace, 'rest'>) {}

  /**
   * Returns the first answer that says something else, or the last of three. `ask` is to await the pace of the host.
   * @param giveUp called with a sentence without its full stop when the host is to be left alone
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
        const pause = isTooLong ? `, and asks for a pause of ${Math.round(pauseMs / SECOND_MS)} s` : ''
        giveUp(`${host} answered with status ${status} for ${ADDRESSES} addresses in a row${pause}`)
      }
      return answer
    }
  }
}
