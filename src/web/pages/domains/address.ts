import { text } from '../../address/fields.ts'

/** Search parameters of the list of domains. */
export const DOMAINS = { q: text }
