import { Elysia } from 'elysia'
import { version } from '../package.json'
import type { Base } from './base.ts'
import { webBundle } from './build/web-bundle.ts'
import { countText } from './core/text.ts'
import { answerErrors } from './http/error-responses.ts'
import { type Deletion, performer } from './http/perform-call.ts'
import type { QueryLimiter } from './http/query-limiter.ts'
import { RateLimit, rateLimited } from './http/rate-limit.ts'
import type { Route } from './http/route.ts'
import { router } from './http/router.ts'
import { webPages } from './http/web-pages.ts'
import { openApiDocument } from './openapi/openapi.ts'
import { auditor } from './org/audit-log.ts'
import { authenticator } from './org/authenticate.ts'

type Handle = (request: Request) => Promise<Response>

interface Deps {
  routes: readonly Route[]
  queryLimiter: QueryLimiter
  /** Called with the group of routes, the status and the duration in ms of every request. */
  noteRequest?(group: string, status: number, ms: number): void
}

/** Returns the function that handles requests to the routes, the MCP server and the pages. */
export function openApi(
  { db, clock, config, log, publicUrl, report }: Base,
  { routes, queryLimiter, noteRequest = () => {} }: Deps,
): Handle {
  const rate = new RateLimit(clock, config.rateKeyPerMinute / 60, 60)
  const authenticate = rateLimited(authenticator({ db, clock }), rate)
  const perform = performer({
    db,
    audit: auditor(db, clock),
    deleted: (act) => log.info(deletionLine(act)),
    queryLimiter,
  })
  const mcp = openedAtFirst(async () => {
    const { mcpEndpoint } = await import('./mcp/mcp-endpoint.ts')
    return mcpEndpoint({ routes, authenticate, perform, version, publicUrl, report })
  })
  const pages = webPages({ bundle: webBundle, describe: () => openApiDocument(routes) })
  const app = answerErrors(new Elysia({ normalize: false }), report, pages.missing)
    .all('/mcp', ({ request }) => mcp(request), { parse: 'none' })
    .use(router(routes, { authenticate, perform, report, routed: (request, tag) => void groups.set(request, tag) }))
  const groups = new WeakMap<Request, string>()
  return async (request) => {
    const begun = performance.now()
    const page = pages.answer(request)
    const response = await (page ?? app.handle(request))
    const group = page ? 'pages' : (groups.get(request) ?? (isMcp(request) ? 'mcp' : 'other'))
    noteRequest(snakeCase(group), response.status, performance.now() - begun)
    return response
  }
}

/** Returns `DELETE /v1/domains/dom_1 by usr_1 of org_1: 12 rows`. */
function deletionLine({ route, call: { params, principal }, rows }: Deletion): string {
  const values = params as Record<string, string>
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  const count = rows === null ? '' : `: ${countText(rows)} ${rows === 1 ? 'row' : 'rows'}`
  return `DELETE ${path} by ${principal?.userId} of ${principal?.orgId}${count}`
}

const isMcp = ({ url }: Request) => new URL(url).pathname === '/mcp'

/** `Flow tests` → `flow_tests` */
const snakeCase = (tag: string) => tag.toLowerCase().replaceAll(/[^a-z]+/g, '_')

/**
 * Creates a request handler on its first request, so that an unused handler does not slow down startup or use memory.
 */
function openedAtFirst(open: () => Promise<Handle>): Handle {
  let opened: Promise<Handle> | undefined
  return async (request) => {
    opened ??= open()
    return (await opened)(request)
  }
}
