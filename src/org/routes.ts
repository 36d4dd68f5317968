import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Nullable, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { atLeast, type Principal } from '../http/principal.ts'
import type { Db } from '../store/database.ts'
import { KeyInputSchema, KeySchema, NewKeySchema } from './key.ts'
import { MembershipSchema, type Org, OrganizationSchema, WhoamiSchema } from './org.ts'
import {
  createKey,
  findOrg,
  findUser,
  type KeyOwner,
  listKeys,
  listMemberships,
  openWebhookSecret,
  revokeKey,
} from './store.ts'

const ListQuery = Closed(pagingFields)
const KeyList = Closed({ keys: Type.Array(KeySchema), nextCursor: Nullable(Type.String()) }, { $id: 'KeyList' })
const OrgList = Closed({ orgs: Type.Array(MembershipSchema), nextCursor: Nullable(Type.String()) }, { $id: 'OrgList' })

/** Admins look after the keys of all members of their organization, everybody else after their own. */
function keysInReach({ role, orgId, userId }: Principal): KeyOwner {
  return atLeast(role, 'admin') ? { orgId } : { userId }
}

function orgOf(db: Db, orgId: string): Org {
  const org = findOrg(db, orgId)
  if (!org) throw new AppError('notFound', 'no such organization')
  return org
}

function whoami(db: Db, principal: Principal) {
  const user = findUser(db, principal.userId)
  if (!user) throw new AppError('notFound', 'no such user')
  const { userId, orgId, role, readOnly, via, keyId } = principal
  const orgName = orgOf(db, orgId).name
  return { userId, email: user.email, name: user.name, orgId, orgName, role, readOnly, via, keyId }
}

/** Who the caller is, the caller's organizations, and API keys. */
export function orgRoutes({
  db,
  box,
  clock,
  authenticate,
}: {
  db: Db
  box: SecretBox
  clock: Clock
  authenticate: Authenticate
}) {
  return controller(authenticate)
    .get('/whoami', ({ principal }) => whoami(db, principal), {
      access: 'read',
      response: { 200: WhoamiSchema },
      detail: { summary: 'The user and organization that the request acts as', tags: ['Organization'] },
    })
    .get(
      '/orgs',
      ({ principal, query: { cursor, limit = DEFAULT_LIMIT } }) => {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const rows = listMemberships(db, principal.userId, { after, limit })
        const { items, nextCursor } = page(rows, limit, (org) => [org.id])
        return { orgs: items, nextCursor }
      },
      {
        access: 'read',
        query: ListQuery,
        response: { 200: OrgList },
        detail: { summary: 'Organizations of the caller', tags: ['Organization'] },
      },
    )
    .get(
      '/org',
      ({ principal: { orgId, role } }) => {
        const { id, name, createdAt } = orgOf(db, orgId)
        const webhookSecret = atLeast(role, 'admin') ? openWebhookSecret(db, box, orgId) : null
        return { id, name, createdAt, webhookSecret }
      },
      {
        access: 'read',
        response: { 200: OrganizationSchema },
        detail: { summary: 'The organization; its webhook secret for admins only', tags: ['Organization'] },
      },
    )
    .get(
      '/keys',
      ({ principal, query: { cursor, limit = DEFAULT_LIMIT } }) => {
        const after = decodeCursor(cursor, 1)?.[0] ?? null
        const { items, nextCursor } = page(listKeys(db, keysInReach(principal), { after, limit }), limit, ({ id }) => [
          id,
        ])
        return { keys: items, nextCursor }
      },
      {
        access: 'read',
        query: ListQuery,
        response: { 200: KeyList },
        detail: { summary: 'Own API keys; for admins those of all members', tags: ['Keys'] },
      },
    )
    .post(
      '/keys',
      ({ principal: { userId, role }, body, status }) => {
        const readOnly = body.readOnly === true || role === 'viewer'
        return status(201, createKey(db, clock, { ...body, userId, readOnly }))
      },
      {
        access: 'own',
        body: KeyInputSchema,
        response: { 201: NewKeySchema },
        detail: { summary: 'Create an API key; its secret is shown once', tags: ['Keys'] },
      },
    )
    .delete(
      '/keys/:id',
      ({ principal, params: { id } }) => {
        revokeKey(db, clock, keysInReach(principal), id)
        return { ok: true }
      },
      {
        access: 'own',
        params: Closed({ id: Type.String() }),
        response: { 200: Closed({ ok: Type.Boolean() }) },
        detail: { summary: 'Revoke an API key; works from the next request on', tags: ['Keys'] },
      },
    )
}
