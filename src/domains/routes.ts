import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, OneOf, type Static, Type } from '../core/schema.ts'
import { NextCursorSchema, type PageRequest, pagingFields, sortField } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { OrgRowKey } from '../store/org-rows.ts'
import { captureRoutes } from './capture-settings-routes.ts'
import { endpointRoutes } from './collect-hostname-routes.ts'
import { pageViewRates } from './collect-hostname-store.ts'
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
import type { DomainRouteDeps } from './domain-route-deps.ts'
import { pageViewRoutes } from './page-view-sampling-routes.ts'
import { findProject } from './project-store.ts'
import {
  createDomain,
  DOMAIN_SORTS,
  deleteDomain,
  findDomain,
  listDomains,
  listHostnames,
  renameDomain,
  requireDomain,
  rotateToken,
  setHostnameStatus,
  updateDomain,
} from './store.ts'

const tag = 'Domains'
const DomainQuery = Closed({
  q: Type.Optional(Type.String({ maxLength: 200, description: 'Part of the name, or the id' })),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: 'Only domains of this project' })),
  sort: sortField(DOMAIN_SORTS, 'createdAt'),
  ...pagingFields,
})
const DomainList = Closed(
  {
    domains: Type.Array(DomainSchema),
    nextCursor: NextCursorSchema,
    openIssues: Type.Record(Type.String(), Int(), {
      description: 'Number of open issues of each listed domain, by domain id',
      examples: [{ dom_01ke7jm2q0d3k8f1z6y5b7n4ta: 2 }],
    }),
    lastOrderAt: Type.Record(Type.String(), InstantSchema, {
      description:
        'Time of the most recent order of each listed domain, by domain id; domains without orders are omitted',
      examples: [{ dom_01ke7jm2q0d3k8f1z6y5b7n4ta: 1_767_614_400_000 }],
    }),
  },
  { $id: 'DomainList' },
)
const HostnameList = Closed(
  { hostnames: Type.Array(HostnameSchema), nextCursor: NextCursorSchema },
  { $id: 'HostnameList' },
)
const NewToken = Closed(
  { token: Type.String(), previousTokenUntil: InstantSchema },
  {
    $id: 'NewPropertyToken',
    examples: [{ token: 'pt_5yq0w3m1nCk8hX2bVtJ7rLzE9sAaGdQfUoPiKxBvT4c', previousTokenUntil: 1_767_700_800_000 }],
  },
)
const DomainRename = Closed({ name: DomainNameSchema }, { $id: 'DomainRename', examples: [{ name: 'Shop' }] })
const HostnameVerdict = Closed(
  { status: OneOf(HOSTNAME_STATUSES) },
  { $id: 'HostnameVerdict', examples: [{ status: 'denied' }] },
)

/** Returns the normalized hostname. Throws `invalid` when the path contains no valid hostname. */
function hostnameOf(text: string): string {
  const hostname = normalizeHostname(text)
  if (hostname === null) throw new AppError('invalid', 'path.hostname: is not a hostname')
  return hostname
}

/** Returns functions that the handlers below share. */
function views({ db, clock, collectUrl, publicUrl, maskTextOf, openIssues, lastOrders }: DomainRouteDeps) {
  const viewpoint = (principal: Principal): Viewpoint => ({
    now: clock.now(),
    collectUrl,
    publicUrl,
    showToken: may(principal, 'seeTokens'),
  })
  return {
    detail(principal: Principal, id: string) {
      const key = { orgId: principal.orgId, id }
      const domain = describeDomainInDetail(findDomain(db, key, clock.now()), viewpoint(principal))
      return { ...domain, pageViewSampling: pageViewRates(db, key) }
    },
    list(principal: Principal, query: Static<typeof DomainQuery>) {
      const { orgId } = principal
      if (query.projectId !== undefined) findProject(db, { orgId, id: query.projectId })
      const { items, nextCursor } = listDomains(db, orgId, query, clock.now())
      const domains = items.map((record) => describeDomain(record, viewpoint(principal)))
      const ids = items.map(({ id }) => id)
      return { domains, nextCursor, openIssues: openIssues(orgId, ids), lastOrderAt: lastOrders(ids) }
    },
    hostnames(domain: OrgRowKey, query: PageRequest) {
      const { items, nextCursor } = listHostnames(db, domain, query, clock.now())
      const mask = maskTextOf?.(domain.orgId) ?? ((text: string) => text)
      return { hostnames: items.map((row) => ({ ...row, hostname: mask(row.hostname) })), nextCursor }
    },
  }
}

/** Returns the routes for domains, their tokens and their hostnames. */
export function domainRoutes(parts: DomainRouteDeps): Route[] {
  return [
    ...readingRoutes(parts),
    ...writingRoutes(parts),
    ...endpointRoutes(parts),
    ...captureRoutes(parts),
    ...pageViewRoutes(parts),
    ...hostnameRoutes(parts),
  ]
}

