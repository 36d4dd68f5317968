import type { AppOptions } from '../../src/app.ts'
import { ROLES, type Role } from '../../src/contract/roles.ts'
import { DAY_MS } from '../../src/core/clock.ts'
import { createKey, revokeKey } from '../../src/org/api-key-store.ts'
import { endSession, openSession } from '../../src/org/session.ts'
import { addMember, createOrg, createUser } from '../../src/org/store.ts'
import { tx } from '../../src/store/database.ts'
import { sessionIdOf } from '../fixtures.ts'
import { type TestApp, testApp } from '../test-app.ts'
import { describedRoutes, type Route } from './openapi-routes.ts'

/** Password of every user. The examples of the OpenAPI document use the same password. */
export const PASSWORD = 'correct horse battery staple'

/** A member of an organization, with the member's credentials. */
export interface Person {
  userId: string
  email: string
  key: string
  keyId: string
  session: string
}

/** An organization with one member for each role. */
export interface TestTenant {
  orgId: string
  name: string
  people: Record<Role, Person>
  /** Additional credentials of the owner: a read-only key, an expired key, a revoked key and an expired session. */
  readOnlyKey: string
  expiredKey: string
  revokedKey: string
  endedSession: string
}

/** The program, the routes in its OpenAPI document, and a function that creates organizations. */
export interface DescribedApi {
  world: TestApp
  routes: readonly Route[]
  passwordHash: string
  tenant(): TestTenant
}

/** A message receiver that accepts every message, except on `gone.example.com`, which returns 410. */
const receiver = {
  send: async (outbound: { kind: string; url?: string }) => {
    const status = outbound.url?.startsWith('https://gone.example.com/') ? 410 : 200
    return { kind: 'status', status, headers: {}, body: '{"ok": true}' } as const
  },
}

/** Starts the program. All outgoing messages are passed to `transport`. */
export async function describedApi(transport: AppOptions['transport'] = receiver): Promise<DescribedApi> {
  // The path does not exist, so no browser can be started.
  const world = await testApp({ chromium: '/nowhere/chromium' }, { transport })
  // Thousands of calls verify this hash, so it is created with the cheapest parameters.
  const passwordHash = await Bun.password.hash(PASSWORD, { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 })
  let made = 0
  const tenant = () => tx(world.app.db, () => createTenant(world, passwordHash, ++made))
  return { world, routes: await describedRoutes(world), passwordHash, tenant }
}

function createTenant({ app: { db, box }, clock }: TestApp, passwordHash: string, n: number): TestTenant {
  const name = `Acme ${n}`
  const { id: orgId } = createOrg(db, box, clock, { name })
  const newKey = (userId: string, readOnly = false) =>
    createKey(db, clock, { userId, orgId, name: 'key', expiresInDays: null, readOnly })
  const newPerson = (role: Role): Person => {
    const email = `${role}-${n}@people.example`
    const { id: userId } = createUser(db, clock, { email, name: `${role} ${n}`, passwordHash })
    addMember(db, clock, { orgId, userId, role })
    const { id: keyId, secret: key } = newKey(userId)
    return { userId, email, key, keyId, session: openSession(db, clock, userId, 'password').token }
  }
  const people = Object.fromEntries(ROLES.map((role) => [role, newPerson(role)])) as Record<Role, Person>
  const { userId } = people.owner
  const longAgo = { now: () => clock.now() - 7 * DAY_MS }
  const revoked = newKey(userId)
  revokeKey(db, clock, { orgId }, revoked.id)
  const { token: endedSession } = openSession(db, clock, userId, 'password')
  endSession(db, sessionIdOf(endedSession))
  return {
    orgId,
    name,
    people,
    readOnlyKey: newKey(userId, true).secret,
    expiredKey: createKey(db, longAgo, { userId, orgId, name: 'old', expiresInDays: 7 }).secret,
    revokedKey: revoked.secret,
    endedSession,
  }
}
