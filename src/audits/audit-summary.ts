import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { RunFinding } from '../issues/apply-run-findings.ts'
import type { AuditPage, AuditSummary } from './audit.ts'
import type { PageFault } from './judge-page.ts'
import { isFailed } from './page-expectations.ts'

/** Accumulates the summary and the findings of an audit while its pages are visited. */
export class AuditTally {
  private readonly vendors = new Set<string>()
  private readonly hosts = new Map<string, number>()
  private readonly faults = new Map<string, { fault: PageFault; url: string; pages: number }>()
  private summary: AuditSummary = {
    pagesTotal: 0,
    pagesFailed: 0,
    vendors: 0,
    missing: 0,
    duplicates: 0,
    beforeConsent: 0,
    errors: 0,
  }

  /** Adds a page and returns the summary so far. */
  add(page: AuditPage, faults: readonly PageFault[]): AuditSummary {
    for (const { vendor } of [...page.tags, ...page.beforeConsent]) this.vendors.add(vendor)
    const { host } = new URL(page.url)
    this.hosts.set(host, (this.hosts.get(host) ?? 0) + 1)
    const kinds = new Map(faults.map((fault) => [JSON.stringify([fault.kind, fault.vendor, fault.event]), fault]))
    for (const [key, fault] of kinds) {
      const known = this.faults.get(key)
      if (known) known.pages++
      else this.faults.set(key, { fault, url: page.url, pages: 1 })
    }
    const before = this.summary
    this.summary = {
      pagesTotal: before.pagesTotal + 1,
      pagesFailed: before.pagesFailed + (isFailed(page) ? 1 : 0),
      vendors: this.vendors.size,
      missing: before.missing + page.missing.length,
      duplicates: before.duplicates + page.duplicates.length,
      beforeConsent: before.beforeConsent + page.beforeConsent.length,
      errors: before.errors + page.errors.length,
    }
    return this.summary
  }

  /** Returns the hosts of the pages, most frequent first. */
  hostsSeen(): string[] {
    return [...this.hosts].toSorted(([, one], [, other]) => other - one).map(([host]) => host)
  }

  /**
   * Returns the findings without personal data. There is one finding for each combination of kind, vendor and event.
   */
  findings(privacy: Privacy): RunFinding[] {
    const masked = (text: string | null) => (text === null ? null : maskPersonal(text, '', privacy))
    return [...this.faults.values()].map(({ fault, url, pages }) => {
      const { what, expected, observed, ...subject } = fault
      const where = pages === 1 ? `on ${masked(url)}` : `on ${pages} pages, first on ${masked(url)}`
      return {
        ...subject,
        sentence: `${masked(what)} ${where}`,
        expected: masked(expected),
        observed: masked(observed),
      }
    })
  }
}
