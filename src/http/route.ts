import type { ErrorCode } from '../core/error.ts'
import { Closed, type Static, type TObject, type TSchema, Type } from '../core/schema.ts'
import type { Origin } from './origin.ts'
import type { Permission } from './permission.ts'
import type { Principal } from './principal.ts'

/** One call of a route: everything in it fits the route's schemas. */
export interface Call<P = unknown, Q = unknown, B = unknown, C = Principal | null> {
  /** The caller; null for public routes. */
  principal: C
  params: P
  query: Q
  /** Undefined for routes that take no body. */
  body: B
  /** Headers and unparsed body, for routes that are `raw`. */
  raw?: { headers: Headers; text: string }
  /** The header `Last-Event-ID`, for routes that stream; null or absent without one. */
  lastEventId?: string | null
  origin: Origin
  /** Aborts when the caller disconnects or the request times out. */
  signal: AbortSignal
}

/** A special credential required by a public route, as described in OpenAPI. */
export interface OwnCredential {
  /** Unique; a scheme of that name is in the document. */
  name: string
  scheme:
    | { type: 'apiKey'; in: 'query'; name: string; description: string }
    | { type: 'http'; scheme: 'bearer'; bearerFormat: string; description: string }
}

/** The fields of a route that do not depend on its schemas. */
interface Description {
  /**
   * Unique, a verb and a noun in camel case: `listAlerts`. `operationId` in OpenAPI; the tool's name is `list_alerts`.
   */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** In OpenAPI's notation: `/v1/alerts/{id}`. */
  path: string
  access: Permission
  /** True when it concerns the user alone, so that a user of several organizations needs no `X-Org-Id`. */
  anyOrg?: boolean
  /** The group of routes under which the documentation lists it. */
  tag: string
  summary: string
  description?: string
  /** For a public route that requires a credential of another kind than API keys and sessions. */
  credential?: OwnCredential
  /** Error codes beyond those that follow from its access, path, query and body. */
  refusals?: readonly ErrorCode[]
  /** True when assistants get it as a tool. Not for one that writes and is asynchronous: it has no dry run. */
  tool?: boolean
  /**
   * For a tool that writes: the answer of a dry run has in `field` what another route answers to `body`, and `say` says
   * it in a sentence. Null, with the reason in words, when that route refuses.
   */
  dryRunShows?: { field: string; routeId: string; body(body: unknown): unknown; say(answer: unknown): string }
  /**
   * True when it queries the event history: calls are queued (`Questions`), and `handle`, which returns a promise,
   * stops when `signal` aborts. `insights`: in the queue of those that look at much. Not for one that writes.
   */
  question?: boolean | 'insights'
  /** True when `handle` writes and returns a promise: it opens its own transactions. */
  asynchronous?: boolean
  /** True when the body may be left out, which means `{}`. */
  bodyOptional?: boolean
  /** A larger body is refused with `tooLarge`; by default `maxBodyBytesOf` takes it from the schema. */
  maxBodyBytes?: number
  /**
   * True when it needs the headers and the unparsed body, to check a signature. The content type is then not checked.
   */
  raw?: boolean
  /**
   * True when `handle` gets the body as bytes (`Uint8Array`), and checks it against the schema: for bodies that take too
   * long to parse in the event loop.
   */
  unparsed?: boolean
  /** Status of a success; default 200. */
  status?: 200 | 201 | 302 | 303
  /** Content type of an answer that is a text, bytes, or a stream; JSON of a value when left out. */
  produces?: string
}

/**
 * One operation of the API. The REST route, its entry in OpenAPI and the tool for assistants are made from this value.
 * A synchronous `handle` that writes runs inside one transaction.
 */
export interface Route extends Description {
  params: TObject | null
  query: TObject | null
  body: TSchema | null
  answer: TSchema
  handle(call: Call): unknown
  /**
   * Answers a browser that comes from another site, with whatever query that site adds: nothing else of the route is
   * used but its description.
   */
  redirect?(request: Request): Promise<Response>
  /** Awaited before `handle`, outside of its transaction: for work that is done in steps, so that others are answered. */
  before?(call: Call): Promise<void>
  /** Returns what the audit log records of a call in addition to caller, time and target; never a secret. */
  note?(call: Call): Record<string, unknown>
  /**
   * Returns the id of the changed object, for the audit log; when left out, the id in the path, else that of the
   * answer.
   */
  target?(answer: unknown): string
  /** Whether an answer is of something that was there already: its status is then 200. Default: never. */
  repeats?(answer: unknown): boolean
  /** Returns additional response headers. */
  headers?(answer: unknown): Record<string, string>
  /** Called after the commit, never in a dry run: for effects that can't be rolled back. Must not fail. */
  after?(call: Call, answer: unknown): void
}

type None = Record<never, never>
type Taken<T, E> = T extends TSchema ? Static<T> : E

interface Typed<P, Q, B, A extends TSchema, C> extends Description {
  params?: P
  query?: Q
  body?: B
  answer: A
  handle(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>): Static<A> | Promise<Static<A>>
  before?(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>): Promise<void>
  note?(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>): Record<string, unknown>
  target?(answer: Static<A>): string
  repeats?(answer: Static<A>): boolean
  headers?(answer: Static<A>): Record<string, string>
  after?(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>, answer: Static<A>): void
}

const erase = <P, Q, B, A extends TSchema, C>(typed: Typed<P, Q, B, A, C>): Route =>
  ({ params: null, query: null, body: null, ...typed }) as unknown as Route

/** Makes a route that needs a credential. */
export function route<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Typed<P, Q, B, A, Principal> & { access: Exclude<Permission, 'public'> }): Route {
  return erase(typed)
}

/** Makes a route that needs no credential. */
export function publicRoute<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Omit<Typed<P, Q, B, A, null>, 'access'>): Route {
  return erase({ ...typed, access: 'public' } as Typed<P, Q, B, A, null>)
}

/** Makes a public route that sends the browser on: `redirect` answers with `status` and the header `Location`. */
export function redirectRoute(
  described: Omit<Description, 'access' | 'status' | 'produces'> & {
    status: 302 | 303
    redirect(request: Request): Promise<Response>
  },
): Route {
  const handle = () => {
    throw new Error(`${described.id} answers without its handler`)
  }
  return erase({ ...described, access: 'public', answer: Type.Never(), handle })
}

/** The content type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream'

/**
 * Makes a route that answers server-sent events for as long as its caller listens: `handle` returns the stream, and
 * `answer` is the schema of the data of each event.
 */
export function streamRoute<A extends TSchema>(
  typed: Description & {
    access: Exclude<Permission, 'public'>
    answer: A
    handle(call: Call<None, None, undefined, Principal>): ReadableStream<Uint8Array>
  },
): Route {
  // Otherwise nginx would hold events back: https://nginx.org/en/docs/http/ngx_http_proxy_module.html#proxy_buffering
  const headers = () => ({ 'x-accel-buffering': 'no' })
  return erase({ ...typed, produces: EVENT_STREAM, headers } as unknown as Typed<None, None, undefined, A, Principal>)
}

/** Path parameters of most routes about one object. */
export const ById = Closed({ id: Type.String({ maxLength: 100 }) })

/** The answer of routes that return nothing but success. */
export const OkSchema = Closed({ ok: Type.Boolean() }, { $id: 'Ok' })
export const OK = { ok: true }
