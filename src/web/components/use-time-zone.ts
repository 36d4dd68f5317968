import { usePreferences } from '../state/preferences.ts'

const browsers = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** Returns the IANA time zone chosen under Preferences, or else the browser's. */
export const useTimeZone = (): string => usePreferences().timeZone ?? browsers
