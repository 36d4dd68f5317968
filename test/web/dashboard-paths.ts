import { DASHBOARD } from '../../src/contract/dashboard-url-paths.ts'

/** Maps a path with an id to the API path of the list that provides the id, and to the field that contains the list. */
const LISTS: Record<string, [path: string, noun: string]> = {
  '/issues': ['/v1/issues', 'issues'],
  '/alerts': ['/v1/alerts', 'alerts'],
  '/domains': ['/v1/domains', 'domains'],
  '/changes': ['/v1/changes', 'changes'],
  '/tests': ['/v1/flows/tests', 'tests'],
  '/tests/runs': ['/v1/flows/runs', 'runs'],
  '/audits': ['/v1/audits', 'audits'],
  '/integrations': ['/v1/integrations', 'integrations'],
}
/** Paths under which `/new` shows a form for a new item. */
const NEW = ['/alerts', '/domains', '/tests', '/audits', '/integrations']
/** Pages for users who are not signed in. */
const ENTRANCES = ['/setup', '/login', '/reset', '/invite']

type Get = (path: string) => ReturnType<Response['json']>

/**
 * Returns all dashboard paths for signed-in users, with ids of existing items. If no item exists, the path is omitted,
 * or has the id `nothing` if `include` is `all`.
 */
export async function dashboardPaths(get: Get, include: 'existing' | 'all' = 'existing'): Promise<string[]> {
  const found: string[] = []
  for (const address of DASHBOARD.filter((one) => !ENTRANCES.includes(one))) {
    const [, before = '', words = ''] = /^(.*?)\/?\{([^}]*)\}(?:\/\{[^}]*\})?$/.exec(address) ?? []
    if (!words) found.push(address)
    else if (words !== 'id') found.push(...words.split('|').map((word) => `${before}/${word}`))
    else {
      const id = await idFor(before, get)
      if (id !== null || include === 'all') found.push(...expand(address, id ?? 'nothing'))
    }
    if (NEW.includes(address)) found.push(`${address}/new`)
  }
  return found
}

/**
 * Returns one path for each alternative: `/domains/{id}/{setup|live}` → `/domains/{id}/setup`, `/domains/{id}/live`.
 */
function expand(address: string, id: string): string[] {
  const filled = address.replace('{id}', id)
  const [, before = '', words] = /^(.*)\/\{([^}]*)\}$/.exec(filled) ?? []
  return words ? words.split('|').map((word) => `${before}/${word}`) : [filled]
}

async function idFor(list: string, get: Get): Promise<string | null> {
  if (list === '/explore/sessions') {
    const { events } = (await get('/v1/events?limit=200')) ?? { events: [] }
    return events.find(({ sessionId }: { sessionId: string | null }) => sessionId !== null)?.sessionId ?? null
  }
  const [path = '', noun = ''] = LISTS[list] ?? []
  return (await get(`${path}?limit=1`))?.[noun]?.[0]?.id ?? null
}
