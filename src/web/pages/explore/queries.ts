import {
  getEventDictionaryOptions,
  getFlatDictionaryOptions,
  getJourneyFlowsOptions,
  getPerformanceStatsOptions,
  getTagPerformanceOptions,
  searchEventsInfiniteOptions,
} from '#client/@tanstack/react-query.gen'
import { getFlatDictionary } from '#client/sdk.gen'
import type { ValuesOf } from '../../address/fields.ts'
import { choice, moment, optional, text } from '../../address/fields.ts'
import type { Range } from '../../address/search.ts'
import { RANGES } from '../../address/search.ts'
import { RANGE_HOURS } from '../../address/use-search.ts'
import { PAGED } from '../../api/pages.ts'
import { FRESH } from '../../api/queries.ts'
import { SHOW } from '../../charts/address.ts'
import { changedKeys } from './dictionary/dictionary.ts'

/** Search parameters of every Explore page. */
export const EXPLORE = { domainId: text }

/** Search parameters of the dictionary; `seen` limits it to new or gone keys. */
export const DICTIONARY = { ...EXPLORE, q: text, vendor: text, event: text, seen: optional(['new', 'gone']) }

/** Search parameters of the journeys; `step` (from 0) and `path` select a page. */
export const JOURNEYS = { ...EXPLORE, ...SHOW, range: choice(RANGES, '3d'), step: moment, path: text }

/** Search parameters of the events. */
export const EVENTS = { ...EXPLORE, ...SHOW, q: text, vendor: text, event: text, param: text, sessionId: text }

/** The query parameters of an Explore page. */
export interface Asked {
  project?: string
  range?: Range
  from?: number | null
  domainId?: string
  vendor?: string
  event?: string
}

/** Drops the search parameters that don't affect the query. */
export const askedOf = ({ project, range, from, domainId, vendor, event }: Asked): Asked => ({
  ...{ project: project ?? '', range, from: from ?? null },
  ...{ domainId: domainId ?? '', vendor: vendor ?? '', event: event ?? '' },
})

const HOUR_MS = 3_600_000

/** Maximum time range of the API, in hours. */
const MAX_HOURS = 744

/** The time range in hours. The API always answers up to now. */
export const hoursOf = ({ range = '24h', from }: Asked, now = Date.now()): number =>
  from ? Math.min(MAX_HOURS, Math.max(1, Math.ceil((now - from) / HOUR_MS))) : RANGE_HOURS[range]

/** Maximum time range of a dictionary, in hours. */
export const DICTIONARY_HOURS = 168

/** The time range of a dictionary, in hours. */
export const dictionaryHours = (asked: Asked): number => Math.min(DICTIONARY_HOURS, hoursOf(asked))

/** Maximum time range of journeys, in hours. */
const MAX_FLOW_HOURS = 336

/** The time range of journeys, in hours; three days by default. */
export const flowHoursOf = ({ range, from }: Asked): number =>
  Math.min(MAX_FLOW_HOURS, hoursOf({ range: range ?? '3d', from }))

/** A domain takes precedence over its project. */
const whereOf = ({ project, domainId }: Asked) => (domainId ? { domainId } : project ? { projectId: project } : {})

const within = (asked: Asked) => ({ hours: hoursOf(asked), ...whereOf(asked) })
const named = ({ vendor, event }: Asked) => ({ ...(vendor && { vendor }), ...(event && { event }) })
const entries = (asked: Asked, hours = dictionaryHours(asked)) => ({ hours, ...whereOf(asked), ...named(asked) })

/** Keys that appeared or disappeared in the time range, compared with the last 7 days. */
async function changedKeysOf(asked: Asked, signal: AbortSignal) {
  const about = async (hours: number) =>
    (await getFlatDictionary({ query: entries(asked, hours), signal, throwOnError: true })).data
  // Week first: keys that arrive between the two requests then count as part of the time range, not as gone.
  const week = await about(DICTIONARY_HOURS)
  return changedKeys(week, await about(dictionaryHours(asked)))
}

/** The queries of the pages. */
export const questions = {
  dictionary: (asked: Asked) => ({
    ...getEventDictionaryOptions({ query: entries(asked) }),
    staleTime: FRESH.dictionary,
  }),
  flatDictionary: (asked: Asked) => ({
    ...getFlatDictionaryOptions({ query: entries(asked) }),
    staleTime: FRESH.dictionary,
  }),
  changedKeys: (asked: Asked) => ({
    queryKey: [{ _id: 'changedKeys', query: entries(asked) }],
    queryFn: ({ signal }: { signal: AbortSignal }) => changedKeysOf(asked, signal),
    staleTime: FRESH.dictionary,
  }),
  flows: (asked: Asked) => ({
    ...getJourneyFlowsOptions({ query: { hours: flowHoursOf(asked), ...whereOf(asked) } }),
    staleTime: FRESH.insight,
  }),
  performance: (asked: Asked) => ({ ...getTagPerformanceOptions({ query: within(asked) }), staleTime: FRESH.insight }),
  execution: (asked: Asked) => ({ ...getPerformanceStatsOptions({ query: within(asked) }), staleTime: FRESH.insight }),
}

const EVENTS_PAGE_SIZE = 100

interface EventsQuery extends ValuesOf<typeof EVENTS> {
  project: string
  from: number
  to: number
}

/** The query of the event search. */
export function eventsAskedFor({ domainId, vendor, event, q, param, sessionId, project, from, to }: EventsQuery) {
  const query = {
    ...{ limit: EVENTS_PAGE_SIZE, from, to },
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(event && { event }),
    ...(q && { q }),
    ...(param && { param }),
    ...(sessionId && { sessionId }),
    ...(project && { projectId: project }),
  }
  return { ...searchEventsInfiniteOptions({ query }), ...PAGED }
}
