import fc from 'fast-check'
import type { Condition } from '../../../conditions/condition.ts'
import { HOUR_MS, MINUTE_MS } from '../../../core/clock.ts'
import type { StoredEvent } from '../../../core/event.ts'
import type { MembersOf } from '../../../labels/label.ts'
import type { DuckdbWarehouse } from '../../../warehouse/duckdb/duckdb-warehouse.ts'
import { alertOf, eventOf, HOUR_BEFORE_NOON, NOON } from '../../alert.fixture.ts'
import type { Alert, AlertInput } from '../../alert.ts'
import type { Finding, Window } from '../../finding.ts'
import { journey } from './journey.ts'
import type { JourneySpec } from './journey-spec.ts'
import type { ShapeRow } from './journey-sql.ts'

export type SteppedSpec = Extract<JourneySpec, { version: 2 }>
type Step = SteppedSpec['steps'][number]
export type Anchor = Step['anchor']
export type Expect = Step['expect'][number]

export const LABELS: Record<string, { vendor: string; event: string }[]> = {
  checkout: [
    { vendor: 'ga4', event: 'begin_checkout' },
    { vendor: 'meta', event: 'InitiateCheckout' },
  ],
  pixel: [
    { vendor: 'meta', event: '' },
    { vendor: 'tiktok', event: '' },
  ],
  ab: [
    { vendor: 'a', event: 'x' },
    { vendor: 'b', event: '' },
  ],
  empty: [],
  blank: [{ vendor: '', event: '' }],
}
export const membersOf: MembersOf = (label) => LABELS[label] ?? []

export const journeyInput = (spec: JourneySpec, values: Partial<AlertInput> = {}): AlertInput => ({
  name: 'Purchases are reported',
  alertType: 'journey',
  journey: spec,
  period: '1h',
  channels: [{ type: 'email', target: 'ops@example.com' }],
  ...values,
})

export const journeyAlert = (spec: JourneySpec, values: Partial<AlertInput> = {}, id = 'alr_1', orgId = 'org_a') =>
  alertOf(journeyInput(spec, values), id, orgId)

/** Returns a specification from steps written as `[anchor, ...expect]`. */
export const stepped = (...steps: [Anchor, ...Expect[]][]): SteppedSpec => ({
  version: 2,
  steps: steps.map(([anchor, ...expect]) => ({ anchor, expect })),
})

export const start: Anchor = { kind: 'session' }
export const page = (path: string, op?: 'equals' | 'contains' | 'starts_with'): Anchor => ({
  kind: 'page',
  path,
  ...(op && { op }),
})
export const labelled = (label: string): Anchor => ({ kind: 'label', label })
export const on = (name: string): Anchor => ({ kind: 'event', ...named(name) })

/** Parses `ga4.purchase`, `ga4.` or `.purchase`. */
export function named(name: string): { vendor?: string; event?: string } {
  const [vendor = '', event = ''] = name.split('.')
  return { ...(vendor && { vendor }), ...(event && { event }) }
}
export const wants = (name: string, ...data: Condition[]): Expect => ({
  ...named(name),
  ...(data.length > 0 && { data }),
})
export const inOrder = (name: string, ...data: Condition[]): Expect => ({ ...wants(name, ...data), ordered: true })

export const equal = (parameter: string, value: string): Condition => ({ parameter, op: 'equals', values: [value] })

/**
 * Returns events a minute apart; the last event is received at `endsAt`. `ga4.view@/cart{value=12}<3` occurred 3
 * minutes before it was received; `+25` adds a pause of 25 minutes. Their `seq` is provisional.
 */
