import type { Resource, ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'
import { AppError } from '../core/error.ts'
import type { Route } from '../http/route.ts'

/** Calls a route on behalf of the caller after checking the permission. */
export type Ask = (route: Route, parts: { params?: object; query?: object }) => Promise<unknown>

/** Objects that assistants can add to a conversation by their URI. */
export interface Resources {
  templates: readonly ResourceTemplate[]
  /** Returns the most recent resources of each kind. */
  list(ask: Ask): Promise<Resource[]>
  /** Returns the resource with this URI. Throws `notFound` for an unknown URI, and any error that the route throws. */
  read(uri: string, ask: Ask): Promise<unknown>
}

/** Maximum number of listed resources of each kind. */
const MAX_LISTED = 50
/** Maximum page size of a list. */
const MAX_PAGE = 200

const mimeType = 'application/json'

type Listed = { id: string; title?: string; name?: string }
interface Page {
  items: Listed[]
  nextCursor: string | null
}

interface Kind {
  plural: string
  title: string
  description: string
  read: Route
  latest(ask: Ask): Promise<Listed[]>
}

function routeOf(routes: readonly Route[], id: string): Route {
  const route = routes.find((one) => one.id === id)
  if (!route) throw new Error(`there is no route ${id} for resources`)
  return route
}

/** Returns a page of a list. The casts are safe because every response is checked against its schema. */
async function pageOf(ask: Ask, route: Route, noun: string, query: object): Promise<Page> {
  const answer = (await ask(route, { query })) as Record<string, unknown>
  return { items: answer[noun] as Listed[], nextCursor: answer.nextCursor as string | null }
}

function kindsOf(routes: readonly Route[]): Kind[] {
  const [listIssues, listAlerts] = [routeOf(routes, 'listIssues'), routeOf(routes, 'listAlerts')]
  return [
    {
      plural: 'issues',
      title: 'An issue',
      description: 'The problem, its time and frequency, and its history',
      read: routeOf(routes, 'getIssue'),
      async latest(ask) {
        return (await pageOf(ask, listIssues, 'issues', { sort: 'lastSeenAt', limit: MAX_LISTED })).items
      },
    },
    {
      plural: 'alerts',
      title: 'An alert',
      description: 'A rule: its scope, its conditions and its notifications',
      read: routeOf(routes, 'getAlert'),
      async latest(ask) {
        // The list is sorted oldest first, so all pages must be read.
        let latest: Listed[] = []
        let cursor: string | null = null
        do {
          const query: object = { limit: MAX_PAGE, ...(cursor === null ? {} : { cursor }) }
          const page: Page = await pageOf(ask, listAlerts, 'alerts', query)
          latest = [...latest, ...page.items].slice(-MAX_LISTED)
          cursor = page.nextCursor
        } while (cursor !== null)
        return latest.reverse()
      },
    },
  ]
}

/** Creates the resources from the routes. Throws a plain `Error` when a required route is missing. */
export function resourcesOf(routes: readonly Route[]): Resources {
  const kinds = kindsOf(routes)
  return {
    templates: kinds.map(({ plural, title, description }) => ({
      uriTemplate: `tagwarden://${plural}/{id}`,
      name: plural,
      title,
      description,
      mimeType,
    })),
    async list(ask) {
      const lists = await Promise.all(
        kinds.map(async ({ plural, latest }) =>
          (await latest(ask)).map(({ id, title, name }) => ({
            uri: `tagwarden://${plural}/${id}`,
            name: id,
            title: title ?? name ?? id,
            mimeType,
          })),
        ),
      )
      return lists.flat()
    },
    async read(uri, ask) {
      const [, plural, id] = uri.match(/^tagwarden:\/\/(\w+)\/(\w+)$/) ?? []
      const kind = kinds.find((one) => one.plural === plural)
      if (!kind) throw new AppError('notFound', 'no such resource')
      return await ask(kind.read, { params: { id } })
    },
  }
}
