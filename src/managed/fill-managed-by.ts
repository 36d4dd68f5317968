import type { TSchema } from '../core/schema.ts'
import type { Call, Route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { MANAGED_ID, type ManagedBy } from './managed-item.ts'
import { managedByOf } from './store.ts'

type Fields = Record<string, unknown>
type ManagedByOf = (id: string) => ManagedBy | null
type Fill = (answer: Fields, managedBy: ManagedByOf) => Fields

/**
 * Returns the route with the field `managedBy` filled in: in the response itself, and in the items of its lists. Routes
 * whose schema does not have the field are returned unchanged.
 */
export function fillManagedBy(db: Db, route: Route): Route {
  const fill = fillOf(route.answer)
  if (!fill) return route
  const filled = (answer: unknown, { principal }: Call) =>
    fill(answer as Fields, (id) => (principal ? managedByOf(db, principal.orgId, id) : null))
  return {
    ...route,
    handle(call) {
      const answer = route.handle(call)
      return answer instanceof Promise ? answer.then((value) => filled(value, call)) : filled(answer, call)
    },
  }
}

function fillOf({ properties = {} }: TSchema): Fill | null {
  const own: (TSchema & { [MANAGED_ID]?: string }) | undefined = properties.managedBy
  if (own) return (item, managedBy) => withMark(item, managedBy(own[MANAGED_ID] ?? String(item.id)))
  const lists = Object.keys(properties).filter((name) => properties[name].items?.properties?.managedBy)
  if (lists.length === 0) return null
  return (answer, managedBy) => {
    const filled = lists.map((name) => [
      name,
      (answer[name] as Fields[]).map((item) => withMark(item, managedBy(String(item.id)))),
    ])
    return { ...answer, ...Object.fromEntries(filled) }
  }
}

const withMark = (item: Fields, managedBy: ManagedBy | null): Fields => (managedBy ? { ...item, managedBy } : item)
