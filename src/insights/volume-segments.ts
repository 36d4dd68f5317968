import { type EventScope, scopeTests } from '../alerts/types/event-scope.ts'
import { DAY_MS, type Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantInput, type Static, Type } from '../core/schema.ts'
import { timezoneOf } from '../org/store.ts'
import { comparePeriods } from '../segments/compare-periods.ts'
import { AffectedSegmentsSchema } from '../segments/segment-schema.ts'
import type { Binder, Query } from '../warehouse/query.ts'
import { insight } from './insight.ts'
import { domainFields, domainsNamed, textField } from './query-params.ts'

/** Maximum length of a period. */
const MAX_DAYS = 31
const WEEK_MS = 7 * DAY_MS

const instant = (description: string) => Type.Optional(InstantInput({ minimum: 0, description }))

const Input = Closed({
  ...domainFields,
  vendor: textField(200, 'Only this vendor, exact name'),
  event: textField(200, 'Only this event, exact name'),
  from: instant('Start of the period, by time of receipt; default: 24 hours before `to`'),
  to: instant('End of the period, exclusive; default: now'),
  baselineFrom: instant(
    'Start of the period to compare with; default: a week before `from`. If the lengths differ, its counts are scaled',
  ),
  baselineTo: instant('End of the period to compare with, exclusive; default: a week before `to`'),
})

/** The segments in which a count changed from one period to another. */
export const volumeSegments = insight({
  id: 'getVolumeSegments',
  summary:
    'Show in which browsers, systems, pages and other segments a number of events fell or rose between two periods',
  description:
    'Whether events are missing or additional depends on the change of the whole count: `violating` is the number of missing or ' +
    'additional events, `healthy` the number of existing events, and `total` the number expected (or observed, if there are too ' +
    'many). Segments whose other events changed as much are left out, because their traffic changed; the summary names them. ' +
    '`/docs/use/affected-segments` describes the method.',
  path: '/insights/segments',
  refusals: ['notFound', 'unavailable', 'invalid'],
  input: Input,
  output: AffectedSegmentsSchema,
  exports: 'segments',
  async answer(sources, input, { principal: { orgId }, now }) {
    const { db, history, privacy } = sources
    const domainIds = domainsNamed(sources, orgId, input) ?? []
    const { vendor, event = null } = input
    const all: EventScope = { domainIds, vendors: [], event: null }
    const own: EventScope = { domainIds, vendors: vendor === undefined ? [] : [vendor], event }
    return comparePeriods(
      {
        orgId,
        counted: (binder) => ({ sql: testsOf(own, binder) }),
        traffic:
          vendor === undefined && event === null
            ? null
            : (binder) => ({ sql: `${testsOf(all, binder)} AND NOT (${testsOf(own, binder)})` }),
        ...periodsOf(input, now),
        direction: null,
      },
      { history, privacy: privacy(), timezone: timezoneOf(db, orgId) },
    )
  },
})

const testsOf = (scope: EventScope, binder: Binder) => [`kind <> 'library'`, ...scopeTests(scope, binder)].join(' AND ')

function periodsOf(
  { to: until, from: since, baselineFrom, baselineTo }: Static<typeof Input>,
  now: Instant,
): Record<'observed' | 'baseline', Query['window']> {
  const to = until ?? now + 1
  const from = since ?? to - DAY_MS
  const baseline = { from: baselineFrom ?? from - WEEK_MS, to: baselineTo ?? to - WEEK_MS }
  check('from', 'to', { from, to })
  check('baselineFrom', 'baselineTo', baseline)
  return { observed: { from, to }, baseline }
}

/** Throws `AppError('invalid')` naming the field if the period is empty or too long. */
function check(start: string, end: string, { from, to }: Query['window']): void {
  if (from >= to) throw new AppError('invalid', `query.${start}: must be before ${end}`)
  if (to - from > MAX_DAYS * DAY_MS)
    throw new AppError('invalid', `query.${start}: must be at most ${MAX_DAYS} days before ${end}`)
}
