import {
  getEventDictionaryOptions,
  getFlatDictionaryOptions,
  getJourneyFlowsOptions,
  getPerformanceStatsOptions,
  getTagPerformanceOptions,
} from '#client/@tanstack/react-query.gen'
import { getFlatDictionary } from '#client/sdk.gen'
import type { Range } from '../../address/search.ts'
import { RANGE_HOURS } from '../../address/use-search.ts'
import { FRESH } from '../../api/queries.ts'
import { changedKeys } from './dictionary/dictionary.ts'

/** What an address says of what is asked for. */
export interface Asked {
  project?: string
  range?: Range
  from?: number | null
  domainId?: string
  vendor?: string
  event?: string
}

/** What is asked for, of all that an address says: what only the page looks at is no other question. */
export const askedOf = ({ project, range, from, domainId, vendor, event }: Asked): Asked => ({
  ...{ project: project ?? '', range, from: from ?? null },
  ...{ domainId: domainId ?? '', vendor: vendor ?? '', event: event ?? '' },
})

const HOUR_MS = 3_600_000

/** So far back the API answers. */
const MOST_HOURS = 744

/** The hours back from now that an address is about: the API answers up to now. */
export const hoursOf = ({ range = '24h', from }: Asked, now = Date.now()): number =>
  from ? Math.min(MOST_HOURS, Math.max(1, Math.ceil((now - from) / HOUR_MS))) : RANGE_HOURS[range]

/** The dictionaries look no further back. */
export const DICTIONARY_HOURS = 168

/** The hours back from now that a dictionary is about. */
export const dictionaryHours = (asked: Asked): number => Math.min(DICTIONARY_HOURS, hoursOf(asked))

/** So far back sessions are followed. */
const MOST_FLOW_HOURS = 336

/** The same for journeys, which are about three days where the address does not say. */
export const flowHoursOf = ({ range, from }: Asked): number =>
  Math.min(MOST_FLOW_HOURS, hoursOf({ range: range ?? '3d', from }))

/** A domain is narrower than its project. */
const whereOf = ({ project, domainId }: Asked) => (domainId ? { domainId } : project ? { projectId: project } : {})

const within = (asked: Asked) => ({ hours: hoursOf(asked), ...whereOf(asked) })
const named = ({ vendor, event }: Asked) => ({ ...(vendor && { vendor }), ...(event && { event }) })
const entries = (asked: Asked, hours = dictionaryHours(asked)) => ({ hours, ...whereOf(asked), ...named(asked) })

/** The keys that came or went, by what is asked for within a week. */
async function changedKeysOf(asked: Asked, signal: AbortSignal) {
  const about = async (hours: number) =>
    (await getFlatDictionary({ query: entries(asked, hours), signal, throwOnError: true })).data
  // The week first: what arrives between the two then counts as of the time asked for, and makes nothing old.
  const week = await about(DICTIONARY_HOURS)
  return changedKeys(week, await about(dictionaryHours(asked)))
}

/** The questions of the pages, from what their address says; equal addresses ask for the same. */
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
