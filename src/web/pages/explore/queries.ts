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
import { choice, number, optional, text, timestamp } from '../../url-state/param-types.ts'
import { type AskedRange, type Period, periodOf } from '../../url-state/period.ts'
import { RANGES } from '../../url-state/search-params.ts'
import { changedKeys } from './dictionary/events-by-vendor.ts'
import { DICTIONARY_SORTS } from './dictionary/sort-dictionary.ts'

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
  sort: optional(DICTIONARY_SORTS.flatMap((field) => [field, `-${field}`] as const)),
}

/** Search parameters of the Journeys page. `step` (from 0) and `path` select a page. */
export const JOURNEYS = { ...EXPLORE, ...SHOW_PARAM, range: choice(RANGES, '3d'), step: timestamp, path: text }

/** Search parameters of the events. */
export const EVENTS = {
  ...EXPLORE,
  ...SHOW_PARAM,
  q: text,
  vendor: text,
  event: text,
  param: text,
  sessionId: text,
  version: number,
  env: optional(['prod', 'dev']),
  violated: optional(['true', 'false']),
}

/** The query parameters of an Explore page. */
export interface ExploreParams extends AskedRange {
  project?: string
  domainId?: string
  vendor?: string
  event?: string
  segment?: string
}

/** Pages whose data has a maximum length. */
const MAX = {
  dictionary: MAX_HOURS.dictionary,
  journeys: MAX_HOURS.journeys,
  performance: MAX_HOURS.performance,
  execution: MAX_HOURS.performance,
} as const

/** The period that a page covers. Journeys cover three days by default. */
export function periodOn(page: keyof typeof MAX, params: ExploreParams): Period {
  const { range, from = null, to = null } = params
  return periodOf({ range: range ?? (page === 'journeys' ? '3d' : '24h'), from, to }, MAX[page])
}

/** A domain takes precedence over its project. */
const scopeParams = ({ project, domainId }: ExploreParams) =>
  domainId ? { domainId } : project ? { projectId: project } : {}

const paramsOn = (page: keyof typeof MAX, params: ExploreParams) => ({
  ...periodOn(page, params).query,
  ...scopeParams(params),
})
const nameParams = ({ vendor, event }: ExploreParams) => ({ ...(vendor && { vendor }), ...(event && { event }) })
const segmentParams = ({ segment }: ExploreParams) => ({ ...(segment && { segment }) })
const dictionaryParams = (params: ExploreParams) => ({
  ...paramsOn('dictionary', params),
  ...nameParams(params),
  ...segmentParams(params),
})

/** The week that ends with the time range of a dictionary. */
const weekParams = (params: ExploreParams) => {
  const { to } = periodOn('dictionary', params)
  return {
    hours: MAX_HOURS.dictionary,
    ...(to !== null && { to }),
    ...scopeParams(params),
    ...nameParams(params),
    ...segmentParams(params),
  }
}

/** Keys that appeared or disappeared within the time range, compared with the 7 days up to its end. */
async function loadChangedKeys(params: ExploreParams, signal: AbortSignal) {
  const about = async (query: ReturnType<typeof dictionaryParams> & { oneIn?: number }) =>
    (await getFlatDictionary({ query, signal })).data
  // The week is requested first, so that keys first seen between the two requests don't count as gone.
  const week = await about(weekParams(params))
  const oneIn = week.sampling?.oneIn
  return changedKeys(week, await about({ ...dictionaryParams(params), ...(oneIn !== undefined && { oneIn }) }))
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
    ...getJourneyFlowsOptions({ query: paramsOn('journeys', params) }),
    staleTime: STALE_MS.insight,
  }),
  performance: (params: ExploreParams) => ({
    ...getTagPerformanceOptions({ query: paramsOn('performance', params) }),
    staleTime: STALE_MS.insight,
  }),
  execution: (params: ExploreParams) => ({
    ...getPerformanceStatsOptions({ query: paramsOn('execution', params) }),
    staleTime: STALE_MS.insight,
  }),
}

interface EventFilters extends ValuesOf<typeof EVENTS> {
  project: string
}

/** The filters of the event search, as query fields of the events and of their number over time. */
export const eventFilters = ({ domainId, vendor, event, q, param, sessionId, project, ...others }: EventFilters) => ({
  ...(domainId && { domainId }),
  ...(vendor && { vendor }),
  ...(event && { event }),
  ...(q && { q }),
  ...(param && { param }),
  ...(sessionId && { sessionId }),
  ...(others.version !== null && { version: others.version }),
  ...(others.env && { env: others.env }),
  ...(others.violated && { violated: others.violated === 'true' }),
  ...(project && { projectId: project }),
})

/** The query of the event search. */
export const eventsQuery = ({ from, to, ...filters }: EventFilters & { from: number; to: number }) =>
  searchEventsInfiniteOptions({ query: { limit: PAGE_SIZE, from, to, ...eventFilters(filters) } })
