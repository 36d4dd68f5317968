import type { Channel } from '../alerts/alert.ts'
import { acceptChannels } from '../alerts/channel-target.ts'
import type { CheckAddress } from '../browser/address-check.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { findDomain } from '../domains/store.ts'
import { DEFAULT_LIMIT, decodeCursor, page, pagingFields } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { AUDIT_STATUSES, AuditDetailSchema, AuditInputSchema, AuditListSchema, AuditPageListSchema } from './audit.ts'
import type { Audits } from './audits.ts'
import { readAudit } from './input.ts'
import { shownAudit, shownDifferences, shownPages } from './shown.ts'
import { cancelAudit, findAudit, type KeptAudit, listAudits, pagesAfter, queueAudit } from './store.ts'

export interface AuditParts {
  db: Db
  /** Seals the targets of channels. */
  box: SecretBox
  clock: Clock
  region: string
  audits: Pick<Audits, 'fault' | 'start' | 'stop'>
  checkAddress: CheckAddress
  /** Throws an `AppError` that names it for a channel that can't deliver. */
  checkChannels(channels: readonly Channel[], orgId: string): void
  privacyOf(orgId: string): Privacy
}

const tag = 'Audits'
/** Pages that are shown with an audit. */
const PAGES_SHOWN = 200

const ListQuery = Closed({
  name: Type.Optional(Type.String({ maxLength: 200, description: 'Only of this name' })),
  status: Type.Optional(OneOf(AUDIT_STATUSES)),
  ...pagingFields,
})

/** Audits under `/v1/audits`. */
export function auditRoutes(parts: AuditParts): Route[] {
  const { db, box, clock, region, audits, checkAddress, checkChannels, privacyOf } = parts
  const detailOf = ({ orgId, audit, differences }: KeptAudit, principal: Principal) => {
    const privacy = privacyOf(orgId)
    const pages = pagesAfter(db, audit.id, 0, PAGES_SHOWN).slice(0, PAGES_SHOWN)
    return {
      ...shownAudit(audit, { box, principal, privacy }),
      pages: shownPages(
        pages.map((one) => one.page),
        privacy,
      ),
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
      summary: 'Audits, newest first',
      tool: true,
      query: ListQuery,
      answer: AuditListSchema,
      handle({ principal, query: { cursor, limit = DEFAULT_LIMIT, ...filter } }) {
        const found = listAudits(db, principal.orgId, filter, { cursor, limit })
        const privacy = privacyOf(principal.orgId)
        return { ...found, audits: found.audits.map((audit) => shownAudit(audit, { box, principal, privacy })) }
      },
    }),
    route({
      id: 'createAudit',
      method: 'POST',
      path: '/v1/audits',
      access: 'edit',
      tag,
      summary: 'Crawl the pages of a site, and say of each which tags fired',
      description:
        'It begins as soon as a browser is free. The last audit that was made of a name says whether and when the next ones of ' +
        'that name begin by themselves: one without `schedule` ends that.',
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
        if (settings.domainId !== null) findDomain(db, { orgId, id: settings.domainId }, clock.now())
        const channels = acceptChannels(box, settings.channels, {
          stored: listAudits(db, orgId, { name: settings.name }, { limit: 1 }).audits[0]?.channels ?? [],
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
      summary: 'An audit, with its first 200 pages and what is different from the one before',
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
      summary: 'Cancel an audit that waits or goes on; its pages so far stay',
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
      summary: 'Pages of an audit, in the order in which they were seen',
      tool: true,
      params: ById,
      query: Closed(pagingFields),
      answer: AuditPageListSchema,
      handle({ principal: { orgId }, params: { id }, query: { cursor, limit = DEFAULT_LIMIT } }) {
        const { audit } = findAudit(db, { orgId, id })
        const after = Number(decodeCursor(cursor, 1)?.[0] ?? 0)
        const { items, nextCursor } = page(pagesAfter(db, audit.id, after, limit), limit, ({ number }) => [number])
        const pages = items.map((one) => one.page)
        return { pages: shownPages(pages, privacyOf(orgId)), nextCursor }
      },
    }),
  ]
}
