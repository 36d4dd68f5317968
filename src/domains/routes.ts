import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Nullable, OneOf, Type } from '../core/schema.ts'
import { type Authenticate, controller } from '../http/controller.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import { atLeast, type Principal } from '../http/principal.ts'
import type { Db } from '../store/database.ts'
import {
  DomainDetailSchema,
  DomainInputSchema,
  DomainNameSchema,
  DomainSchema,
  describeDomain,
  describeDomainInDetail,
  HOSTNAME_STATUSES,
  HostnameSchema,
  normalizeHostname,
  type Viewpoint,
} from './domain.ts'
import {
  createDomain,
  type DomainKey,
  deleteDomain,
  findDomain,
  listDomains,
  listHostnames,
  renameDomain,
  rotateToken,
  setHostnameStatus,
  updateDomain,
} from './store.ts'

const tags = ['Domains']
const ById = Closed({ id: Type.String() })
const ListQuery = Closed(pagingFields)
const Ok = Closed({ ok: Type.Boolean() })
const nextCursor = Nullable(Type.String())
const DomainList = Closed({ domains: Type.Array(DomainSchema), nextCursor }, { $id: 'DomainList' })
const HostnameList = Closed({ hostnames: Type.Array(HostnameSchema), nextCursor }, { $id: 'HostnameList' })
const NewToken = Closed({ token: Type.String(), previousTokenUntil: InstantSchema }, { $id: 'NewPropertyToken' })

export interface DomainParts {
  db: Db
  clock: Clock
  authenticate: Authenticate
  /** Where the collector is reached from outside, without a path: `https://collect.example`. */
  collectUrl: string
  /** Called after every change that the collector must know of. */
  changed: () => void
}

/** The spelling to store. Fails with `invalid` when the path names no hostname. */
function hostnameOf(text: string): string {
  const hostname = normalizeHostname(text)
  if (hostname === null) throw new AppError('invalid', 'path.hostname: is not a hostname')
  return hostname
}

/** What the handlers below share: the caller's view of a domain, and of one place in a list. */
function views({ db, clock, collectUrl }: DomainParts) {
  const viewpoint = ({ role }: Principal): Viewpoint => ({
    now: clock.now(),
    collectUrl,
    showToken: atLeast(role, 'member'),
  })
  return {
    detail: (principal: Principal, id: string) =>
      describeDomainInDetail(findDomain(db, { orgId: principal.orgId, id }, clock.now()), viewpoint(principal)),
    list(principal: Principal, { cursor, limit = DEFAULT_LIMIT }: { cursor?: string; limit?: number }) {
      const after = decodeCursor(cursor, 1)?.[0] ?? null
      const rows = listDomains(db, principal.orgId, { after, limit }, clock.now())
      const { items, nextCursor } = page(rows, limit, ({ id }) => [id])
      return { domains: items.map((record) => describeDomain(record, viewpoint(principal))), nextCursor }
    },
    hostnames(domain: DomainKey, { cursor, limit = DEFAULT_LIMIT }: { cursor?: string; limit?: number }) {
      const after = decodeCursor(cursor, 1)?.[0] ?? null
      const rows = listHostnames(db, domain, { after, limit }, clock.now())
      const { items, nextCursor } = page(rows, limit, ({ hostname }) => [hostname])
      return { hostnames: items, nextCursor }
    },
  }
}

/** Monitored properties, their tokens and their hostnames. */
export function domainRoutes(parts: DomainParts) {
  const { db, clock, changed } = parts
  const show = views(parts)
  return controller(parts.authenticate)
    .get('/domains', ({ principal, query }) => show.list(principal, query), {
      access: 'read',
      query: ListQuery,
      response: { 200: DomainList },
      detail: { summary: 'Monitored properties', tags },
    })
    .post(
      '/domains',
      ({ principal, body, status }) => {
        const id = createDomain(db, clock, principal.orgId, body)
        changed()
        return status(201, show.detail(principal, id))
      },
      {
        access: 'admin',
        body: DomainInputSchema,
        response: { 201: DomainDetailSchema },
        detail: { summary: 'Start to monitor a property', tags },
      },
    )
    .get('/domains/:id', ({ principal, params: { id } }) => show.detail(principal, id), {
      access: 'read',
      params: ById,
      response: { 200: DomainDetailSchema },
      detail: { summary: 'A monitored property with its settings', tags },
    })
    .put(
      '/domains/:id',
      ({ principal, params: { id }, body }) => {
        updateDomain(db, { orgId: principal.orgId, id }, body)
        changed()
        return show.detail(principal, id)
      },
      {
        access: 'admin',
        params: ById,
        body: DomainInputSchema,
        response: { 200: DomainDetailSchema },
        detail: { summary: 'Replace the settings; what is left out gets its default', tags },
      },
    )
    .delete(
      '/domains/:id',
      ({ principal: { orgId }, params: { id } }) => {
        deleteDomain(db, { orgId, id })
        changed()
        return { ok: true }
      },
      {
        access: 'admin',
        params: ById,
        response: { 200: Ok },
        detail: { summary: 'Stop to monitor a property; its token stops at once', tags },
      },
    )
    .post(
      '/domains/:id/token',
      ({ principal: { orgId }, params: { id } }) => {
        const rotated = rotateToken(db, clock, { orgId, id })
        changed()
        return rotated
      },
      {
        access: 'admin',
        params: ById,
        response: { 200: NewToken },
        detail: { summary: 'Replace the property token; the old one works for another 24 hours', tags },
      },
    )
    .put(
      '/domains/:id/name',
      ({ principal: { orgId }, params: { id }, body: { name } }) => {
        renameDomain(db, { orgId, id }, name)
        return { ok: true }
      },
      {
        access: 'admin',
        params: ById,
        body: Closed({ name: DomainNameSchema }),
        response: { 200: Ok },
        detail: { summary: 'Rename a property', tags },
      },
    )
    .get(
      '/domains/:id/hostnames',
      ({ principal: { orgId }, params: { id }, query }) => show.hostnames({ orgId, id }, query),
      {
        access: 'read',
        params: ById,
        query: ListQuery,
        response: { 200: HostnameList },
        detail: { summary: 'Hostnames that sent events, by name', tags },
      },
    )
    .put(
      '/domains/:id/hostnames/:hostname',
      ({ principal: { orgId }, params: { id, hostname }, body: { status } }) => {
        setHostnameStatus(db, { orgId, id }, hostnameOf(hostname), status)
        changed()
        return { ok: true }
      },
      {
        access: 'member',
        params: Closed({ id: Type.String(), hostname: Type.String() }),
        body: Closed({ status: OneOf(HOSTNAME_STATUSES) }),
        response: { 200: Ok },
        detail: { summary: 'Judge a hostname; events from a denied one are dropped', tags },
      },
    )
}
