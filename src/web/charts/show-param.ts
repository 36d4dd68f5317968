import { optional } from '../url-state/param-types.ts'

/** Search param of pages with charts: `show=table` shows tables. */
export const SHOW_PARAM = { show: optional(['table']) }
