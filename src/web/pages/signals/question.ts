import { listSignalsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../address/fields.ts'
import type { Shared } from '../../address/search.ts'
import { PAGED } from '../../api/pages.ts'
import type { SIGNALS } from './address.ts'

const AT_ONCE = 100

/** The query of the list of signals, with hourly counts of the last 7 days for sparklines. */
export function signalsAskedFor(values: ValuesOf<typeof SIGNALS & Shared>) {
  const { state, mode, domainId, vendor, project } = values
  const query = {
    ...{ limit: AT_ONCE, series: true },
    ...(state && { state }),
    ...(mode && { mode }),
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(project && { projectId: project }),
  }
  return { ...listSignalsInfiniteOptions({ query }), ...PAGED }
}
