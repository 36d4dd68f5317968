import { DASHBOARD } from '../../src/http/pages.ts'

/** Which list of the API has an id for the address, and under which noun. */
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
/** What is made at an address instead of an id. */
const NEW = ['/alerts', '/domains', '/tests', '/audits', '/integrations']
/** For who is not signed in. */
const ENTRANCES = ['/setup', '/login', '/reset', '/invite']

type Get = (path: string) => ReturnType<Response['json']>

/**
 * All addresses of the dashboard for who is signed in, with ids of what is there; where nothing is, with an id of nothing.
 * `has` says which of them: of everything that is there, or also of what is not.
 */
export async function dashboardPaths(
  get: Get,
  has: 'what is there' | 'everything' = 'what is there',
): Promise<string[]> {
  const found: string[] = []
  for (const address of DASHBOARD.filter((one) => !ENTRANCES.includes(one))) {
    const [, before = '', words = ''] = /^(.*?)\/?\{([^}]*)\}(?:\/\{[^}]*\})?$/.exec(address) ?? []
    if (!words) found.push(address)
    else if (words !== 'id') found.push(...words.split('|').map((word) => `${before}/${word}`))
    else {
      const id = await idFor(before, get)
      if (id !== null || has === 'everything') found.push(...parted(address, id ?? 'nothing'))
    }
    if (NEW.includes(address)) found.push(`${address}/new`)
  }
  return found
}

/** `/domains/{id}/{setup|live}` → one address for each word. */
function parted(address: string, id: string): string[] {
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
