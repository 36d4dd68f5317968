import type { StoredEvent } from '../core/event.ts'
import { Closed, InstantSchema, Int, Type } from '../core/schema.ts'
import { requireDomain } from '../domains/store.ts'
import { may } from '../http/permission.ts'
import { ById, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import type { LiveBuffer } from './live-buffer.ts'

const MAX_EVENTS = 500
const DEFAULT_EVENTS = 100

const LiveSchema = Closed(
  {
    events: Type.Array(
      Closed({
        seq: Int(),
        ts: InstantSchema,
        event: Type.Record(Type.String(), Type.Unknown(), { description: 'The stored event' }),
      }),
      { description: 'In ascending order of `seq`' },
    ),
    latestSeq: Int({ description: '`seq` of the last event returned; send it as `since` to get the following events' }),
    armedUntil: Type.Number({ ...InstantSchema, description: 'Time at which capture ends; each call extends it' }),
    skipped: Type.Optional(
      Int({
        description:
          'Number of events after `since` that are missing because more than 1,000 arrived between two calls; absent if ' +
          'none. `since` must be the `latestSeq` of an earlier call',
      }),
    ),
  },
  {
    $id: 'LiveEvents',
    examples: [
      {
        events: [
          {
            seq: 1_767_614_400_000_000,
            ts: 1_767_614_400_000,
            event: { vendor: 'Meta Pixel', event: 'Purchase', params: { value: '12.50' } },
          },
        ],
        latestSeq: 1_767_614_400_000_000,
        armedUntil: 1_767_614_460_000,
      },
    ],
  },
)

const LiveQuery = Closed({
  since: Type.Optional(Int({ minimum: 0, description: 'Only events after this `seq`; default: the latest events' })),
  limit: Type.Optional(Int({ minimum: 1, maximum: MAX_EVENTS, default: DEFAULT_EVENTS })),
})

export interface LiveRouteDeps {
  db: Db
  live: LiveBuffer
  /** Returns a function that masks personal data for callers who lack permission to see it. */
  maskOf(orgId: string): (event: StoredEvent) => StoredEvent
}

/** Route that returns a domain's events as they arrive. */
export function liveRoutes({ db, live, maskOf }: LiveRouteDeps): Route[] {
  return [
    route({
      id: 'watchDomain',
      method: 'GET',
      path: '/v1/domains/{id}/live',
      access: 'read',
      tag: 'Domains',
      summary: 'Get events as they are received; each call enables capture for a minute',
      tool: true,
      params: ById,
      query: LiveQuery,
      answer: LiveSchema,
      handle({ principal, params: { id }, query: { since = null, limit = DEFAULT_EVENTS } }) {
        const { orgId } = principal
        requireDomain(db, { orgId, id })
        const { events, latestSeq, armedUntil, skipped } = live.read(id, since, limit)
        const shown = may(principal, 'seePersonal') ? events : events.map(maskOf(orgId))
        return {
          events: shown.map((event) => ({ seq: event.seq, ts: event.ts, event: { ...event } })),
          latestSeq,
          armedUntil,
          ...(skipped > 0 && { skipped }),
        }
      },
    }),
  ]
}
