import { atLeast } from '../contract/roles.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { PERMISSIONS } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { type KeyInput, KeyInputSchema, KeySchema, NewKeySchema, scopesOf } from './api-key.ts'
import { createKey, type KeyOwner, listKeys, revokeKey } from './api-key-store.ts'
import { WhoamiPatchSchema, WhoamiSchema } from './org.ts'
import { satisfiesSecondFactor } from './second-factor.ts'
import { findUser, renameUser, requireOrg, requiresSecondFactor } from './store.ts'

const KeyList = Closed({ keys: Type.Array(KeySchema), nextCursor: NextCursorSchema }, { $id: 'KeyList' })

/**
 * Returns the owner of the keys that the caller may manage: admins manage the keys of all members, others their own.
 */
function manageableKeys(principal: Principal): KeyOwner {
  const { orgId, userId } = principal
  return atLeast(principal.role, PERMISSIONS.administer.from) ? { orgId } : { orgId, userId }
}

function whoami(db: Db, principal: Principal) {
  const user = findUser(db, principal.userId)
  if (!user) throw new AppError('notFound', 'no such user')
  const { userId, orgId, role, readOnly, via, keyId, scopes = ['all'] } = principal
  const orgName = requireOrg(db, orgId).name
  const secondFactorDue = requiresSecondFactor(db, orgId) && !satisfiesSecondFactor(db, principal)
  const { email, name } = user
  return { userId, email, name, orgId, orgName, role, readOnly, via, keyId, scopes: [...scopes], secondFactorDue }
}

/** Returns the routes for the caller's identity and for API keys. */
export function orgRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  return [
    route({
      id: 'whoami',
      method: 'GET',
      path: '/v1/whoami',
      access: 'read',
      beforeSecondFactor: true,
      tag: 'Organization',
      summary: 'Get the user and organization that the credential acts for',
      tool: true,
      answer: WhoamiSchema,
      handle: ({ principal }) => whoami(db, principal),
    }),
    route({
      id: 'changeWhoami',
      method: 'PATCH',
      path: '/v1/whoami',
      access: 'own',
      tag: 'Organization',
      summary: 'Change your own name, which is shown in all your organizations',
      body: WhoamiPatchSchema,
      answer: WhoamiSchema,
      handle({ principal, body: { name } }) {
        renameUser(db, principal.userId, name)
        return whoami(db, principal)
      },
      note: ({ body: { name } }) => ({ name }),
    }),
    ...keyRoutes({ db, clock }),
  ]
}

const noteOf = ({ name, expiresInDays, ...input }: KeyInput, { role }: Principal) => ({
  name,
  expiresInDays,
  scopes: scopesOf(input, role),
})

function keyRoutes({ db, clock }: { db: Db; clock: Clock }): Route[] {
  const tag = 'Keys'
  return [
    route({
      id: 'listKeys',
      method: 'GET',
      path: '/v1/keys',
      access: 'read',
      tag,
      summary: 'List your own API keys in this organization; for admins, those of all members',
      query: Closed(pagingFields),
      answer: KeyList,
      exports: 'keys',
      handle({ principal, query }) {
        const { items, nextCursor } = listKeys(db, manageableKeys(principal), query)
        return { keys: items, nextCursor }
      },
    }),
    route({
      id: 'createKey',
      method: 'POST',
      path: '/v1/keys',
      access: 'own',
      tag,
      summary: 'Create an API key for this organization; its secret is shown only once',
      description: 'The key works in this organization only. A user can have at most 50 keys in an organization.',
      refusals: ['conflict', 'forbidden'],
      body: KeyInputSchema,
      status: 201,
      answer: NewKeySchema,
      handle({ principal, body }) {
        const { userId, orgId, role } = principal
        return createKey(db, clock, { ...body, userId, orgId, role })
      },
      note: ({ body, principal }) => noteOf(body, principal),
    }),
    route({
      id: 'revokeKey',
      method: 'DELETE',
      path: '/v1/keys/{id}',
      access: 'own',
      tag,
      summary: 'Revoke an API key, effective from the next request',
      params: ById,
      answer: OkSchema,
      handle({ principal, params: { id } }) {
        revokeKey(db, clock, manageableKeys(principal), id)
        return OK
      },
    }),
  ]
}
