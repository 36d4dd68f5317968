import type { StoredEvent } from '../core/event.ts'
import { PAIRING_VENDORS } from './event-pair-queries.ts'

type Sent = Pick<StoredEvent, 'seq' | 'receivedAt' | 'vendor' | 'event' | 'params'>

const ruleOf = ({ vendor }: Sent) => PAIRING_VENDORS.find((one) => one.vendor === vendor)

/** Returns the side that sent an event; null for vendors that do not pair events. */
export function originOf(event: Sent): 'browser' | 'server' | null {
  const rule = ruleOf(event)
  return rule ? (rule.server.some((key) => key in event.params) ? 'server' : 'browser') : null
}

/** Returns the name that is used to pair an event. */
export function pairNameOf(event: Sent): string {
  return ruleOf(event)?.hasLooseNames ? event.event.toLowerCase().replaceAll('_', '') : event.event
}

function eventIdOf(event: Sent): string | undefined {
  return ruleOf(event)
    ?.ids.map((key) => event.params[key] ?? '')
    .find((id) => id.trim() !== '')
}

/** Returns the same pairs as `pairsSql`, computed event by event. The earlier event of each pair comes first. */
export function plainPairs<E extends Sent>(events: readonly E[]): [E, E][] {
  const groups = Map.groupBy(
    events.filter((event) => eventIdOf(event) !== undefined),
    (event) => JSON.stringify([event.vendor, pairNameOf(event), eventIdOf(event)]),
  )
  return [...groups.values()].flatMap((group) => {
    const pairs: [E, E][] = []
    const sorted = group.toSorted((a, b) => a.seq - b.seq)
    const [{ windowMs } = { windowMs: 0 }] = sorted.flatMap((event) => ruleOf(event) ?? [])
    let run: E[] = []
    const close = () => {
      const [browsers, servers] = (['browser', 'server'] as const).map((origin) =>
        run.filter((event) => originOf(event) === origin),
      )
      for (const [nth, browser] of (browsers ?? []).entries()) {
        const server = servers?.[nth]
        if (!server || Math.abs(server.receivedAt - browser.receivedAt) > windowMs) continue
        pairs.push(browser.seq < server.seq ? [browser, server] : [server, browser])
      }
      run = []
    }
    for (const event of sorted) {
      const last = run.at(-1)
      if (last && event.receivedAt - last.receivedAt > windowMs) close()
      run.push(event)
    }
    close()
    return pairs
  })
}
