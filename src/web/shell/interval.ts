import { fromLocalInput } from '../components/local-time.ts'

/** An interval as typed in two `datetime-local` inputs. */
export interface TypedInterval {
  from: string
  to: string
}

/** The interval in milliseconds since the epoch, or the field that is wrong and why. */
export type CheckedInterval =
  | { from: number; to: number; wrong: null }
  | { wrong: { field: keyof TypedInterval; reason: 'missing' | 'future' | 'reversed' } }

/** Inputs have no seconds, so the current minute counts as past. */
const MINUTE_MS = 60_000

/** Returns the interval that was typed in a time zone; reversed and future ones are wrong. */
export function checkInterval(typed: TypedInterval, timeZone: string, now: number): CheckedInterval {
  const [from, to] = [momentOf(typed.from, timeZone), momentOf(typed.to, timeZone)]
  if (from === null) return { wrong: { field: 'from', reason: 'missing' } }
  if (to === null) return { wrong: { field: 'to', reason: 'missing' } }
  if (from > now) return { wrong: { field: 'from', reason: 'future' } }
  if (to > now + MINUTE_MS) return { wrong: { field: 'to', reason: 'future' } }
  if (from >= to) return { wrong: { field: 'to', reason: 'reversed' } }
  return { from, to, wrong: null }
}

/** An incomplete value of a `datetime-local` input is empty. */
function momentOf(typed: string, timeZone: string): number | null {
  const moment = typed === '' ? Number.NaN : fromLocalInput(typed, timeZone)
  return Number.isNaN(moment) || moment < 0 ? null : moment
}
