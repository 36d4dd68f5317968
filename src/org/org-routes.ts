import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Text, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { checkTimezone } from '../core/timezone.ts'
import { NextCursorSchema, pagingFields, sortField } from '../http/paging.ts'
import { isFullCredential, may } from '../http/permission.ts'
import type { Principal } from '../http/principal.ts'
import { OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { AUDIT_SORTS, AuditEntrySchema, auditFilterFields, listAuditEntries, writeAuditEntry } from './audit-log.ts'
import {
  checkCurrency,
  checkName,
  checkPhoneRegions,
  MembershipSchema,
  type Organization,
  OrganizationInputSchema,
  OrganizationPatchSchema,
  OrganizationSchema,
  type PiiPattern,
  WebhookSecretSchema,
} from './org.ts'
import { satisfiesSecondFactor } from './second-factor.ts'
import {
  addMember,
  consentOptInOf,
  createOrg,
  currencyOf,
  deleteOrg,
  listMemberships,
  openWebhookSecret,
  ownedOrgs,
  privacySettings,
  requireOrg,
  requiresSecondFactor,
  rotateWebhookSecret,
  timezoneOf,
  updateOrg,
} from './store.ts'

/** Maximum number of organizations owned by one user. */
const OWNED_MAX = 10

const tag = 'Organization'
const AuditQuery = Closed({ ...auditFilterFields, sort: sortField(AUDIT_SORTS, '-at'), ...pagingFields })
const OrgList = Closed({ orgs: Type.Array(MembershipSchema), nextCursor: NextCursorSchema }, { $id: 'OrgList' })
const AuditEntryList = Closed(
  { entries: Type.Array(AuditEntrySchema), nextCursor: NextCursorSchema },
  { $id: 'AuditEntryList' },
)
const DeleteQuery = Closed({
  name: { ...Text(1, 200), description: 'Exact name of the organization, to prevent accidental deletion' },
})

export interface OrganizationRouteDeps {
  db: Db
  box: SecretBox
  clock: Clock
  /** Throws `invalid`, naming the first pattern that is not a kind of personal data. */
  checkPiiPatterns: (patterns: readonly PiiPattern[]) => void
  /** Called after a change that affects compiled rules. */
  changed: (orgId: string) => void
  /** Called after an organization has been deleted from the database, so that caches and jobs can drop it. */
  deleted: (orgId: string) => void
}

/** Returns the routes for organizations: settings, memberships, deletion, audit log. */
export function organizationRoutes(parts: OrganizationRouteDeps): Route[] {
  return [
    ...membershipRoutes(parts),
    ...settingsRoutes(parts),
    deleteRoute(parts),
    auditLogRoute(parts, 'listAuditEntries', '/v1/audit-log', 'Entries are kept for 400 days.'),
    auditLogRoute(parts, 'listOrganizationAuditEntries', '/v1/org/audit-log', 'Earlier path of `GET /v1/audit-log`.'),
  ]
}

/** Returns the organization without the fields that the caller may not see. */
function describe({ db, box }: OrganizationRouteDeps, principal: Principal): Organization {
  const { id, name, createdAt } = requireOrg(db, principal.orgId)
  const canSign = may(principal, 'seeSettings') && isFullCredential(principal)
  const webhookSecret = canSign ? openWebhookSecret(db, box, id) : null
  const currency = currencyOf(db, id)
  return {
    id,
    name,
    createdAt,
    currency,
    webhookSecret,
    ...privacySettings(db, id),
    consentOptIn: consentOptInOf(db, id),
    timezone: timezoneOf(db, id),
    requireSecondFactor: requiresSecondFactor(db, id),
  }
}

function membershipRoutes({ db, box, clock }: OrganizationRouteDeps): Route[] {
  return [
    route({
      id: 'listOrganizations',
      method: 'GET',
      path: '/v1/orgs',
      access: 'read',
      anyOrg: true,
      tag,
      summary: "List the caller's organizations; for an API key, only its own",
      query: Closed(pagingFields),
      answer: OrgList,
      exports: 'orgs',
      handle({ principal: { userId, orgId, via }, query }) {
        // A key acts only in its own organization, so no other organizations are listed.
        const { items, nextCursor } = listMemberships(db, { userId, orgId: via === 'key' ? orgId : null }, query)
        return { orgs: items, nextCursor }
      },
    }),
    route({
      id: 'createOrganization',
      method: 'POST',
      path: '/v1/orgs',
      access: 'govern',
      tag,
      summary: 'Create another organization, owned by the caller',
      description:
        'A user can own at most 10 organizations. API keys cannot act in the new one: each key belongs to one organization.',
      refusals: ['conflict'],
      body: OrganizationInputSchema,
      status: 201,
      answer: MembershipSchema,
      handle({ principal: { userId, keyId }, body, origin: { address } }) {
        if (ownedOrgs(db, userId) >= OWNED_MAX) {
          throw new AppError('conflict', `a user can own at most ${OWNED_MAX} organizations`)
        }
        const { id, name } = createOrg(db, box, clock, { name: checkName(body.name, 'name') })
        addMember(db, clock, { orgId: id, userId, role: 'owner' })
        // Creating the organization already adds an entry to the audit log of the caller's organization.
        writeAuditEntry(db, clock, { orgId: id, act: 'createOrganization', userId, keyId, address, target: id })
        return { id, name, role: 'owner' as const }
      },
      note: ({ body: { name } }) => ({ name }),
    }),
  ]
}

function settingsRoutes(parts: OrganizationRouteDeps): Route[] {
  const { db, box, changed, checkPiiPatterns } = parts
  return [
    route({
      id: 'getOrganization',
      method: 'GET',
      path: '/v1/org',
      access: 'read',
      tag,
      summary: 'Get the organization; includes the webhook secret for admins with a session or a full key',
      answer: OrganizationSchema,
      handle: ({ principal }) => describe(parts, principal),
    }),
    route({
      id: 'updateOrganization',
      method: 'PATCH',
      path: '/v1/org',
      access: 'administer',
      tag,
      summary: 'Change settings of the organization; omitted fields remain unchanged',
      refusals: ['conflict'],
      body: OrganizationPatchSchema,
      answer: OrganizationSchema,
      handle({ principal, body }) {
        checkCurrency(body.currency ?? null)
        checkPhoneRegions(body.phoneRegions ?? [])
        checkPiiPatterns(body.piiPatterns ?? [])
        if (body.timezone !== undefined) checkTimezone(body.timezone)
        if (body.requireSecondFactor) requireOwnSecondFactor(db, principal)
        updateOrg(db, principal.orgId, body)
        return describe(parts, principal)
      },
      note: ({ body }) => ({ ...body }),
      after: ({ principal: { orgId } }) => changed(orgId),
    }),
    route({
      id: 'rotateWebhookSecret',
      method: 'POST',
      path: '/v1/org/webhook-secret',
      access: 'administer',
      tag,
      summary: 'Replace the secret that signs webhooks; the old one is no longer used',
      answer: WebhookSecretSchema,
      handle: ({ principal: { orgId } }) => ({ webhookSecret: rotateWebhookSecret(db, box, orgId) }),
    }),
  ]
}

/** Throws `conflict` when the caller would be locked out of an organization that requires a second factor. */
function requireOwnSecondFactor(db: Db, principal: Principal): void {
  if (satisfiesSecondFactor(db, principal)) return
  throw new AppError('conflict', 'requireSecondFactor: set up your own second factor first')
}

function deleteRoute({ db, clock, deleted }: OrganizationRouteDeps): Route {
  return route({
    id: 'deleteOrganization',
    method: 'DELETE',
    path: '/v1/org',
    access: 'govern',
    tag,
    summary: 'Permanently delete the organization and all its data',
    description:
      'Members who belong to no other organization are signed out, and their API keys are revoked. The only ' +
      'organization on a server cannot be deleted.',
    refusals: ['conflict'],
    query: DeleteQuery,
    answer: OkSchema,
    handle({ principal: { orgId }, query: { name } }) {
      if (name !== requireOrg(db, orgId).name) {
        throw new AppError('invalid', 'query.name: is not the name of this organization')
      }
      deleteOrg(db, clock, orgId)
      return OK
    },
    after: ({ principal: { orgId } }) => deleted(orgId),
  })
}

function auditLogRoute({ db }: OrganizationRouteDeps, id: string, path: string, description: string): Route {
  return route({
    id,
    method: 'GET',
    path,
    access: 'seeSettings',
    tag,
    summary: 'List changes and sign-ins in the organization, newest first by default',
    description,
    query: AuditQuery,
    answer: AuditEntryList,
    exports: 'entries',
    handle({ principal: { orgId }, query }) {
      const { items, nextCursor } = listAuditEntries(db, orgId, query)
      return { entries: items, nextCursor }
    },
  })
}