function readingRoutes(parts: DomainRouteDeps): Route[] {
  const show = views(parts)
  return [
    route({
      id: 'listDomains',
      method: 'GET',
      path: '/v1/domains',
      access: 'read',
      tag,
      summary: 'List monitored properties',
      refusals: ['notFound'],
      tool: true,
      query: DomainQuery,
      answer: DomainList,
      exports: 'domains',
      handle: ({ principal, query }) => show.list(principal, query),
    }),
    route({
      id: 'getDomain',
      method: 'GET',
      path: '/v1/domains/{id}',
      access: 'read',
      tag,
      summary: 'Get a monitored property with its settings',
      params: ById,
      answer: DomainDetailSchema,
      handle: ({ principal, params: { id } }) => show.detail(principal, id),
    }),
  ]
}

function writingRoutes(parts: DomainRouteDeps): Route[] {
  const { db, clock, changed } = parts
  const show = views(parts)
  return [
    route({
      id: 'createDomain',
      method: 'POST',
      path: '/v1/domains',
      access: 'configure',
      tag,
      summary: 'Start monitoring a property',
      refusals: ['conflict'],
      body: DomainInputSchema,
      status: 201,
      answer: DomainDetailSchema,
      handle({ principal, body }) {
        const id = createDomain(db, clock, principal.orgId, body)
        changed()
        return show.detail(principal, id)
      },
      note: ({ body: { name } }) => ({ name }),
    }),
    route({
      id: 'replaceDomain',
      method: 'PUT',
      path: '/v1/domains/{id}',
      access: 'configure',
      tag,
      summary: 'Replace the settings of a property; omitted fields get their default',
      refusals: ['conflict'],
      params: ById,
      body: DomainInputSchema,
      answer: DomainDetailSchema,
      handle({ principal, params: { id }, body }) {
        updateDomain(db, { orgId: principal.orgId, id }, body)
        changed()
        return show.detail(principal, id)
      },
    }),
    route({
      id: 'deleteDomain',
      method: 'DELETE',
      path: '/v1/domains/{id}',
      access: 'configure',
      tag,
      summary: 'Stop monitoring a property; its token is revoked immediately and its issues are resolved',
      params: ById,
      answer: OkSchema,
      async before({ principal: { orgId, userId }, params: { id } }) {
        requireDomain(db, { orgId, id })
        // Nothing evaluates them after the deletion.
        await parts.resolveIssues?.({ orgId, id }, userId)
      },
      handle({ principal: { orgId }, params: { id } }) {
        deleteDomain(db, { orgId, id })
        changed()
        return OK
      },
    }),
    route({
      id: 'rotateToken',
      method: 'POST',
      path: '/v1/domains/{id}/token',
      access: 'configure',
      tag,
      summary: 'Replace the property token; the old one remains valid for 24 hours',
      params: ById,
      answer: NewToken,
      handle({ principal: { orgId }, params: { id } }) {
        const rotated = rotateToken(db, clock, { orgId, id })
        changed()
        return rotated
      },
    }),
    route({
      id: 'renameDomain',
      method: 'PUT',
      path: '/v1/domains/{id}/name',
      access: 'configure',
      tag,
      summary: 'Rename a property',
      refusals: ['conflict'],
      params: ById,
      body: DomainRename,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id }, body: { name } }) {
        renameDomain(db, { orgId, id }, name)
        return OK
      },
      note: ({ body: { name } }) => ({ name }),
    }),
  ]
}

function hostnameRoutes(parts: DomainRouteDeps): Route[] {
  const { db, changed, noteSetting } = parts
  const show = views(parts)
  return [
    route({
      id: 'listHostnames',
      method: 'GET',
      path: '/v1/domains/{id}/hostnames',
      access: 'read',
      tag,
      summary: 'List hostnames that sent events, in alphabetical order',
      tool: true,
      params: ById,
      query: Closed(pagingFields),
      answer: HostnameList,
      exports: 'hostnames',
      handle: ({ principal: { orgId }, params: { id }, query }) => show.hostnames({ orgId, id }, query),
    }),
    route({
      id: 'judgeHostname',
      method: 'PUT',
      path: '/v1/domains/{id}/hostnames/{hostname}',
      access: 'edit',
      tag,
      summary: 'Approve or deny a hostname; events from denied hostnames are dropped',
      tool: true,
      params: Closed({ ...ById.properties, hostname: Type.String({ maxLength: 1000 }) }),
      body: HostnameVerdict,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id, hostname }, body: { status } }) {
        const name = hostnameOf(hostname)
        const isOther = setHostnameStatus(db, { orgId, id }, name, status)
        if (isOther) noteSetting?.({ orgId, id }, `Hostname ${name} is ${status}`)
        changed()
        return OK
      },
    }),
  ]
}
