import { DAY_MS, HOUR_MS } from '../core/clock.ts'
import { Closed, Int, Type } from '../core/schema.ts'
import { type Query, query } from '../warehouse/query.ts'
import { insight } from './insight.ts'
import { domainFields, hoursIn, rangeFields, requestedDomains, windowOf } from './query-params.ts'

const MAX_HOURS = (7 * DAY_MS) / HOUR_MS

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })

const DEFAULT_HOURS = 24

const Output = Closed(
  {
    windowHours: Int(),
    events: Int({ description: 'Number of events, sampled ones weighted' }),
    grantedShare: share('Share of the events sent with consent; 0 if there are no events'),
    deniedShare: share(
      'Share of the events sent after consent was denied, or before it was given where it is required',
    ),
    unknownShare: share('Share of the events that say nothing about consent'),
  },
  {
    $id: 'ConsentShares',
    examples: [{ windowHours: 24, events: 5200, grantedShare: 0.71, deniedShare: 0.12, unknownShare: 0.17 }],
  },
)

/** The share of events with and without consent. */
export const consentShares = insight({
  id: 'getConsentShares',
  summary: 'Show the shares of events with and without consent',
  path: '/insights/consent',
  isTool: false,
  refusals: ['notFound', 'unavailable'],
  input: Closed({ ...rangeFields(DEFAULT_HOURS, MAX_HOURS), ...domainFields }),
  output: Output,
  async answer(sources, input, { principal: { orgId }, now }) {
    const domainIds = requestedDomains(sources, orgId, input).map(({ id }) => id)
    const window = windowOf(input, { byDefault: DEFAULT_HOURS, maximum: MAX_HOURS, now })
    const rows = await sources.history.query<ConsentRow>(consentSharesQuery(orgId, domainIds, window))
    const weightOf = (consent: string) => rows.find((row) => row.consent === consent)?.weight ?? 0
    const events = rows.reduce((sum, { weight }) => sum + weight, 0)
    const shareOf = (weight: number) => (events > 0 ? Math.round((weight / events) * 1000) / 1000 : 0)
    const [granted, denied] = [weightOf('granted'), weightOf('denied')]
    return {
      windowHours: hoursIn(window),
      events: Math.round(events),
      grantedShare: shareOf(granted),
      deniedShare: shareOf(denied),
      unknownShare: shareOf(events - granted - denied),
    }
  },
})

interface ConsentRow {
  consent: string
  weight: number
}

function consentSharesQuery(orgId: string, domainIds: readonly string[], window: Query['window']): Query {
  return query('insights.consent-shares', {
    over: 'events',
    orgId,
    window,
    write: (binder) => ({
      sql: `SELECT coalesce(consent, 'unknown') AS consent, sum(weight) AS weight FROM events
        WHERE ${["kind = 'event'", ...binder.among('domainId', domainIds)].join(' AND ')} GROUP BY ALL`,
    }),
  })
}
