import type { Clock } from '../core/clock.ts'
import { type Route, route } from '../http/route.ts'
import type { Warehouse } from '../warehouse/query.ts'
import { insights } from './index.ts'

/** One `GET` for each insight. */
export function insightRoutes(parts: { warehouse: Pick<Warehouse, 'query'>; clock: Clock }): Route[] {
  const { warehouse, clock } = parts
  return insights.map(({ id, path, summary, input, output, answer }) =>
    route({
      id,
      method: 'GET',
      path: `/v1${path}`,
      access: 'read',
      tag: 'Insights',
      summary,
      tool: true,
      query: input,
      answer: output,
      handle: ({ principal, query }) => answer((ask) => warehouse.query(ask), query, { principal, now: clock.now() }),
    }),
  )
}
