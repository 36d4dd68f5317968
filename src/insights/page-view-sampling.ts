import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import { Closed, Type } from '../core/schema.ts'
import { pageViewRates } from '../domains/collect-hostname-store.ts'
import { SAMPLING_RATES } from '../domains/domain.ts'
import { findDomain } from '../domains/store.ts'
import { may } from '../http/permission.ts'
import { ById } from '../http/route.ts'
import type { OrgRowKey } from '../store/org-rows.ts'
import { type Binder, type Query, query } from '../warehouse/query.ts'
import type { History } from '../warehouse/warehouse.ts'
import { insight } from './insight.ts'

/** Number of whole hours used to compute typical values. */
const HOURS = (7 * DAY_MS) / HOUR_MS
const QUIET_SHARE = 0.1

const SamplingSchema = Closed(
  {
    available: Type.Boolean({ description: 'True when page views were received in the last 7 days' }),
    canEdit: Type.Boolean({ description: 'True when the caller has permission to change the rates' }),
    supported: Type.Boolean({ description: 'True when the type of system of the domain has page views' }),
    devRate: Type.Number(),
    prodRate: Type.Number(),
    rates: Type.Array(Type.Number(), { description: 'Available rates' }),
    eligible: Type.Array(Closed({ vendor: Type.String(), event: Type.String() }), {
      description: 'Up to 200 page view events of the last 7 days, most frequent first',
    }),
    pageViewsPerHour: Closed({
      quiet: Type.Number({ description: '10th percentile of the hours in the last 7 days' }),
      typical: Type.Number({ description: 'Median hour in the last 7 days' }),
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

/** The share of page views that is stored for a property, and the property's number of page views. */
export const pageViewSampling = insight({
  id: 'getPageViewSampling',
  tag: 'Domains',
  summary: 'Show the sampling rates and the number of page views',
  path: '/domains/{id}/page-view-sampling',
  isQuick: true,
  params: ById,
  output: SamplingSchema,
  async answer({ db, history }, { id }, { principal, now }) {
    const domain = { orgId: principal.orgId, id }
    const { system } = findDomain(db, domain, now)
    const to = Math.floor(now / HOUR_MS) * HOUR_MS
    const [eligible, hours] = await Promise.all([
      pageViewEvents(domain, to, history),
      pageViewsByHour(domain, to, history),
    ])
    return {
      available: eligible.length > 0,
      canEdit: may(principal, 'configure'),
      supported: system !== 'server',
      ...pageViewRates(db, domain),
      rates: [...SAMPLING_RATES],
      eligible,
      pageViewsPerHour: { quiet: quantile(hours, QUIET_SHARE), typical: quantile(hours, 0.5) },
    }
  },
})

/** Returns the scope of queries for page views of a domain in the hours before `to`. */
const scopeOf = ({ orgId }: OrgRowKey, to: Instant) =>
  ({ over: 'counts', orgId, window: { from: to - HOURS * HOUR_MS, to } }) as const

const pageViewTests = ({ id }: OrgRowKey, binder: Binder) =>
  [...binder.among('domainId', [id]), 'pageViews > 0'].join(' AND ')

function pageViewEventsQuery(domain: OrgRowKey, to: Instant): Query {
  return query('insights.page-view-events', {
    ...scopeOf(domain, to),
    write: (binder) => ({
      sql: `SELECT vendor, event FROM counts WHERE ${pageViewTests(domain, binder)}
        GROUP BY ALL ORDER BY sum(pageViews) DESC, vendor, event LIMIT 200`,
    }),
  })
}

function pageViewHoursQuery(domain: OrgRowKey, to: Instant): Query {
  return query('insights.page-views-by-hour', {
    ...scopeOf(domain, to),
    write: (binder) => ({
      sql: `SELECT sum(pageViews) AS pageViews FROM counts WHERE ${pageViewTests(domain, binder)}
        GROUP BY ${binder.dialect.quotient('minute', HOUR_MS)}`,
    }),
  })
}

/** Returns the page view events in the domain, most frequent first. */
function pageViewEvents(domain: OrgRowKey, to: Instant, history: History) {
  // Includes the current hour, so that page views of a new property appear immediately.
  return history.query<{ vendor: string; event: string }>(pageViewEventsQuery(domain, to + HOUR_MS))
}

/** Returns one number per hour, in no particular order; 0 for an hour without page views. */
async function pageViewsByHour(domain: OrgRowKey, to: Instant, history: History) {
  const rows = await history.query<{ pageViews: number }>(pageViewHoursQuery(domain, to))
  const counts = rows.map(({ pageViews }) => Math.round(pageViews))
  return [...counts, ...Array<number>(Math.max(0, HOURS - counts.length)).fill(0)]
}

/** Returns a quantile of the values. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(share * sorted.length) - 1] ?? 0
}
