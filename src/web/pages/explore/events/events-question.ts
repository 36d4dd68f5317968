import { searchEventsInfiniteOptions } from '#client/@tanstack/react-query.gen'
import type { ValuesOf } from '../../../address/fields.ts'
import { PAGED } from '../../../api/pages.ts'
import type { EVENTS } from '../address.ts'

const AT_ONCE = 100

interface Asked extends ValuesOf<typeof EVENTS> {
  project: string
  from: number
  to: number
}

/** The query of the event search. */
export function eventsAskedFor({ domainId, vendor, event, q, param, sessionId, project, from, to }: Asked) {
  const query = {
    ...{ limit: AT_ONCE, from, to },
    ...(domainId && { domainId }),
    ...(vendor && { vendor }),
    ...(event && { event }),
    ...(q && { q }),
    ...(param && { param }),
    ...(sessionId && { sessionId }),
    ...(project && { projectId: project }),
  }
  return { ...searchEventsInfiniteOptions({ query }), ...PAGED }
}
