import type { KeyRow, SessionRow } from '../changes/comparison-tables.ts'
import type { EventFields } from '../core/event.fixture.ts'
import type { Random } from '../detector/series.fixture.ts'
import type { ComparedSide, ValueRow } from './compare-queries.ts'
import type { ComparedTables } from './side-differences.ts'

/** A difference of the visits on side B. */
export type Planted = 'none' | 'event_lost' | 'event_doubled' | 'key_lost' | 'value' | 'consent' | 'violation' | 'host'

/**
 * Returns the events of random visits. Visitors differ from each other, and the events of a visit are alike, so that
 * they are correlated.
 */
export function visitsOf(
  random: Random,
  { visits, planted, prefix }: { visits: number; planted: Planted; prefix: string },
): EventFields[] {
  const is = (difference: Planted) => planted === difference
  return Array.from({ length: visits }, (_, n) => {
    const chance = (share: number) => random() < share
    const currency = chance(is('value') ? 0.45 : 0.7) ? 'EUR' : 'CHF'
    const hasUser = !chance(is('key_lost') ? 0.75 : 0.3)
    const breaks = chance(is('violation') ? 0.3 : 0.04)
    const consent = chance(is('consent') ? 0.3 : 0.6) ? 'granted' : 'denied'
    const host = chance(0.8) ? 'shop.example' : is('host') ? 'new.shop.example' : 'm.shop.example'
    const event = (name: string, vendor = 'Google Analytics 4'): EventFields => ({
      vendor,
      event: name,
      host,
      sessionId: `${prefix}${n}`,
      violations: breaks ? ['alr_1'] : null,
      params: {
        currency,
        page: String(Math.floor(random() * 1000)),
        'consent.ad_storage': consent,
        ...(hasUser && { user: `u${n}` }),
      },
    })
    const views = Array.from({ length: 1 + Math.floor(random() * 6) }, () => event('page_view'))
    const buys = chance(0.4) && !is('event_lost')
    const purchases = Array.from({ length: buys ? (is('event_doubled') ? 2 : 1) : 0 }, () => event('purchase'))
    return [...views, ...purchases, ...(chance(0.9) ? [event('PageView', 'Meta Pixel')] : [])]
  }).flat()
}

/** Returns what the queries read of these events, computed with simple loops. Each event must have a session. */
export function tablesOfVisits(sides: Record<ComparedSide, readonly EventFields[]>): ComparedTables {
  const tables = (Object.entries(sides) as [ComparedSide, readonly EventFields[]][]).map(([side, events]) => ({
    sessions: sessionRows(side, events),
    keys: keyRows(side, events),
    values: valueRows(side, events),
    consent: consentRows(side, events),
    hosts: [...Map.groupBy(events, ({ host }) => host ?? '')].map(([host, own]) => ({
      side,
      host,
      sessions: sessionsIn(own),
    })),
  }))
  const joined = <K extends keyof ComparedTables>(name: K) => tables.flatMap((table): unknown[] => table[name]) as never
  return {
    sessions: joined('sessions'),
    keys: joined('keys'),
    values: joined('values'),
    consent: joined('consent'),
    hosts: joined('hosts'),
  }
}

type Events = readonly EventFields[]
const sessionsIn = (events: Events) => new Set(events.map(({ sessionId }) => sessionId)).size
const named = (events: Events) => Map.groupBy(events, ({ vendor, event }) => JSON.stringify([vendor, event]))
const namesIn = (name: string) => {
  const [vendor = '', event = ''] = JSON.parse(name) as string[]
  return { vendor, event }
}

function sessionRows(side: ComparedSide, events: Events): SessionRow[] {
  const seen = new Set<string>()
  return [...named(events)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, own]) => {
      const units = [...Map.groupBy(own, ({ sessionId }) => sessionId ?? '')]
      const firsts = units.filter(([id]) => !seen.has(id))
      for (const [id] of units) seen.add(id)
      const squares = units.reduce((sum, [, some]) => sum + some.length * Math.min(50, some.length), 0)
      return {
        ...namesIn(name),
        side,
        block: 0,
        sessions: units.length,
        firsts: firsts.length,
        events: own.length,
        weight: own.length,
        squares,
        weightSquares: squares,
        known: 0,
        failed: 0,
        violated: own.filter(({ violations }) => violations).length,
      }
    })
}

function keyRows(side: ComparedSide, events: Events): KeyRow[] {
  return [...named(events)].flatMap(([name, own]) => {
    const keys = new Set(own.flatMap(({ params }) => Object.keys(params ?? {})))
    return [...keys].map((key) => {
      const values = own.flatMap(({ params }) => params?.[key] ?? [])
      const numbers = values.filter((value) => /^\d+$/.test(value)).length
      return { ...namesIn(name), side, key, weight: values.length, numbers, booleans: 0 }
    })
  })
}

/** Returns all values: rare ones are not tested, because they have too small a share. */
function valueRows(side: ComparedSide, events: Events): ValueRow[] {
  return [...named(events)].flatMap(([name, own]) =>
    ['currency', 'consent.ad_storage'].flatMap((key) =>
      [...Map.groupBy(own, ({ params }) => params?.[key] ?? '')].map(([value, some]) => ({
        ...namesIn(name),
        side,
        key,
        value,
        weight: some.length,
      })),
    ),
  )
}

function consentRows(side: ComparedSide, events: Events): ComparedTables['consent'][number][] {
  const key = 'consent.ad_storage'
  return [...Map.groupBy(events, ({ vendor }) => vendor ?? '')].map(([vendor, own]) => {
    const granted = sessionsIn(own.filter(({ params }) => params?.[key] === 'granted'))
    return { vendor, side, key, granted, denied: sessionsIn(own) - granted }
  })
}
