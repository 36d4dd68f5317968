import { AppError } from './error.ts'

/** Cache of valid time zones. Validating a time zone takes a hundred times as long as a cache lookup. */
const timezones = new Set<string>()
/** Maximum cache size. Names are case-insensitive, so a zone has many spellings. */
const MAX_TIMEZONES = 1000

/**
 * Throws `AppError('invalid')` when the time zone does not exist. Valid time zones are names from the IANA database and
 * offsets such as `+05:30`.
 */
export function checkTimezone(timezone: string): void {
  if (timezones.has(timezone)) return
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new AppError('invalid', `timezone: ${timezone} is not a known time zone; use a name such as Europe/Berlin`)
  }
  if (timezones.size < MAX_TIMEZONES) timezones.add(timezone)
}
