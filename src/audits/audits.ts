import { version } from '../../package.json'
import { type Browsers, FAULT_OF_OURS, type OwnBrowsing } from '../browser/browsers.ts'
import { UnderWay } from '../browser/under-way.ts'
import { PLAIN_PRIVACY, type Privacy } from '../conditions/privacy.ts'
import { type Clock, HOUR_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { type LabelMembers, membersOfNamed } from '../flows/match-expectations.ts'
import type { Enqueue } from '../issues/issue.ts'
import { AUDIT } from '../issues/kinds.ts'
import { applyRunFindings } from '../issues/run-findings.ts'
import { membersOf } from '../labels/store.ts'
import { type Db, tx } from '../store/database.ts'
import type { Audit, Differences } from './audit.ts'
import type { CrawlMessage, CrawlPlan } from './crawl-plan.ts'
import { differencesBetween } from './differences.ts'
import { type PageJudge, pageJudge } from './judge-page.ts'
import {
  addPage,
  beginAudit,
  endAudit,
  failCutOffAudits,
  finishedBefore,
  type KeptAudit,
  pagesOf,
  queueDueAudits,
  waitingAudits,
} from './store.ts'
import { Tally } from './tally.ts'

export interface AuditsParts {
  db: Db
  clock: Clock
  browsers: Pick<Browsers, 'run' | 'fault'>
  enqueue: Enqueue
  privacyOf(orgId: string): Privacy
  report(error: unknown, where: string): void
}

/** The longest that a crawl may take; 2,000 pages of a host that asks for a pause of 10 s are done in less. */
const CRAWL_MAX_MS = 6 * HOUR_MS

/** Carries out the audits that wait. */
export class Audits {
  private readonly underWay = new UnderWay<KeptAudit & { id: string }>()

  /** Audits that a stop or a kill cut off are ended. */
  constructor(private readonly parts: AuditsParts) {
    failCutOffAudits(parts.db, parts.clock.now())
  }

  /** Returns why none can be carried out, and what to do; null: they can. */
  fault(): string | null {
    return this.parts.browsers.fault()
  }

  /** Queues what is due, and begins what waits; returns at once. */
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

  /** Ends an audit that was cancelled. */
  stop(auditId: string): void {
    this.underWay.cancel(({ id }) => id === auditId)
  }

  /** Resolves when no audit is under way. */
  idle(): Promise<void> {
    return this.underWay.idle()
  }

  /** Ends the audits under way, which are failed with what they saw; those that wait are begun after the next start. */
  close(): Promise<void> {
    return this.underWay.close()
  }

  private async carryOut(kept: KeptAudit, stopping: AbortSignal): Promise<void> {
    const { db, clock, browsers, privacyOf } = this.parts
    const { orgId, audit } = kept
    const tally = new Tally()
    let judge: PageJudge | null = null
    let labels: LabelMembers = {}
    let told: { error: string | null } | null = null
    const gone = new AbortController()
    const { error } = await browsers.run<CrawlPlan, CrawlMessage>({
      ...{ orgId, task: 'crawl', limitMs: CRAWL_MAX_MS, pauses: true },
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
    // It waits on: the next start begins it.
    if (judge === null && stopping.aborted) return
    const ended = told as { error: string | null } | null
    this.end(kept, tally, error ?? (ended ? ended.error : 'the crawl ended without its last word'))
  }

  private end({ orgId, seriesId, audit }: KeptAudit, tally: Tally, error: string | null): void {
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

  /** Ends an audit that could not be carried out for a fault of ours; what it saw is kept. */
  private failFor({ audit: { id } }: KeptAudit, fault: unknown): void {
    const { db, clock, report } = this.parts
    report(fault, `audit ${id}: ${messageOf(fault)}`)
    endAudit(db, id, { error: FAULT_OF_OURS, now: clock.now(), differences: null })
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

function planOf(audit: Audit, labels: LabelMembers, own: OwnBrowsing): CrawlPlan {
  const { device, vendorRequests, consent, startUrls, sitemap, include, exclude } = audit
  const { maxPages, maxDepth, respectRobots, delayMs, settleMs, expect } = audit
  return {
    browsing: {
      ...own,
      device: device as CrawlPlan['browsing']['device'],
      vendorRequests,
      secrets: [],
      // An audit takes no screenshots.
      privacy: PLAIN_PRIVACY,
      userAgentSuffix: `Tagwarden/${version}`,
    },
    ...{ startUrls, sitemap, include, exclude, maxPages, maxDepth, respectRobots, delayMs, settleMs },
    ...{ expect, labels },
    consent: { mode: consent.mode, selectors: consent.selectors ?? [] },
  }
}
