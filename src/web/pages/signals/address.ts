import { optional, text } from '../../address/fields.ts'

/** Most severe first. */
export const STATES = ['silent', 'low', 'high', 'learning', 'normal', 'off'] as const

/** Search parameters of the list of signals. */
export const SIGNALS = {
  state: optional(STATES),
  mode: optional(['auto', 'muted', 'off']),
  domainId: text,
  vendor: text,
}
