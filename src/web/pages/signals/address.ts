import { optional, text } from '../../address/fields.ts'

/** The worst first. */
export const STATES = ['silent', 'low', 'high', 'learning', 'normal', 'off'] as const

/** What the address of the list of signals may say. */
export const SIGNALS = {
  state: optional(STATES),
  mode: optional(['auto', 'muted', 'off']),
  domainId: text,
  vendor: text,
}
