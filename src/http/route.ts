import type { ErrorCode } from '../core/error.ts'
import { Closed, type Static, type TObject, type TSchema, Type } from '../core/schema.ts'
import type { Origin } from './client-info.ts'
import type { Permission } from './permission.ts'
import type { Principal } from './principal.ts'
import { itemsOf, type RowExport } from './row-export.ts'

/** A call of a route, already validated against the route's schemas. */
export interface Call<P = unknown, Q = unknown, B = unknown, C = Principal | null> {
  /** The caller; null for public routes. */
  principal: C
  params: P
  query: Q
  /** Undefined for routes without a body. */
  body: B
  /** Headers and unparsed body, for routes with `raw`. */
  raw?: { headers: Headers; text: string }
  /** The `Last-Event-ID` header, for streaming routes. Null or undefined without one. */
  lastEventId?: string | null
  origin: Origin
  /** Aborts when the caller disconnects or the request times out. */
  signal: AbortSignal
}

/** A special credential that a public route requires, as described in OpenAPI. */
export interface OwnCredential {
  /** Unique name of the security scheme in the OpenAPI document. */
  name: string
  scheme:
    | { type: 'apiKey'; in: 'query'; name: string; description: string }
    | { type: 'http'; scheme: 'bearer'; bearerFormat: string; description: string }
}

/** The fields of a route that do not depend on the types of its schemas. */
interface Description {
  /**
   * Unique id that consists of a verb and a noun in camel case, such as `listAlerts`. It is the `operationId` in
   * OpenAPI. The tool for assistants is named `list_alerts`.
   */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path in OpenAPI notation: `/v1/alerts/{id}`. */
  path: string
  access: Permission
  /** True when the route concerns only the user, so that users of several organizations do not need `X-Org-Id`. */
  anyOrg?: boolean
  /**
   * True when a member may call the route before setting up the second factor that the organization requires. Default:
   * `anyOrg`, because such routes reveal and change nothing of the organization.
   */
  beforeSecondFactor?: boolean
  /** The group of routes in the documentation. */
  tag: string
  summary: string
  description?: string
  /** For a public route that requires a credential other than an API key or a session. */
  credential?: OwnCredential
  /** Error codes in addition to those implied by access, path, query and body. */
  refusals?: readonly ErrorCode[]
  /**
   * True when the route is available to assistants as a tool. Must not be set for asynchronous routes that write,
   * because they have no dry run.
   */
  tool?: boolean
  /**
   * For a tool that writes: the result of a dry run also contains the response of the route `routeId` to `body`, in the
   * field `field`. `say` summarizes that response in a sentence. When that route rejects the call, the field is null,
   * and the reason is included in words.
   */
  dryRunShows?: { field: string; routeId: string; body(body: unknown): unknown; say(answer: unknown): string }
  /**
   * True when the route queries the event history. Its calls are queued (`QueryLimiter`). `handle` must return a
   * promise and stop when `signal` aborts. `insights` selects the queue for expensive queries. Must not be set for
   * routes that write.
   */
  question?: boolean | 'insights'
  /** True when `handle` writes and returns a promise. `handle` then starts its own transactions. */
  asynchronous?: boolean
  /**
   * True when programs call the route regularly to send data. The audit log then has one entry per hour and caller.
   */
  isFeed?: boolean
  /** True when the body may be omitted. A missing body is treated as `{}`. */
  bodyOptional?: boolean
  /**
   * Maximum body size in bytes. Larger bodies are rejected with `tooLarge`. By default, `maxBodyBytesOf` derives the
   * limit from the schema.
   */
  maxBodyBytes?: number
  /**
   * True when the route needs the headers and the unparsed body to verify a signature. The content type is then not
   * checked.
   */
  raw?: boolean
  /**
   * True when `handle` receives the body as bytes (`Uint8Array`) and checks it against the schema itself. For bodies
   * that take too long to parse on the event loop.
   */
  unparsed?: boolean
  /** Status of a successful response; default 200. */
  status?: 200 | 201 | 302 | 303
  /** Content type of a response that is a string, bytes or a stream. When omitted, the response is sent as JSON. */
  produces?: string
}

/**
 * An operation of the API. The REST route, its OpenAPI entry and the tool for assistants are all generated from it. A
 * synchronous `handle` that writes runs in one transaction.
 */
