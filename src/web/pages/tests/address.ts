import { text } from '../../address/fields.ts'

/** Search parameters of a new test; `sessionId` is the visitor's session to draft it from. */
export const NEW_TEST = { sessionId: text }
