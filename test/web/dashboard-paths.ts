import { PAGE_PATHS, type PagePath } from '../../src/contract/page-paths.ts'

/** Maps a path with an id to the API path of the list that provides the id, and to the field that contains the list. */
const LISTS: Record<string, [path: string, noun: string]> = {
  '/issues': ['/v1/issues', 'issues'],
  '/alerts': ['/v1/alerts', 'alerts'],
  '/domains': ['/v1/domains', 'domains'],
  '/changes': ['/v1/changes', 'changes'],
  '/gate': ['/v1/gate-runs', 'runs'],
  '/tests': ['/v1/flows/tests', 'tests'],
  '/tests/runs': ['/v1/flows/runs', 'runs'],
  '/audits': ['/v1/audits', 'audits'],
  '/integrations': ['/v1/integrations', 'integrations'],
  '/deliveries': ['/v1/notifications/deliveries', 'deliveries'],
}
/** Pages for users who are not signed in. */
const ENTRANCES: readonly string[] = [...Object.values(PAGE_PATHS['sign-in']), PAGE_PATHS.overview.login]

/** The paths of all pages for signed-in users, in which `$id` stands for an id. */
export const MEMBERS_PATHS: readonly PagePath[] = Object.values(PAGE_PATHS)
  .flatMap((paths): PagePath[] => Object.values(paths))
  .filter((path) => !ENTRANCES.includes(path))

type Get = (path: string) => ReturnType<Response['json']>

/**
 * Returns all dashboard paths for signed-in users, with ids of existing items. If no item exists, the path is omitted,
 * or has the id `nothing` if `include` is `all`.
 */
export async function dashboardPaths(get: Get, include: 'existing' | 'all' = 'existing'): Promise<string[]> {
  const found: string[] = []
  for (const path of MEMBERS_PATHS) {
    const [before = '', after] = path.split('/$id')
    const id = after === undefined ? '' : await idFor(before, get)
    if (id !== null || include === 'all') found.push(path.replace('$id', id ?? 'nothing'))
  }
  return found
}

async function idFor(list: string, get: Get): Promise<string | null> {
  if (list === '/explore/sessions') {
    const { events } = (await get('/v1/events?limit=200')) ?? { events: [] }
    return events.find(({ sessionId }: { sessionId: string | null }) => sessionId !== null)?.sessionId ?? null
  }
  const [path, noun] = LISTS[list] ?? []
  if (!path || !noun) throw new Error(`LISTS has no list with the ids of ${list}/$id`)
  return (await get(`${path}?limit=1`))?.[noun]?.[0]?.id ?? null
}
