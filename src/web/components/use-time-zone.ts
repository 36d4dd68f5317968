import { usePreferences } from '../shell/preferences.ts'

const browsers = new Intl.DateTimeFormat().resolvedOptions().timeZone

/** The IANA time zone that times are shown in: the one chosen under Preferences, else the browser's. */
export const useTimeZone = (): string => usePreferences().timeZone ?? browsers
