import { showChannels } from '../alerts/channel-target.ts'
import { maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { SecretBox } from '../core/secret-box.ts'
import type { Principal } from '../http/principal.ts'
import type { Audit, AuditPage, Differences } from './audit.ts'

type Show = <T extends string | null>(text: T) => T

function shower(privacy: Privacy): Show {
  return ((text: string | null) => (text === null ? null : maskPersonal(text, '', privacy))) as Show
}

/** Returns an audit as the caller may see it: with masked targets of channels for viewers and read-only keys. */
export function shownAudit(
  audit: Audit,
  { box, principal, privacy }: { box: SecretBox; principal: Principal; privacy: Privacy },
) {
  const channels = showChannels(box, audit.channels, principal)
  return { ...audit, channels, error: shower(privacy)(audit.error) }
}

/** Returns pages with what is personal in them masked. */
export function shownPages(pages: readonly AuditPage[], privacy: Privacy): AuditPage[] {
  const show = shower(privacy)
  const named = <T extends { vendor: string | null; event: string | null }>(one: T) => ({
    ...one,
    ...{ vendor: show(one.vendor), event: show(one.event) },
  })
  return pages.map((page) => ({
    ...page,
    ...{ url: show(page.url), title: show(page.title), error: show(page.error), errors: page.errors.map(show) },
    tags: page.tags.map((tag) => ({ ...named(tag), account: show(tag.account) })),
    missing: page.missing.map(named),
    duplicates: page.duplicates.map(named),
    beforeConsent: page.beforeConsent.map(named),
  }))
}

/** The same for differences. */
export function shownDifferences(differences: Differences | null, privacy: Privacy): Differences | null {
  if (differences === null) return null
  const show = shower(privacy)
  const pages = differences.pages.map((one) => ({
    ...one,
    ...{ url: show(one.url), vendor: show(one.vendor), event: show(one.event) },
  }))
  return { ...differences, pages }
}
