import { useQuery } from '@tanstack/react-query'
import { getOrganizationOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../api/queries.ts'
import { usePreferences } from '../state/preferences.ts'

const browsers = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns the IANA time zone chosen under Preferences, or else the browser's. */
export const useTimeZone = (): string => usePreferences().timeZone ?? browsers

/** Returns the IANA time zone of the organization; null while it is loading. */
export const useOrganizationTimeZone = (): string | null =>
  useQuery({ ...getOrganizationOptions(), staleTime: STALE_MS.dictionary }).data?.timezone ?? null