export interface Route extends Description {
  params: TObject | null
  query: TObject | null
  body: TSchema | null
  answer: TSchema
  /**
   * The GET of the same path, for routes that write. Its response can be sent back: read-only fields are ignored when
   * unchanged, and rejected otherwise. Set by `acceptReadOnlyFields`.
   */
  current?: Route
  /** Set when the response can be requested as CSV and NDJSON, without paging. */
  exports?: RowExport
  handle(call: Call): unknown
  /**
   * Handles a request from a browser that another site has redirected, with any query that the site adds. Of the
   * route's other fields, only the description is used.
   */
  redirect?(request: Request): Promise<Response>
  /**
   * Awaited before `handle`, outside its transaction. For work done in steps, so that other requests are handled in
   * between.
   */
  before?(call: Call): Promise<void>
  /**
   * Returns details for the audit log in addition to the caller, time and target. Must not contain secrets. When
   * omitted, `noteOfCall` chooses fields of the call.
   */
  note?(call: Call): Record<string, unknown>
  /**
   * Returns the id of the changed object for the audit log. When omitted, the id in the path is used or, without one,
   * the id in the response.
   */
  target?(answer: unknown): string
  /**
   * True when the response describes an object that already existed, which changes the status to 200. Default: never.
   */
  repeats?(answer: unknown): boolean
  /** Returns additional response headers. */
  headers?(answer: unknown): Record<string, string>
  /** Called after the commit, never in a dry run, for effects that can't be rolled back. Must not throw. */
  after?(call: Call, answer: unknown): void
}

type None = Record<never, never>
type InputOf<T, E> = T extends TSchema ? Static<T> : E

/** The rows of an export: a list in the response, or a description of the rows. */
export type ExportOf<A extends TSchema> = (keyof Static<A> & string) | RowExport<Static<A>>

interface Typed<P, Q, B, A extends TSchema, C> extends Description {
  params?: P
  query?: Q
  body?: B
  answer: A
  /** Name of the list in the response whose items are the rows of an export, or a description of these rows. */
  exports?: ExportOf<A>
  handle(call: Call<InputOf<P, None>, InputOf<Q, None>, InputOf<B, undefined>, C>): Static<A> | Promise<Static<A>>
  before?(call: Call<InputOf<P, None>, InputOf<Q, None>, InputOf<B, undefined>, C>): Promise<void>
  note?(call: Call<InputOf<P, None>, InputOf<Q, None>, InputOf<B, undefined>, C>): Record<string, unknown>
  target?(answer: Static<A>): string
  repeats?(answer: Static<A>): boolean
  headers?(answer: Static<A>): Record<string, string>
  after?(call: Call<InputOf<P, None>, InputOf<Q, None>, InputOf<B, undefined>, C>, answer: Static<A>): void
}

const erase = <P, Q, B, A extends TSchema, C>({ exports, ...typed }: Typed<P, Q, B, A, C>): Route => {
  const rows = typeof exports === 'string' ? itemsOf(typed.answer, exports) : exports
  return { params: null, query: null, body: null, ...(rows ? { exports: rows } : {}), ...typed } as unknown as Route
}

/** Creates a route that requires a credential. */
export function route<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Typed<P, Q, B, A, Principal> & { access: Exclude<Permission, 'public'> }): Route {
  return erase(typed)
}

/** Creates a route that requires no credential. */
export function publicRoute<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Omit<Typed<P, Q, B, A, null>, 'access'>): Route {
  return erase({ ...typed, access: 'public' } as Typed<P, Q, B, A, null>)
}

/**
 * Creates a public route that redirects the browser. `redirect` returns a response with `status` and a `Location`
 * header.
 */
export function redirectRoute(
  described: Omit<Description, 'access' | 'status' | 'produces'> & {
    status: 302 | 303
    redirect(request: Request): Promise<Response>
  },
): Route {
  const handle = () => {
    throw new Error(`${described.id} is handled by redirect, not by handle`)
  }
  return erase({ ...described, access: 'public', answer: Type.Never(), handle })
}

/** The content type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream'

/**
 * Creates a route that sends server-sent events until the caller disconnects. `handle` returns the stream, and `answer`
 * is the schema of each event's data.
 */
export function streamRoute<A extends TSchema>(
  typed: Description & {
    access: Exclude<Permission, 'public'>
    answer: A
    handle(call: Call<None, None, undefined, Principal>): ReadableStream<Uint8Array>
  },
): Route {
  // Prevents nginx from buffering events: https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
  const headers = () => ({ 'x-accel-buffering': 'no' })
  return erase({ ...typed, produces: EVENT_STREAM, headers } as unknown as Typed<None, None, undefined, A, Principal>)
}

/** Path parameters of most routes for a single object. */
export const ById = Closed({ id: Type.String({ maxLength: 100 }) })

/** The response of routes that only report success. */
export const OkSchema = Closed({ ok: Type.Boolean() }, { $id: 'Ok' })
export const OK = { ok: true }
