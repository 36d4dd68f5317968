import { version } from '../../package.json'
import { ActiveRuns } from '../browser/active-runs.ts'
import { type Browsers, INTERNAL_FAULT, type ServerBrowsing } from '../browser/browser-pool.ts'
import { PLAIN_PRIVACY, type Privacy } from '../conditions/privacy-settings.ts'
import { type Clock, HOUR_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { type LabelMembers, membersOfNamed } from '../flows/match-expectations.ts'
import { applyRunFindings } from '../issues/apply-run-findings.ts'
import type { Enqueue } from '../issues/issue.ts'
import { AUDIT } from '../issues/issue-kinds.ts'
import { membersOf } from '../labels/store.ts'
import { type Db, tx } from '../store/database.ts'
import type { Audit, AuditPage, Differences } from './audit.ts'
import { AuditTally } from './audit-summary.ts'
import type { CrawlMessage, CrawlPlan } from './crawl-plan.ts'
import { type PageJudge, pageJudge } from './judge-page.ts'
import { isFailed } from './page-expectations.ts'
import {
  addPage,
  beginAudit,
  endAudit,
  failInterruptedAudits,
  finishedBefore,
  pagesOf,
  queueDueAudits,
  type StoredAudit,
  waitingAudits,
} from './store.ts'

export interface AuditRunDeps {
  db: Db
  clock: Clock
  browsers: Pick<Browsers, 'run' | 'fault'>
  enqueue: Enqueue
  privacyOf(orgId: string): Privacy
  report(error: unknown, where: string): void
}

/** Maximum duration of a crawl. It is sufficient for 2,000 pages of a host that requires a delay of 10 s. */
const CRAWL_MAX_MS = 6 * HOUR_MS

/** Runs queued audits. */
export class AuditRuns {
  private readonly underWay = new ActiveRuns<StoredAudit & { id: string }>()

  /** Marks audits that were interrupted by a shutdown or crash as failed. */
  constructor(private readonly parts: AuditRunDeps) {
    failInterruptedAudits(parts.db, parts.clock.now())
  }

  /** Returns why audits can't run and how to fix it; null when they can run. */
  fault(): string | null {
    return this.parts.browsers.fault()
  }

  /** Queues audits that are due, and starts queued audits. Returns immediately. */
  start(): void {
    const { db, clock, report } = this.parts
    if (this.underWay.isClosed || this.fault() !== null) return
    queueDueAudits(db, clock.now(), (error) => report(error, 'an audit that is due'))
    for (const kept of waitingAudits(db)) {
      this.underWay.begin({ ...kept, id: kept.audit.id }, (stopping) =>
        this.carryOut(kept, stopping).catch((fault: unknown) => this.failFor(kept, fault)),
      )
    }
  }

  /** Stops the crawl of a cancelled audit. */
  stop(auditId: string): void {
    this.underWay.cancel(({ id }) => id === auditId)
  }

  /** Resolves when no audit is active. */
  idle(): Promise<void> {
    return this.underWay.idle()
  }

  /**
   * Stops active audits, which fail but keep the pages visited so far. Queued audits run after the next start of the
   * server.
   */
  close(): Promise<void> {
    return this.underWay.close()
  }

  private async carryOut(kept: StoredAudit, stopping: AbortSignal): Promise<void> {
    const { db, clock, browsers, privacyOf } = this.parts
    const { orgId, audit } = kept
    const tally = new AuditTally()
    let judge: PageJudge | null = null
    let labels: LabelMembers = {}
    let told: { error: string | null } | null = null
    const gone = new AbortController()
    const { error } = await browsers.run<CrawlPlan, CrawlMessage>({
      orgId,
      task: 'crawl',
      limitMs: CRAWL_MAX_MS,
      pauses: true,
      plan: (own) => planOf(audit, labels, own),
      stopping: AbortSignal.any([stopping, gone.signal]),
      onStart() {
        labels = membersOfNamed(audit.expect, membersOf(db, orgId))
        judge = pageJudge(audit.expect, labels, privacyOf(orgId))
        if (!beginAudit(db, audit.id, clock.now())) gone.abort()
      },
      onMessage(message) {
        if (message.kind === 'done') told = message
        else if (judge !== null) {
          const { page, faults } = judge.judge(message.page)
          if (!addPage(db, audit.id, page, tally.add(page, faults))) gone.abort()
        }
      },
    })
    // The audit stays queued and runs after the next start of the server.
    if (judge === null && stopping.aborted) return
    const ended = told as { error: string | null } | null
    this.end(kept, tally, error ?? (ended ? ended.error : 'the crawl ended unexpectedly'))
  }

  private end({ orgId, seriesId, audit }: StoredAudit, tally: AuditTally, error: string | null): void {
    const { db, clock, enqueue, privacyOf } = this.parts
    const { id, name, domainId, severity, channels } = audit
    const now = clock.now()
    const differences = error === null ? this.differencesOf(orgId, audit) : null
    tx(db, () => {
      if (!endAudit(db, id, { error, now, differences })) return
      const privacy = privacyOf(orgId)
      applyRunFindings(
        { db, now, privacy, enqueue },
        { kind: AUDIT, id: seriesId, orgId, name, domainId, severity, impactValue: null, channels },
        { id, at: now, findings: tally.findings(privacy), isWhole: error === null, hosts: tally.hostsSeen() },
      )
    })
  }

  /** Marks an audit as failed because of an internal error. Its pages are kept. */
  private failFor({ audit: { id } }: StoredAudit, fault: unknown): void {
    const { db, clock, report } = this.parts
    report(fault, `audit ${id}: ${messageOf(fault)}`)
    endAudit(db, id, { error: INTERNAL_FAULT, now: clock.now(), differences: null })
  }

  private differencesOf(orgId: string, audit: Audit): Differences | null {
    const { db } = this.parts
    const before = finishedBefore(db, orgId, audit)
    if (before === null) return null
    const crawledOf = ({ id, maxPages }: Audit) => {
      const pages = pagesOf(db, id)
      return { id, pages, isAll: pages.length < maxPages }
    }
    return differencesBetween(crawledOf(before), crawledOf(audit))
  }
}

function planOf(audit: Audit, labels: LabelMembers, own: ServerBrowsing): CrawlPlan {
  const { device, vendorRequests, consent, startUrls, sitemap, include, exclude } = audit
  const { maxPages, maxDepth, respectRobots, delayMs, settleMs, expect } = audit
  return {
    browsing: {
      ...own,
      device: device as CrawlPlan['browsing']['device'],
      vendorRequests,
      secrets: [],
      // Affects only screenshots, which audits do not take.
      privacy: PLAIN_PRIVACY,
      userAgentSuffix: `Tagwarden/${version}`,
    },
    startUrls,
    sitemap,
    include,
    exclude,
    maxPages,
    maxDepth,
    respectRobots,
    delayMs,
    settleMs,
    expect,
    labels,
    consent: { mode: consent.mode, selectors: consent.selectors ?? [] },
  }
}

const DIFFERENCES_MAX = 1000

/** The pages of one crawl. */
export interface Crawled {
  id: string
  pages: readonly AuditPage[]
  /** True when the crawl visited every page instead of stopping at the page limit. */
  isAll: boolean
}

/**
 * Returns the differences from the previous crawl. A page that is missing from one crawl is listed as new or gone only
 * when that crawl visited all pages. For pages that could not be loaded, only the status is compared.
 */
export function differencesBetween(before: Crawled, after: Crawled): Differences {
  const old = new Map(before.pages.map((page) => [page.url, page]))
  const present = new Map(after.pages.map((page) => [page.url, page]))
  const all = [
    ...after.pages.flatMap((page) => {
      const was = old.get(page.url)
      if (was) return changesOf(was, page)
      return before.isAll ? [{ url: page.url, change: 'page_new', vendor: null, event: null } as const] : []
    }),
    ...before.pages.flatMap(({ url }) =>
      after.isAll && !present.has(url) ? [{ url, change: 'page_gone', vendor: null, event: null } as const] : [],
    ),
  ]
  return { since: before.id, pages: all.slice(0, DIFFERENCES_MAX) }
}

function changesOf(was: AuditPage, is: AuditPage): Differences['pages'] {
  const { url } = is
  const status = was.status === is.status ? [] : [{ url, change: 'status', vendor: null, event: null } as const]
  if (isFailed(was) || isFailed(is)) return status
  const gone = tagsMissingIn(is, was).map((tag) => ({ url, change: 'tag_gone', ...tag }) as const)
  const added = tagsMissingIn(was, is).map((tag) => ({ url, change: 'tag_new', ...tag }) as const)
  return [...status, ...gone, ...added]
}

/** Returns the distinct tags of `other` that are missing from `page`. */
function tagsMissingIn(page: AuditPage, other: AuditPage): { vendor: string; event: string }[] {
  const spell = ({ vendor, event }: { vendor: string; event: string }) => JSON.stringify([vendor, event])
  const there = new Set(page.tags.map(spell))
  const missing = new Map(other.tags.map(({ vendor, event }) => [spell({ vendor, event }), { vendor, event }]))
  return [...missing].filter(([key]) => !there.has(key)).map(([, tag]) => tag)
}
