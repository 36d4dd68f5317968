import type { ErrorCode } from '../core/error.ts'
import { Closed, type Static, type TObject, type TSchema, Type } from '../core/schema.ts'
import type { Origin } from './origin.ts'
import type { Permission } from './permission.ts'
import type { Principal } from './principal.ts'

/** One call of a route: everything in it fits the route's schemas. */
export interface Call<P = unknown, Q = unknown, B = unknown, C = Principal | null> {
  /** Who calls; null for routes that are public. */
  principal: C
  params: P
  query: Q
  /** Undefined for routes that take no body. */
  body: B
  /** The request as it came, for routes that are `raw`. */
  raw?: { headers: Headers; text: string }
  origin: Origin
  /** Ends when nobody waits for the answer any more. */
  signal: AbortSignal
}

/** What a route says of itself, whatever it takes and answers. */
interface Description {
  /** Unique, a verb and a noun in camel case: `listAlerts`. `operationId` in OpenAPI; as `list_alerts` the tool's name. */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As OpenAPI spells it: `/v1/alerts/{id}`. */
  path: string
  access: Permission
  /** True when it is about the user alone: of several organizations none needs to be named. */
  anyOrg?: boolean
  /** Heads its entry in the documentation. */
  tag: string
  summary: string
  description?: string
  /** What it refuses beside what follows from its access, path, query and body. */
  refusals?: readonly ErrorCode[]
  /** True when assistants get it as a tool. Not for one that writes and is asynchronous: it can't be tried without effect. */
  tool?: boolean
  /**
   * True when it asks the event history: callers take turns (`Questions`), and `handle`, which answers a promise, stops when
   * `signal` ends. Not for one that writes.
   */
  question?: boolean
  /** True when `handle` writes and waits for something: it looks after its own transactions. */
  asynchronous?: boolean
  /** A longer body is refused; default `MAX_BODY_BYTES`. */
  maxBodyBytes?: number
  /** True when it needs the bytes of the body and the headers, to check a signature. The body's content type is not looked at. */
  raw?: boolean
  /** Of a success; default 200. */
  status?: 200 | 201
  /** Content type of the answer, when it is a text instead of JSON. */
  produces?: string
}

/**
 * One thing that callers can do. The REST route, its entry in OpenAPI and the tool for assistants are drawn from this
 * value. A `handle` that is synchronous runs inside one transaction when it writes.
 */
export interface Route extends Description {
  params: TObject | null
  query: TObject | null
  body: TSchema | null
  answer: TSchema
  handle(call: Call): unknown
  /** What the audit log keeps of a call beside who, when and its target; never a secret. */
  note?(call: Call): Record<string, unknown>
  /** Id of what it was done to, for the audit log; absent: the id in the path, else that of the answer. */
  target?(answer: unknown): string
  /** Headers of the answer beside the usual ones. */
  headers?(answer: unknown): Record<string, string>
  /** Called when what was done is stored for good, and never in a dry run: for what can't be taken back. Must not fail. */
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
  note?(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>): Record<string, unknown>
  target?(answer: Static<A>): string
  headers?(answer: Static<A>): Record<string, string>
  after?(call: Call<Taken<P, None>, Taken<Q, None>, Taken<B, undefined>, C>, answer: Static<A>): void
}

const erase = <P, Q, B, A extends TSchema, C>(typed: Typed<P, Q, B, A, C>): Route =>
  ({ params: null, query: null, body: null, ...typed }) as unknown as Route

/** A route whose caller is known. */
export function route<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Typed<P, Q, B, A, Principal> & { access: Exclude<Permission, 'public'> }): Route {
  return erase(typed)
}

/** A route for anybody. */
export function publicRoute<
  A extends TSchema,
  P extends TObject | undefined = undefined,
  Q extends TObject | undefined = undefined,
  B extends TSchema | undefined = undefined,
>(typed: Omit<Typed<P, Q, B, A, null>, 'access'>): Route {
  return erase({ ...typed, access: 'public' } as Typed<P, Q, B, A, null>)
}

/** Path parameters of most routes about one thing. */
export const ById = Closed({ id: Type.String({ maxLength: 100 }) })

/** The answer of what has nothing to say but that it was done. */
export const OkSchema = Closed({ ok: Type.Boolean() }, { $id: 'Ok' })
export const OK = { ok: true }
