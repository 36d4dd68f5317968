import { queryOptions } from '@tanstack/react-query'
import {
  getEventDictionaryOptions,
  getFlatDictionaryOptions,
  getJourneyFlowsOptions,
  getPerformanceStatsOptions,
  getTagPerformanceOptions,
  searchEventsInfiniteOptions,
} from '#client/@tanstack/react-query.gen'
import { getFlatDictionary } from '#client/sdk.gen'
import { MAX_HOURS } from '../../../contract/limits.ts'
import { PAGE_SIZE } from '../../api/pagination.ts'
import { STALE_MS } from '../../api/queries.ts'
import { SHOW_PARAM } from '../../charts/show-param.ts'
import type { ValuesOf } from '../../url-state/param-types.ts'
import { choice, optional, text, timestamp } from '../../url-state/param-types.ts'
import type { Range } from '../../url-state/search-params.ts'
import { RANGES } from '../../url-state/search-params.ts'
import { RANGE_HOURS } from '../../url-state/use-search-params.ts'
import { changedKeys } from './dictionary/events-by-vendor.ts'

/** Search parameters of every Explore page. */
export const EXPLORE = { domainId: text }

/** Search parameters of the dictionary; `seen` limits it to new or gone keys. */
export const DICTIONARY = {
  ...EXPLORE,
  q: text,
  vendor: text,
  event: text,
  segment: text,
  seen: optional(['new', 'gone']),
}

/** Search parameters of the Journeys page. `step` (from 0) and `path` select a page. */
export const JOURNEYS = { ...EXPLORE, ...SHOW_PARAM, range: choice(RANGES, '3d'), step: timestamp, path: text }

/** Search parameters of the events. */
export const EVENTS = { ...EXPLORE, ...SHOW_PARAM, q: text, vendor: text, event: text, param: text, sessionId: text }

/** The query parameters of an Explore page. */
export interface ExploreParams {
  project?: string
  range?: Range
  from?: number | null
  domainId?: string
  vendor?: string
  event?: string
  segment?: string
}

const HOUR_MS = 3_600_000

/** The time range in hours. API responses always cover the time up to now. */
const hoursOf = ({ range = '24h', from }: ExploreParams, now = Date.now()): number =>
  from ? Math.min(MAX_HOURS.performance, Math.max(1, Math.ceil((now - from) / HOUR_MS))) : RANGE_HOURS[range]

/** The time range of a dictionary, in hours. */
export const dictionaryHours = (params: ExploreParams): number => Math.min(MAX_HOURS.dictionary, hoursOf(params))

/** The time range of journeys, in hours; three days by default. */
export const flowHoursOf = ({ range, from }: ExploreParams): number =>
  Math.min(MAX_HOURS.journeys, hoursOf({ range: range ?? '3d', from }))

/** A domain takes precedence over its project. */
const scopeParams = ({ project, domainId }: ExploreParams) =>
  domainId ? { domainId } : project ? { projectId: project } : {}

const rangeParams = (params: ExploreParams) => ({ hours: hoursOf(params), ...scopeParams(params) })
const nameParams = ({ vendor, event }: ExploreParams) => ({ ...(vendor && { vendor }), ...(event && { event }) })
const dictionaryParams = (params: ExploreParams, hours = dictionaryHours(params)) => ({
  hours,
  ...scopeParams(params),
  ...nameParams(params),
  ...(params.segment && { segment: params.segment }),
})

/** Keys that appeared or disappeared within the time range, compared with the last 7 days. */
async function loadChangedKeys(params: ExploreParams, signal: AbortSignal) {
  const about = async (hours: number) =>
    (await getFlatDictionary({ query: dictionaryParams(params, hours), signal })).data
  // The week is requested first, so that keys first seen between the two requests don't count as gone.
  const week = await about(MAX_HOURS.dictionary)
  return changedKeys(week, await about(dictionaryHours(params)))
}

/** The queries of the pages. */
export const exploreQueries = {
  dictionary: (params: ExploreParams) => ({
    ...getEventDictionaryOptions({ query: dictionaryParams(params) }),
    staleTime: STALE_MS.dictionary,
  }),
  flatDictionary: (params: ExploreParams) => ({
    ...getFlatDictionaryOptions({ query: dictionaryParams(params) }),
    staleTime: STALE_MS.dictionary,
  }),
  changedKeys: (params: ExploreParams) =>
    queryOptions({
      queryKey: [{ _id: 'changedKeys', query: dictionaryParams(params) }],
      queryFn: ({ signal }) => loadChangedKeys(params, signal),
      staleTime: STALE_MS.dictionary,
    }),
  flows: (params: ExploreParams) => ({
    ...getJourneyFlowsOptions({ query: { hours: flowHoursOf(params), ...scopeParams(params) } }),
    staleTime: STALE_MS.insight,
  }),
  performance: (params: ExploreParams) => ({
    ...getTagPerformanceOptions({ query: rangeParams(params) }),
    staleTime: STALE_MS.insight,
  }),
  execution: (params: ExploreParams) => ({
    ...getPerformanceStatsOptions({ query: rangeParams(params) }),
    staleTime: STALE_MS.insight,
  }),
}

interface EventsParams extends ValuesOf<typeof EVENTS> {
  project: string
  from: number
  to: number
}

/** The query of the event search. */
export function eventsQuery({ domainId, vendor, event, q, param, sessionId, project, from, to }: EventsParams) {
  const query = {
    limit: PAGE_SIZE,
    from,
    to,
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(event && { event }),
    ...(q && { q }),
    ...(param && { param }),
    ...(sessionId && { sessionId }),
    ...(project && { projectId: project }),
  }
  return searchEventsInfiniteOptions({ query })
}
