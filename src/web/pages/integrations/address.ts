import { text } from '../../address/fields.ts'

/** What the address of a new integration may say. */
export const CONNECT = { provider: text }
