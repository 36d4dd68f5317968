import { Elysia } from 'elysia'
import { Yielder } from '../core/yield-to-event-loop.ts'
import { maxBodyBytesOf } from './body-limit.ts'
import { originOf } from './client-info.ts'
import { refusalOf } from './error-responses.ts'
import { API_HEADERS } from './headers.ts'
import { readBytes, readJson, readJsonText } from './json-body.ts'
import type { Perform } from './perform-call.ts'
import { PERMISSIONS } from './permission.ts'
import type { Principal } from './principal.ts'
import { readQuery } from './query-string.ts'
import { receiveText } from './read-body.ts'
import { requestSignal } from './request-abort-signal.ts'
import { requestIdOf } from './request-id.ts'
import { type Call, EVENT_STREAM, type Route } from './route.ts'
import { requireAccess } from './route-access.ts'
import { contentTypeOf, type ExportType, exportStream, exportTypeOf } from './row-export.ts'

/**
 * Returns the principal of a request. Throws `unauthorized`, or `invalid` when `X-Org-Id` is missing. With `anyOrg`, a
 * user of several organizations who specifies none gets the first one. `again` marks the second call for the same
 * request, which rate limits ignore. Throws `forbidden` when the organization requires a second factor that the user has
 * not set up, unless `beforeSecondFactor` is true.
 */
export type Authenticate = (
  headers: Headers,
  options?: { anyOrg?: boolean; again?: boolean; beforeSecondFactor?: boolean },
) => Principal

export interface RouterDeps {
  authenticate: Authenticate
  perform: Perform
  /** Called with the group of routes that handles a request. */
  routed?(request: Request, tag: string): void
  /** Reports an unexpected error that occurs after the response has begun. */
  report?(error: unknown, route: string, requestId: string): void
}

/** Returns an app that serves these routes. It throws the errors of the routes and of `authenticate`. */
export function router(routes: readonly Route[], parts: RouterDeps): Elysia {
  const app = new Elysia({ normalize: false })
  for (const route of routes) {
    const path = route.path.replaceAll(/\{(\w+)\}/g, ':$1')
    const handle = ({ request, params }: { request: Request; params: unknown }) => {
      parts.routed?.(request, route.tag)
      return route.redirect?.(request) ?? answer(route, request, params, parts)
    }
    app.route(route.method, path, handle, { parse: 'none' })
  }
  return app as unknown as Elysia
}

async function answer(route: Route, request: Request, params: unknown, parts: RouterDeps) {
  const { authenticate, perform } = parts
  const caller = (again: boolean) => {
    if (PERMISSIONS[route.access].from === null) return null
    const { anyOrg = false, beforeSecondFactor = anyOrg } = route
    const principal = authenticate(request.headers, { anyOrg, again, beforeSecondFactor })
    requireAccess(principal, route)
    return principal
  }
  // Checked before the body is read, because a caller without a credential or permission must not learn how bodies are
  // checked.
  const first = caller(false)
  const yielder = new Yielder()
  const query = readQuery(route.query, new URL(request.url).searchParams)
  const raw = route.raw ? { headers: request.headers, text: await receiveText(request, maxBodyBytesOf(route)) } : null
  const body = raw ? await readJsonText(raw.text) : await bodyOf(route, request)
  if (yielder.isDue) await yielder.yieldNow()
  // Receiving the body may have taken minutes. In that time, the credential may have expired or the role may have
  // changed.
  const principal = route.body === null ? first : caller(true)
  const call = {
    principal,
    params,
    query,
    body,
    ...(raw ? { raw } : {}),
    ...(route.produces === EVENT_STREAM ? { lastEventId: request.headers.get('last-event-id') } : {}),
    origin: originOf(request),
    signal: requestSignal(request),
  }
  const type = route.exports ? exportTypeOf(request.headers.get('accept')) : null
  if (type) return exportedRows(route, type, call, { ...parts, requestId: requestIdOf(request) }, () => caller(true))
  const result = await perform(route, call)
  // Yields before a large response is written, so that other requests are handled in between.
  if (yielder.isDue) await yielder.yieldNow()
  const { produces = 'application/json' } = route
  const status = route.repeats?.(result) ? 200 : (route.status ?? 200)
  const headers = {
    ...API_HEADERS,
    ...(route.exports ? VARY : {}),
    'content-type': produces,
    ...route.headers?.(result),
  }
  return new Response(sentOf(route, result), { status, headers })
}

const VARY = { vary: 'Accept' }

/**
 * Returns the response of a route as a file of rows, read page by page while the caller receives it. Before each page,
 * the caller's credential and role are checked again.
 */
async function exportedRows(
  route: Route,
  type: ExportType,
  call: Call,
  { perform, report, requestId }: RouterDeps & { requestId: string },
  callerAgain: () => Principal | null,
): Promise<Response> {
  const { exports, query } = route
  if (!exports) throw new Error(`${route.id} has no rows`)
  const isPaged = query?.properties.cursor !== undefined
  const limit = query?.properties.limit?.maximum
  const readPage = async (cursor: string | null) => {
    call.signal.throwIfAborted()
    const page = isPaged ? { limit, ...(cursor === null ? {} : { cursor }) } : {}
    const principal = cursor === null ? call.principal : callerAgain()
    return perform(route, { ...call, principal, query: { ...(call.query as object), ...page } })
  }
  const body = await exportStream(exports, type, readPage, (error) => {
    const refusal = refusalOf(error)
    if (!refusal && !call.signal.aborted) report?.(error, `${route.method} ${route.path}`, requestId)
    return refusal?.message ?? 'internal error; see the server log'
  })
  return new Response(body, { headers: { ...API_HEADERS, ...VARY, 'content-type': contentTypeOf(type) } })
}

function sentOf({ produces }: Route, result: unknown): BodyInit {
  if (result instanceof ReadableStream || result instanceof Blob) return result
  return produces ? String(result) : JSON.stringify(result)
}

async function bodyOf(route: Route, request: Request): Promise<unknown> {
  if (route.body === null) return undefined
  if (route.unparsed) return readBytes(request, maxBodyBytesOf(route))
  const body = await readJson(request, maxBodyBytesOf(route))
  if (body !== undefined) return body
  return route.bodyOptional ? {} : null
}
