import type { AlertChannel } from '../alerts/alert.ts'
import { acceptChannels, showChannels } from '../alerts/encrypt-channel-target.ts'
import type { CheckAddress } from '../browser/check-browser-url.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { requireDomain } from '../domains/store.ts'
import { pagingFields, sortField } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import type { Audit, AuditPage, Differences } from './audit.ts'
import { AUDIT_STATUSES, AuditDetailSchema, AuditInputSchema, AuditListSchema, AuditPageListSchema } from './audit.ts'
import { readAudit } from './audit-input.ts'
import type { AuditRuns } from './audit-runs.ts'
import {
  AUDIT_SORTS,
  cancelAudit,
  findAudit,
  listAuditPages,
  listAudits,
  PAGE_SORTS,
  queueAudit,
  type StoredAudit,
} from './store.ts'

export interface AuditRouteDeps {
  db: Db
  /** Encrypts channel targets. */
  box: SecretBox
  clock: Clock
  region: string
  audits: Pick<AuditRuns, 'fault' | 'start' | 'stop'>
  checkAddress: CheckAddress
  /** Throws an `AppError` that names the channel when a channel can't deliver messages. */
  checkChannels(channels: readonly AlertChannel[], orgId: string): void
  privacyOf(orgId: string): Privacy
}

const tag = 'Audits'
/** Number of pages returned together with an audit. */
const PAGES_SHOWN = 200

const ListQuery = Closed({
  name: Type.Optional(Type.String({ maxLength: 200, description: 'Only audits with this name' })),
  status: Type.Optional(OneOf(AUDIT_STATUSES)),
  sort: sortField(AUDIT_SORTS, '-createdAt'),
  ...pagingFields,
})

/** Returns the routes under `/v1/audits`. */
export function auditRoutes(parts: AuditRouteDeps): Route[] {
  const { db, box, clock, region, audits, checkAddress, checkChannels, privacyOf } = parts
  const detailOf = ({ orgId, audit, differences }: StoredAudit, principal: Principal) => {
    const privacy = privacyOf(orgId)
    return {
      ...shownAudit(audit, { box, principal, privacy }),
      pages: shownPages(listAuditPages(db, audit.id, { limit: PAGES_SHOWN }).items, privacy),
      differences: shownDifferences(differences, privacy),
    }
  }
  return [
    route({
      id: 'listAudits',
      method: 'GET',
      path: '/v1/audits',
      access: 'read',
      tag,
      summary: 'List audits, newest first by default',
      tool: true,
      query: ListQuery,
      answer: AuditListSchema,
      exports: 'audits',
      handle({ principal, query }) {
        const { items, nextCursor } = listAudits(db, principal.orgId, query)
        const privacy = privacyOf(principal.orgId)
        return { audits: items.map((audit) => shownAudit(audit, { box, principal, privacy })), nextCursor }
      },
    }),
    route({
      id: 'createAudit',
      method: 'POST',
      path: '/v1/audits',
      access: 'edit',
      tag,
      summary: 'Queue an audit that crawls a site and reports which tags fire on each page',
      description:
        'It starts as soon as a browser is available. The most recently created audit with a name determines whether and when the next ones ' +
        'with that name run automatically; one without `schedule` ends the series.',
      refusals: ['conflict', 'notFound', 'rateLimited'],
      tool: true,
      body: AuditInputSchema,
      status: 201,
      answer: AuditDetailSchema,
      handle({ principal, body }) {
        const { orgId } = principal
        const settings = readAudit(body, clock.now())
        for (const [index, url] of settings.startUrls.entries()) checkAddress(url, `startUrls[${index}]`)
        if (settings.sitemap !== null) checkAddress(settings.sitemap, 'sitemap')
        if (settings.domainId !== null) requireDomain(db, { orgId, id: settings.domainId })
        const channels = acceptChannels(box, settings.channels, {
          stored: listAudits(db, orgId, { name: settings.name, limit: 1 }).items[0]?.channels ?? [],
          check: (channels) => checkChannels(channels, orgId),
        })
        const fault = audits.fault()
        if (fault !== null) throw new AppError('conflict', fault)
        return detailOf(queueAudit(db, clock.now(), { orgId, settings: { ...settings, channels }, region }), principal)
      },
      after: () => audits.start(),
    }),
    route({
      id: 'getAudit',
      method: 'GET',
      path: '/v1/audits/{id}',
      access: 'read',
      tag,
      summary: 'Get an audit with its first 200 pages and the differences from the previous one',
      tool: true,
      params: ById,
      answer: AuditDetailSchema,
      handle: ({ principal, params: { id } }) => detailOf(findAudit(db, { orgId: principal.orgId, id }), principal),
    }),
    route({
      id: 'cancelAudit',
      method: 'POST',
      path: '/v1/audits/{id}/cancel',
      access: 'edit',
      tag,
      summary: 'Cancel a queued or running audit; pages visited so far are kept',
      refusals: ['conflict'],
      tool: true,
      params: ById,
      answer: OkSchema,
      handle({ principal: { orgId }, params: { id } }) {
        cancelAudit(db, { orgId, id }, clock.now())
        return OK
      },
      after: ({ params: { id } }) => audits.stop(id),
    }),
    route({
      id: 'listAuditPages',
      method: 'GET',
      path: '/v1/audits/{id}/pages',
      access: 'read',
      tag,
      summary: 'List the pages of an audit, by default in the order in which they were visited',
      tool: true,
      params: ById,
      query: Closed({ sort: sortField(PAGE_SORTS), ...pagingFields }),
      answer: AuditPageListSchema,
      exports: 'pages',
      handle({ principal: { orgId }, params: { id }, query }) {
        findAudit(db, { orgId, id })
        const { items, nextCursor } = listAuditPages(db, id, query)
        return { pages: shownPages(items, privacyOf(orgId)), nextCursor }
      },
    }),
  ]
}

type Show = <T extends string | null>(text: T) => T

function shower(privacy: Privacy): Show {
  return ((text: string | null) => (text === null ? null : maskPersonal(text, '', privacy))) as Show
}

/**
 * Returns an audit in the form in which the caller may see it. Channel targets are masked for viewers and read-only
 * keys.
 */
function shownAudit(
  audit: Audit,
  { box, principal, privacy }: { box: SecretBox; principal: Principal; privacy: Privacy },
) {
  const channels = showChannels(box, audit.channels, principal)
  return { ...audit, channels, error: shower(privacy)(audit.error) }
}

/** Returns pages with personal data masked. */
function shownPages(pages: readonly AuditPage[], privacy: Privacy): AuditPage[] {
  const show = shower(privacy)
  const named = <T extends { vendor: string | null; event: string | null }>(one: T) => ({
    ...one,
    vendor: show(one.vendor),
    event: show(one.event),
  })
  return pages.map((page) => ({
    ...page,
    url: show(page.url),
    title: show(page.title),
    error: show(page.error),
    errors: page.errors.map(show),
    tags: page.tags.map((tag) => ({ ...named(tag), account: show(tag.account) })),
    missing: page.missing.map(named),
    duplicates: page.duplicates.map(named),
    beforeConsent: page.beforeConsent.map(named),
  }))
}

/** Returns differences with personal data masked. */
function shownDifferences(differences: Differences | null, privacy: Privacy): Differences | null {
  if (differences === null) return null
  const show = shower(privacy)
  const pages = differences.pages.map((one) => ({
    ...one,
    url: show(one.url),
    vendor: show(one.vendor),
    event: show(one.event),
  }))
  return { ...differences, pages }
}
