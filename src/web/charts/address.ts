import { optional } from '../address/fields.ts'

/** What the address of every page with a chart may say: `show=table` draws its charts as tables. */
export const SHOW = { show: optional(['table']) }