export function sessionOf(text: string, values: Partial<StoredEvent> = {}, endsAt = NOON - HOUR_MS): StoredEvent[] {
  let minute = 0
  const events = text
    .split(' ')
    .filter(Boolean)
    .flatMap((word) => {
      if (word.startsWith('+')) {
        minute += Number(word.slice(1))
        return []
      }
      const [, vendor = '', event = '', path, params = '', late = '0'] =
        /^(\w*)\.(\w*)(?:@([^{<]*))?(?:\{(.*)\})?(?:<(\d+))?$/.exec(word) ?? []
      const pairs = params.split(',').filter(Boolean)
      const at = minute++ * MINUTE_MS
      return [
        {
          vendor,
          event,
          path: path ?? null,
          ts: at - Number(late) * MINUTE_MS,
          receivedAt: at,
          params: Object.fromEntries(pairs.map((pair) => pair.split('='))),
        },
      ]
    })
  const shift = endsAt - (events.at(-1)?.receivedAt ?? 0)
  return events.map((one) =>
    eventOf({ sessionId: 'visit', ...one, ts: one.ts + shift, receivedAt: one.receivedAt + shift, ...values }),
  )
}

/** Returns one session per string, with the ids `s0`, `s1`, … */
export const visits = (texts: readonly string[], values: Partial<StoredEvent> = {}) =>
  texts.map((text, index) => sessionOf(text, { sessionId: `s${index}`, ...values }))

export const thanks = stepped([page('/thanks'), wants('meta.Purchase')])
/** Sessions that violate the journey `thanks` (`bad`) and follow it (`good`). */
export const bad = 'ga4.page_view@/thanks'
export const good = 'ga4.page_view@/thanks meta.Purchase@/thanks'

/** Returns the events sorted by arrival, with `seq` in the same order. */
export function arrived(sessions: readonly StoredEvent[][]): StoredEvent[] {
  return sessions
    .flat()
    .toSorted((a, b) => a.receivedAt - b.receivedAt)
    .map((event, index) => ({ ...event, seq: index + 1, id: `evt_${index + 1}` }))
}

/** Evaluates alerts using the production code. Returns findings by alert id. */
export async function walkAll(
  warehouse: Pick<DuckdbWarehouse, 'query'>,
  alerts: readonly [Alert, ...Alert[]],
  window: Window = HOUR_BEFORE_NOON,
): Promise<Record<string, Finding[]>> {
  const rows = await warehouse.query<ShapeRow>(journey.measure(alerts, window, [], membersOf))
  return Object.fromEntries(alerts.map((alert) => [alert.id, journey.judge(alert, rows)]))
}

const aName = fc.constantFrom('a.x', 'a.y', 'b.x', 'a.', '.y', 'c.z')
const aPage = fc.constantFrom('/', '/a', '/a/b')
const anAnchor: fc.Arbitrary<Anchor> = fc.oneof(
  fc.constant(start),
  fc.tuple(aPage, fc.constantFrom(undefined, 'equals', 'contains', 'starts_with')).map(([path, op]) => page(path, op)),
  fc.constantFrom('ab', 'gone').map(labelled),
  { weight: 3, arbitrary: aName.map(on) },
  fc.constant<Anchor>({ kind: 'event' }),
)
const aDatum: fc.Arbitrary<Condition> = fc.record({
  parameter: fc.constantFrom('k', '*', '$path'),
  op: fc.constantFrom('equals', 'not_blank', 'not_equals', 'gt'),
  values: fc.constantFrom(['1'], ['2', '1']),
})
const anExpect: fc.Arbitrary<Expect> = fc
  .tuple(aName, fc.boolean(), fc.option(fc.constantFrom('ab', 'gone'), { freq: 4 }), fc.array(aDatum, { maxLength: 1 }))
  .map(([name, ordered, label, data]) => ({ ...named(name), ordered, data, ...(label && { label }) }))
/** Short words over a small alphabet, so that journeys are unreached, followed and violated about equally often. */
export const aSpec: fc.Arbitrary<JourneySpec> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .array(fc.tuple(anAnchor, fc.array(anExpect, { maxLength: 3 })), { minLength: 1, maxLength: 3 })
      .map((steps) => stepped(...steps.map(([anchor, expect]): [Anchor, ...Expect[]] => [anchor, ...expect]))),
  },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.oneof({ weight: 4, arbitrary: aName.map(named) }, fc.constant({})), { minLength: 1, maxLength: 4 })
      .map((steps) => ({ steps })),
  },
)
const aWord = fc
  .tuple(
    fc.constantFrom('a.x', 'a.y', 'b.x', 'b.y', 'c.z'),
    fc.constantFrom('', '@/', '@/a', '@/a/b'),
    fc.constantFrom('', '{k=1}', '{k=2}', '{l=1,k=}'),
    fc.constantFrom('', '', '<1', '<3'),
  )
  .map((parts) => parts.join(''))
/** Input for `sessionOf`. */
export const aSession = fc.array(aWord, { minLength: 1, maxLength: 9 }).map((words) => words.join(' '))
