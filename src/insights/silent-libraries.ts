import { DAY_MS, HOUR_MS, type Instant } from '../core/clock.ts'
import type { EventKind } from '../core/event.ts'
import { Closed, InstantSchema, Int, Type } from '../core/schema.ts'
import { decoders } from '../decoders/index.ts'
import { requireDomain } from '../domains/store.ts'
import { ById } from '../http/route.ts'
import type { OrgRowKey } from '../store/org-rows.ts'
import { type Query, query } from '../warehouse/query.ts'
import { insight } from './insight.ts'

const WINDOW_MS = DAY_MS

/** Vendors that receive events. Tag managers, for example, are excluded because they only load other tags. */
const SENDING = decoders.filter(({ routes }) => routes.some(({ carries }) => !carries)).map(({ vendor }) => vendor)

/** Number of events or library loads for one vendor and kind, and the time of the most recent one. */
interface KindRow {
  vendor: string
  kind: EventKind
  loads: number
  lastAt: Instant
}

const SilentLibraries = Closed(
  {
    windowHours: Int(),
    libraries: Type.Array(
      Closed({
        vendor: Type.String(),
        loads: Int({ description: 'Captured loads of the vendor’s code, unweighted' }),
        lastAt: { ...InstantSchema, description: 'Time at which the most recent load was received' },
      }),
      {
        description:
          'Sorted by loads, then by name. Excludes tag managers and other vendors that send no events themselves',
      },
    ),
  },
  {
    $id: 'SilentLibraries',
    examples: [{ windowHours: 24, libraries: [{ vendor: 'PostHog', loads: 120, lastAt: 1_767_614_400_000 }] }],
  },
)

/** Vendors whose library is loaded by the pages of a domain, but none of whose events are captured. */
export const silentLibraries = insight({
  id: 'listSilentLibraries',
  tag: 'Domains',
  summary: 'List vendors whose library was loaded in the last 24 hours although none of their events was received',
  path: '/domains/{id}/silent-libraries',
  params: ById,
  output: SilentLibraries,
  exports: 'libraries',
  async answer({ db, history }, { id }, { principal: { orgId }, now }) {
    requireDomain(db, { orgId, id })
    const rows = await history.query<KindRow>(kindsQuery({ orgId, id }, now))
    const sending = new Set(rows.filter(({ kind }) => kind === 'event').map(({ vendor }) => vendor))
    const libraries = rows
      .filter(({ vendor, kind }) => kind === 'library' && !sending.has(vendor))
      .map(({ vendor, loads, lastAt }) => ({ vendor, loads, lastAt }))
    return { windowHours: WINDOW_MS / HOUR_MS, libraries }
  },
})

function kindsQuery({ orgId, id }: OrgRowKey, now: Instant): Query {
  return query('insights.silent-libraries', {
    orgId,
    window: { from: now - WINDOW_MS, to: now + 1 },
    write(binder) {
      const tests = [...binder.among('domainId', [id]), ...binder.among('vendor', SENDING)]
      return {
        where: [`kind IN ('library', 'event')`, ...tests].join(' AND '),
        sql: `SELECT vendor, kind, count(*) AS loads, max(receivedAt) AS lastAt FROM events
          GROUP BY vendor, kind ORDER BY loads DESC, vendor, kind`,
      }
    },
  })
}
