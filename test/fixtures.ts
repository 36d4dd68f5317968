import { Elysia } from 'elysia'
import fc from 'fast-check'
import type { Role } from '../src/contract/roles.ts'
import { type Clock, DAY_MS, type Instant } from '../src/core/clock.ts'
import { type SecretBox, secretBox, secretHash } from '../src/core/secret-box.ts'
import { noteAddress } from '../src/http/client-info.ts'
import { answerErrors } from '../src/http/error-responses.ts'
import { type Audit, performer } from '../src/http/perform-call.ts'
import type { Route } from '../src/http/route.ts'
import { type Authenticate, router } from '../src/http/router.ts'
import { createKey, revokeKey } from '../src/org/api-key-store.ts'
import { authenticator } from '../src/org/authenticate.ts'
import { addMember, createOrg, createUser } from '../src/org/store.ts'
import { type Db, openDatabase } from '../src/store/database.ts'

/** Monday noon, UTC. */
export const TEST_START: Instant = Date.UTC(2026, 0, 5, 12)

export interface TestClock extends Clock {
  set(at: Instant): void
  advance(byMs: number): void
}

/** Returns a clock that moves only by `set` and `advance`. */
export function testClock(start: Instant = TEST_START): TestClock {
  let at = start
  return {
    now: () => at,
    set(instant) {
      at = instant
    },
    advance(byMs) {
      at += byMs
    },
  }
}

let emptyBytes: Buffer | null = null

/**
 * Returns an empty database file with the current schema. The file is cached, because migrations take longer than most
 * tests.
 */
export function emptyDatabase(): Buffer {
  if (emptyBytes) return emptyBytes
  const db = openDatabase(':memory:')
  emptyBytes = db.serialize()
  db.close()
  return emptyBytes
}

/** Creates an in-memory database with the current schema. */
export const memoryDb = (): Db => openDatabase(emptyDatabase())

/** A secret box with a fixed key. */
export const testBox: SecretBox = secretBox(Buffer.alloc(32, 7))

/** A user with an unrestricted API key that never expires. */
export interface Person {
  userId: string
  email: string
  orgId: string
  role: Role
  keyId: string
  /** The API key. */
  key: string
}

export interface Cast {
  orgId: string
  /** The organization's owner. */
  alice: Person
  /** An admin. */
  ada: Person
  /** A member. */
  bob: Person
  /** A viewer. */
  vera: Person
  /** The owner of another organization, who must not see Alice's organization. */
  mallory: Person
  /** Additional API keys that belong to Alice. */
  keys: { readOnly: string; expired: string; revoked: string }
}

/** Returns the id of the session with this token. */
export const sessionIdOf = (token: string): string => secretHash(token).toString('hex')

/** Returns the ids that identify the owner of a person's API keys. */
export const ownerOf = ({ orgId, userId }: Person): { orgId: string; userId: string } => ({ orgId, userId })

/** Creates two organizations. The first one has a user with each role. */
export function cast(db: Db, clock: Clock): Cast {
  const { id: orgId } = createOrg(db, testBox, clock, { name: 'Acme' })
  const elsewhere = createOrg(db, testBox, clock, { name: 'Mallory and Sons' })
  const person = (name: string, role: Role, at = orgId): Person => {
    const email = `${name.toLowerCase()}@example.com`
    const { id: userId } = createUser(db, clock, { email, name })
    addMember(db, clock, { orgId: at, userId, role })
    const key = createKey(db, clock, { userId, orgId: at, name: `${name}'s key`, expiresInDays: null })
    return { userId, email, orgId: at, role, keyId: key.id, key: key.secret }
  }
  const alice = person('Alice', 'owner')
  const { userId } = alice
  const longAgo: Clock = { now: () => clock.now() - 7 * DAY_MS }
  const readOnly = createKey(db, clock, { userId, orgId, name: 'read-only', expiresInDays: null, readOnly: true })
  const expired = createKey(db, longAgo, { userId, orgId, name: 'expired', expiresInDays: 7 })
  const revoked = createKey(db, clock, { userId, orgId, name: 'revoked', expiresInDays: null })
  revokeKey(db, clock, { orgId }, revoked.id)
  return {
    orgId,
    alice,
    ada: person('Ada', 'admin'),
    bob: person('Bob', 'member'),
    vera: person('Vera', 'viewer'),
    mallory: person('Mallory', 'owner', elsewhere.id),
    keys: { readOnly: readOnly.secret, expired: expired.secret, revoked: revoked.secret },
  }
}

/** Callers used in tests of permissions. */
export const CALLERS = [
  'nobody',
  'stranger',
  'revoked',
  'expired',
  'viewer',
  'readOnly',
  'member',
  'admin',
  'owner',
  'otherOrg',
] as const
export type Caller = (typeof CALLERS)[number]

/** Returns the API key of each caller; null for a caller without a key. */
export function credentialsOf({ alice, ada, bob, vera, mallory, keys }: Cast): Record<Caller, string | null> {
  return {
    nobody: null,
    stranger: 'ak_nobody-made-this-key',
    revoked: keys.revoked,
    expired: keys.expired,
    viewer: vera.key,
    readOnly: keys.readOnly,
    member: bob.key,
    admin: ada.key,
    owner: alice.key,
    otherOrg: mallory.key,
  }
}

export interface Answer {
  status: number
  headers: Headers
  /** The parsed JSON body. */
  // biome-ignore lint/suspicious/noExplicitAny: a test names the fields it expects
  body: any
}

export interface Call {
  /** API key of the caller. */
  as?: string | null
  /** Sent as JSON; a string is sent unchanged. */
  body?: unknown
  headers?: Record<string, string>
  /** IP address of the caller. */
  address?: string
}

export type Client = (method: string, path: string, call?: Call) => Promise<Answer>

/**
 * Returns a client that calls routes without a network. Callers authenticate by API key, unless `authenticate` is
 * given. The test fails for a bug in a route (status 500 in production), an error body other than `{"error": string}`,
 * or a body that is not JSON.
 */
export function client(
  { db, clock, authenticate = authenticator({ db, clock }), audit = () => {} }: ClientParts,
  ...routes: readonly Route[]
): Client {
  const bugs: unknown[] = []
  const app = answerErrors(new Elysia({ normalize: false }), (error) => bugs.push(error))
  app.use(router(routes, { authenticate, perform: performer({ db, audit }) }))
  return async (method, path, { as = null, body, headers = {}, address } = {}) => {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(as === null ? {} : { authorization: `Bearer ${as}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
    })
    if (address !== undefined) noteAddress(request, address)
    const response = await app.handle(request)
    const answer: Answer = { status: response.status, headers: response.headers, body: await response.json() }
    const bug = bugs.pop()
    if (bug !== undefined) throw new Error(`${method} ${path} caused an internal error`, { cause: bug })
    if (answer.status >= 400) checkErrorBody(`${method} ${path}`, answer)
    return answer
  }
}

interface ClientParts {
  db: Db
  clock: Clock
  authenticate?: Authenticate
  audit?: Audit
}

/** Any JSON value, for routes that must not fail on unexpected input. */
export const anyJson = fc.jsonValue()

function checkErrorBody(route: string, { status, body }: Answer): void {
  const fits = Object.keys(body).join() === 'error' && typeof body.error === 'string' && body.error !== ''
  if (!fits) throw new Error(`${route} returned ${status} with ${JSON.stringify(body)} instead of {"error"}`)
}
