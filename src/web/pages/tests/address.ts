import { text } from '../../address/fields.ts'

/** What the address of a new test may say: the visitor's session that it begins with. */
export const NEW_TEST = { sessionId: text }
