import { optional } from '../url-state/param-types.ts'

/** What the address of every page with a chart may say: `show=table` draws its charts as tables. */
export const SHOW_PARAM = { show: optional(['table']) }
