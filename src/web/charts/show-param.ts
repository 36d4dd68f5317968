import { optional } from '../url-state/param-types.ts'

/** Search param for pages with charts: `show=table` shows the data as tables. */
export const SHOW_PARAM = { show: optional(['table']) }
