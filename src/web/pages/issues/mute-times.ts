import { fromLocalInput, toLocalInput } from '../../components/local-time.ts'

const DAY_MS = 86_400_000
const START_OF_WEEK = 'T09:00'

/** Returns the next Monday at 9:00 in a time zone after `now`, in milliseconds since the epoch. */
export function nextMonday(now: number, timeZone: string): number {
  const [today = ''] = toLocalInput(now, timeZone).split('T')
  const midnight = Date.parse(`${today}T00:00Z`)
  for (let days = 0; ; days++) {
    const date = new Date(midnight + days * DAY_MS)
    if (date.getUTCDay() !== 1) continue
    const at = fromLocalInput(`${date.toISOString().slice(0, 10)}${START_OF_WEEK}`, timeZone)
    if (at > now) return at
  }
}
