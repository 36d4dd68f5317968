import { text } from '../../address/fields.ts'

/** Search parameters of a new integration. */
export const CONNECT = { provider: text }
