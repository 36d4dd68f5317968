import { compareTrafficOptions, listReleasesOptions } from '#client/@tanstack/react-query.gen'
import type { CompareTrafficData } from '#client/types.gen'
import { STALE_MS } from '../../api/queries.ts'
import { choice, number, optional, text, timestamp, type ValuesOf } from '../../url-state/param-types.ts'
import { RANGES } from '../../url-state/search-params.ts'

/** Pairs of sides, in display order. */
export const PAIRS = ['versions', 'periods', 'environments', 'domains'] as const
export type Pair = (typeof PAIRS)[number]

/** Search parameters of the Compare page. Those of a pair have the names of the API. */
export const COMPARE = {
  by: choice(PAIRS, 'versions'),
  domainId: text,
  aVersion: number,
  bVersion: number,
  aFrom: timestamp,
  aTo: timestamp,
  bFrom: timestamp,
  bTo: timestamp,
  aEnv: optional(['prod', 'dev']),
  bEnv: optional(['prod', 'dev']),
  aDomainId: text,
  bDomainId: text,
  show: optional(['all']),
  range: choice(RANGES, '7d'),
}
export type CompareValues = ValuesOf<typeof COMPARE>

type Query = NonNullable<CompareTrafficData['query']>

/** Filters of the Events page for one side. */
export interface SideFilters {
  domainId: string
  from: number
  to: number
  version?: number
  env?: 'prod' | 'dev'
}

/** A complete comparison: the request, and the filters of each side. */
export interface Sides {
  query: Query
  a: SideFilters
  b: SideFilters
}

interface Known {
  domainIds: readonly string[]
  /** Most recent first. */
  versions: readonly number[]
  /** The time range of the page. */
  from: number
  to: number
}

const DAY_MS = 86_400_000

/** Two periods, as in the URL. */
export type Periods = Pick<CompareValues, 'aFrom' | 'aTo' | 'bFrom' | 'bTo'>

/** Returns the last `days` days and a period of the same length that began `backDays` earlier. */
export function recentPeriods(now: number, days: number, backDays: number): { [Name in keyof Periods]: number } {
  const [bFrom, bTo] = [now - days * DAY_MS, now]
  return { aFrom: bFrom - backDays * DAY_MS, aTo: bTo - backDays * DAY_MS, bFrom, bTo }
}

/** Returns the values with defaults: the first domains, the two most recent releases, and the last two days. */
export function withDefaults(values: CompareValues, { domainIds, versions, to }: Known): CompareValues {
  const bVersion = values.bVersion ?? versions.find((version) => version !== values.aVersion) ?? null
  const older = versions.slice(bVersion === null ? 0 : versions.indexOf(bVersion) + 1)
  const periods = recentPeriods(to, 1, 1)
  const given = [values.aFrom, values.aTo, values.bFrom, values.bTo].some((at) => at !== null)
  const { aFrom, aTo, bFrom, bTo } = given ? values : periods
  return {
    ...values,
    ...{ aFrom, aTo, bFrom, bTo, bVersion },
    domainId: values.domainId || (domainIds[0] ?? ''),
    aVersion: values.aVersion ?? older.find((version) => version !== bVersion) ?? null,
    aEnv: values.aEnv ?? 'prod',
    bEnv: values.bEnv ?? 'dev',
    aDomainId: values.aDomainId || (domainIds.find((id) => id !== values.bDomainId) ?? ''),
    bDomainId: values.bDomainId || (domainIds.filter((id) => id !== values.aDomainId)[values.aDomainId ? 0 : 1] ?? ''),
  }
}

/** Returns the comparison of values with defaults; null if a value is missing. */
export function sidesOf(values: CompareValues, { from, to }: Pick<Known, 'from' | 'to'>): Sides | null {
  const { by, domainId, aVersion, bVersion, aFrom, aTo, bFrom, bTo, aEnv, bEnv, aDomainId, bDomainId } = values
  if (by === 'domains') {
    if (!aDomainId || !bDomainId) return null
    const [a, b] = [aDomainId, bDomainId].map((id) => ({ domainId: id, from, to })) as [SideFilters, SideFilters]
    return { query: { aDomainId, bDomainId, from, to }, a, b }
  }
  if (!domainId) return null
  const common = { domainId, from, to }
  if (by === 'versions') {
    if (aVersion === null || bVersion === null) return null
    return {
      query: { ...common, aVersion, bVersion },
      a: { ...common, version: aVersion },
      b: { ...common, version: bVersion },
    }
  }
  if (by === 'environments') {
    if (aEnv === null || bEnv === null) return null
    return { query: { ...common, aEnv, bEnv }, a: { ...common, env: aEnv }, b: { ...common, env: bEnv } }
  }
  if (aFrom === null || aTo === null || bFrom === null || bTo === null) return null
  return {
    query: { domainId, aFrom, aTo, bFrom, bTo },
    a: { domainId, from: aFrom, to: aTo },
    b: { domainId, from: bFrom, to: bTo },
  }
}

/** The query of the releases of a domain. */
export const releasesQuery = (domainId: string) => ({
  ...listReleasesOptions({ query: { domainId } }),
  staleTime: STALE_MS.insight,
})

/** The query of a comparison. */
export const comparisonQuery = ({ query }: Sides) => ({
  ...compareTrafficOptions({ query }),
  staleTime: STALE_MS.insight,
})

export type Domain = { id: string; name: string }

/** Returns the domains with one of them first: by default, the first is compared. */
export const withFirst = (domains: readonly Domain[], first: string | undefined): Domain[] => [
  ...domains.filter(({ id }) => id === first),
  ...domains.filter(({ id }) => id !== first),
]
