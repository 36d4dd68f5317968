import { optional } from '../../url-state/param-types.ts'

/** Search parameters of the members page; `dialog` opens the form for an invitation. */
export const MEMBERS = { dialog: optional(['invite']) }
