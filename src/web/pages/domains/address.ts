import { text } from '../../address/fields.ts'

/** What the address of the list of domains may say. */
export const DOMAINS = { q: text }
