import { type Clock, DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { Closed, type Static, Type } from '../core/schema.ts'
import { SAMPLING_RATES } from '../domains/domain.ts'
import { pageViewRates, setPageViewRates } from '../domains/routing-store.ts'
import { type DomainKey, findDomain } from '../domains/store.ts'
import { may } from '../http/permission.ts'
import { ById, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { askedWith, Binder, type Warehouse } from '../warehouse/query.ts'

/** What is usual is taken from so many whole hours. */
const HOURS = (7 * DAY_MS) / HOUR_MS
const QUIET_SHARE = 0.1

const RateSchema = Type.Union(
  SAMPLING_RATES.map((rate) => Type.Literal(rate)),
  { description: 'Share of sessions whose page views are kept; everything else is kept whole' },
)

const SamplingSchema = Closed(
  {
    available: Type.Boolean({ description: 'Page views came in during the last 7 days' }),
    canEdit: Type.Boolean({ description: 'The caller may change the rates' }),
    supported: Type.Boolean({ description: 'Properties of this system have page views' }),
    devRate: Type.Number(),
    prodRate: Type.Number(),
    rates: Type.Array(Type.Number(), { description: 'The rates that can be chosen' }),
    eligible: Type.Array(Closed({ vendor: Type.String(), event: Type.String() }), {
      description: 'Events of the last 7 days that are page views, most frequent first, at most 200',
    }),
    pageViewsPerHour: Closed({
      quiet: Type.Number({ description: 'One hour of ten has no more than this' }),
      typical: Type.Number({ description: 'The median hour of the last 7 days' }),
    }),
  },
  {
    $id: 'PageViewSampling',
    examples: [
      {
        available: true,
        canEdit: true,
        supported: true,
        devRate: 1,
        prodRate: 0.5,
        rates: [...SAMPLING_RATES],
        eligible: [{ vendor: 'Google Analytics 4', event: 'page_view' }],
        pageViewsPerHour: { quiet: 120, typical: 900 },
      },
    ],
  },
)
type Sampling = Static<typeof SamplingSchema>

const SamplingInput = Closed(
  { devRate: Type.Optional(RateSchema), prodRate: Type.Optional(RateSchema) },
  { $id: 'PageViewSamplingInput', examples: [{ prodRate: 0.5 }] },
)

export interface SamplingParts {
  db: Db
  clock: Clock
  warehouse: Pick<Warehouse, 'query'>
  /** Called after every change that the collector must know of. */
  changed(): void
}

/** How many page views of a property are kept, and what that means for it. */
export function samplingRoutes(parts: SamplingParts): Route[] {
  const { db, clock, changed } = parts
  const common = { path: '/v1/domains/{id}/page-view-sampling', tag: 'Domains', params: ById } as const
  return [
    route({
      ...common,
      id: 'getPageViewSampling',
      method: 'GET',
      access: 'read',
      summary: 'Share of page views that is kept, and what page views there are',
      tool: true,
      question: true,
      answer: SamplingSchema,
      handle: ({ principal, params: { id }, signal }) =>
        samplingOf({ orgId: principal.orgId, id }, may(principal, 'configure'), {
          ...parts,
          warehouse: askedWith(parts.warehouse, signal),
        }),
    }),
    route({
      ...common,
      id: 'setPageViewSampling',
      method: 'PUT',
      access: 'configure',
      summary: 'Choose the share of sessions whose page views are kept',
      body: SamplingInput,
      answer: Closed({ devRate: Type.Number(), prodRate: Type.Number() }, { $id: 'PageViewRates' }),
      handle({ principal: { orgId }, params: { id }, body }) {
        findDomain(db, { orgId, id }, clock.now())
        setPageViewRates(db, { orgId, id }, body)
        changed()
        return pageViewRates(db, { orgId, id })
      },
      note: ({ body }) => ({ ...body }),
    }),
  ]
}

async function samplingOf(domain: DomainKey, canEdit: boolean, parts: SamplingParts): Promise<Sampling> {
  const { system } = findDomain(parts.db, domain, parts.clock.now())
  const rates = pageViewRates(parts.db, domain)
  const to = Math.floor(parts.clock.now() / HOUR_MS) * HOUR_MS
  const [eligible, hours] = await Promise.all([
    pageViewEvents(domain, to, parts.warehouse),
    pageViewsByHour(domain, to, parts.warehouse),
  ])
  return {
    available: eligible.length > 0,
    canEdit,
    supported: system !== 'server',
    ...rates,
    rates: [...SAMPLING_RATES],
    eligible,
    pageViewsPerHour: { quiet: quantile(hours, QUIET_SHARE), typical: quantile(hours, 0.5) },
  }
}

/** One question to the page views of a domain in the hours before `to`. */
function pageViewQuery({ orgId, id }: DomainKey, to: Instant, sql: (where: string) => string) {
  const binder = new Binder()
  const where = `WHERE ${binder.among('domainId', [id]).join('')} AND pageViews > 0`
  const window = { from: to - HOURS * HOUR_MS, to }
  return { sql: sql(where), over: 'counts', params: binder.params, keys: [], orgId, window } as const
}

function pageViewEvents(domain: DomainKey, to: Instant, warehouse: SamplingParts['warehouse']) {
  return warehouse.query<{ vendor: string; event: string }>(
    pageViewQuery(
      domain,
      // The hour under way counts here: a new property wants to see its page views at once.
      to + HOUR_MS,
      (where) =>
        `SELECT vendor, event FROM counts ${where} GROUP BY ALL ORDER BY sum(pageViews) DESC, vendor, event LIMIT 200`,
    ),
  )
}

/** Of each hour, in no order; an hour without any is 0. */
async function pageViewsByHour(domain: DomainKey, to: Instant, warehouse: SamplingParts['warehouse']) {
  const rows = await warehouse.query<{ pageViews: number }>(
    pageViewQuery(
      domain,
      to,
      (where) => `SELECT sum(pageViews) AS pageViews FROM counts ${where} GROUP BY minute // ${HOUR_MS}`,
    ),
  )
  const counts = rows.map(({ pageViews }) => Math.round(pageViews))
  return [...counts, ...Array<number>(Math.max(0, HOURS - counts.length)).fill(0)]
}

/** The value that this share of them does not exceed. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}
