import fc from 'fast-check'
import { aSession, sessionOf } from '../../src/alerts/types/journey/journey.fixture.ts'
import { anEvent as anOddEvent } from '../../src/conditions/random-rules.fixture.ts'
import { type Instant, MINUTE_MS } from '../../src/core/clock.ts'
import type { StoredEvent } from '../../src/core/event.ts'
import { aKey, aValue, type EventFields } from '../../src/warehouse/warehouse.fixture.ts'

/** A domain and its organization. */
export interface EventOrigin {
  orgId: string
  domainId: string
}

/** Events received together at the same time. */
export interface Batch {
  at: Instant
  events: EventFields[]
}

const SEED = 20_260_105
const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) => fc.sample(arbitrary, { numRuns, seed: SEED })
/** Returns a function that cycles through the values. */
const turns = <T>(values: readonly T[]) => {
  let at = 0
  return () => values[at++ % values.length] as T
}

/** Sums of these weights are exact in any order. */
const WEIGHTS = [1, 1, 1, 2, 4, 0.5, 10]
const NAMES = ['purchase', 'page_view', 'Page View', "it's", '', 'größe 😀', 'x', 'add "to" cart\\']
const VENDORS = ['Google Analytics 4', 'Meta Pixel', 'Grün & Söhne', '', `o'neill "x" \\`]
const VIOLATIONS = [null, null, null, ['alr_1'], ['alr_1', 'alr_2'], ['alr_3'], null, ['alr_2', "alr_'4"]]
/** Includes values beyond the range of JSON, 64-bit integers, or the integers that a double represents exactly. */
const HUGE = [null, 0, 0.5, 12, 1e300, 5e-324, 2 ** 53, 2 ** 63, 1e21, -1.5e22, 123_456.75]
const TEXTS = ['1e400', '-1e400', '9'.repeat(400), '18446744073709551616', '0x10', 'NaN', '\u2028', 'x'.repeat(3000)]

/**
 * Generates at least `count` events over about two days for these domains. The events include sessions and values that
 * engines could interpret differently. The result is always the same.
 */
export function generateBatches(start: Instant, places: readonly EventOrigin[], count: number): Batch[] {
  const nextPlace = turns(places)
  const odd = oddEvents(nextPlace)
  const visits = turns(sample(aSession, 700))
  const batches: Batch[] = []
  let made = 0
  for (let n = 0; made < count; n++) {
    const at = start + n * 7 * MINUTE_MS
    const events = [...Array.from({ length: 40 }, odd), ...visitsAt(at, n, nextPlace, visits)]
    batches.push({ at, events })
    made += events.length
  }
  return batches
}

/** Returns parameters with names that queries filter by. */
const saidOften = (n: number) =>
  n % 5 === 0
    ? { 'consent.ad_storage': n % 2 === 0 ? 'granted' : 'denied', url: `https://cdn.example/${n % 4}.js` }
    : {}

function oddEvents(nextPlace: () => EventOrigin): () => EventFields {
  const oddly = turns(sample(anOddEvent, 1201))
  const keys = turns(sample(aKey, 997))
  const values = turns([...sample(aValue, 1499), ...TEXTS])
  const [names, vendors, weights, violations, numbers] = [NAMES, VENDORS, WEIGHTS, VIOLATIONS, HUGE].map((list) =>
    turns<unknown>(list),
  ) as [() => string, () => string, () => number, () => string[] | null, () => number | null]
  const kinds = turns<StoredEvent['kind']>(['event', 'event', 'event', 'library', 'hit', 'tag', 'event'])
  const consentKeys = turns(['gcs', 'asc', 'gpc', 'consent.ad_storage', 'consent.gdpr'])
  const says = turns(['G100', 'D', '1', 'denied', 'applies', 'G111', 'G', 'yes', 'granted', '', '\n'])
  const letters = turns(['13p3p3p3p5', '13q3r3p3p5', '13l3l3l3l1', '13t3m3v3n1', 'x', '1\np', '11r1r1r1r5'])
  const orderKeys = turns(['ep.transaction_id', 'cd[order_id]', 'orderId', 'a.orderID[]', 'order_id.x'])
  const ids = turns(['T-7', "it's", '', ' ', '\\', '😀'])
  const amounts = turns(['value', 'epn.value', 'cd[revenue]'])
  let n = 0
  return () => {
    const { seq, receivedAt, ts, id, violations: _, weight, params, event, ...said } = oddly()
    n++
    return {
      ...said,
      ...nextPlace(),
      vendor: n % 3 === 0 ? said.vendor : vendors(),
      event: n % 4 === 0 ? [...event].slice(0, 20).join('') : names(),
      kind: kinds(),
      weight: weights(),
      violations: violations(),
      ...(n % 5 === 0 ? { durMs: numbers(), bytes: numbers() } : {}),
      host: n % 6 === 0 ? 'shop.example' : said.host,
      params: {
        ...saidOften(n),
        ...params,
        ...(n % 2 === 0 ? { [keys()]: values(), [keys()]: values() } : {}),
        ...(n % 4 === 1 ? { [consentKeys()]: says(), ...(n % 8 === 1 ? { gcd: letters() } : {}) } : {}),
        ...(n % 7 === 0 ? { [orderKeys()]: `T-${n % 50}`, [orderKeys()]: ids(), [amounts()]: values() } : {}),
        ...(n % 11 === 0 ? { fbp: 'fb.1.1' } : {}),
        ...(n % 7 < 2 ? { [n % 2 === 0 ? 'eid' : 'event_id']: `e-${n % 3}` } : {}),
      },
    }
  }
}

/** Returns the next steps of sessions that span several batches and recur hours later. */
function visitsAt(at: Instant, n: number, nextPlace: () => EventOrigin, visits: () => string): EventFields[] {
  return Array.from({ length: 6 }, (_, lane) => {
    const { orgId, domainId } = nextPlace()
    const sessionId = lane === 0 ? '' : `s${lane}-${Math.floor(n / (lane + 1)) % 40}`
    return sessionOf(visits(), { orgId, domainId, sessionId, host: lane % 2 === 0 ? 'shop.example' : null }, at).map(
      ({ seq, id, receivedAt, ...event }) => ({ ...event, weight: lane === 3 ? 2 : 1 }),
    )
  }).flat()
}
