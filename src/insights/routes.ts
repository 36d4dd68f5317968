import type { Clock } from '../core/clock.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import type { Warehouse } from '../warehouse/query.ts'
import { insights } from './index.ts'

/** One `GET` for each insight. */
export function insightRoutes(parts: {
  warehouse: Pick<Warehouse, 'query'>
  clock: Clock
  authenticate: Authenticate
}) {
  const { warehouse, clock, authenticate } = parts
  const routes = controller(authenticate)
  for (const { path, summary, input, output, answer } of insights) {
    routes.get(
      path,
      ({ principal, query }) => answer((ask) => warehouse.query(ask), query, { principal, now: clock.now() }),
      { access: 'read', query: input, response: { 200: output }, detail: { summary, tags: ['Insights'] } },
    )
  }
  return routes
}
