import { isFailed } from '../audits/expected-page.ts'
import { maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { Instant } from '../core/clock.ts'
import type { RunEvent, RunFinding, StepResult } from '../flows/run.ts'
import { oneLine } from '../integrations/message/one-line.ts'

/** What every shared page says of its run. */
interface Base {
  /** Of the flow test, or of the audit. */
  name: string
  startedAt: Instant
  finishedAt: Instant
  /** Where it ran: the server's name for itself. */
  region: string
  /** What ended it early; null: nothing did. */
  error: string | null
}

/** A finished run of a flow test. */
export interface FlowReport extends Base {
  kind: 'flow'
  /** In words: `Purchase without its transaction id`. */
  headline: string
  status: 'passed' | 'failed'
  attempts: number
  findings: readonly RunFinding[]
  steps: readonly StepResult[]
  events: readonly RunEvent[]
  /** Of the page. */
  errors: readonly string[]
}

/** A vendor's event on a page of an audit. */
interface Named {
  vendor: string
  event: string
}

/** One page of an audit. */
export interface AuditedPage {
  url: string
  status: number | null
  title: string
  loadMs: number
  requests: number
  error: string | null
  tags: readonly (Named & { account: string | null; count: number })[]
  missing: readonly { vendor: string | null; event: string | null }[]
  duplicates: readonly (Named & { count: number })[]
  beforeConsent: readonly Named[]
  errors: readonly string[]
}

/** How much is wrong with a page of an audit: it could not be loaded, something was found, or nothing. */
export function toneOf(page: AuditedPage): 'bad' | 'warn' | 'good' {
  if (isFailed(page)) return 'bad'
  const { missing, duplicates, beforeConsent, errors } = page
  return [missing, duplicates, beforeConsent, errors].some((list) => list.length > 0) ? 'warn' : 'good'
}

/** What an audit says of one page that the audit before it did not. */
export interface Difference {
  url: string
  change: 'tag_new' | 'tag_gone' | 'page_new' | 'page_gone' | 'status'
  vendor: string | null
  event: string | null
}

/** A finished audit. */
export interface AuditReport extends Base {
  kind: 'audit'
  status: 'finished' | 'failed'
  pages: readonly AuditedPage[]
  /** Pages in all; `pages` may be the first of them. */
  pagesTotal: number
  pagesFailed: number
  vendors: number
  missing: number
  duplicates: number
  beforeConsent: number
  errors: number
  /** Null: there was no audit before it. */
  differences: readonly Difference[] | null
}

export type Report = FlowReport | AuditReport

const MAX_TEXT = 1000

/**
 * Returns the report with each text fit for strangers: personal data masked, one line of at most 1,000 characters
 * without signs that change its direction.
 */
export function publicReport<R extends Report>(report: R, privacy: Privacy): R {
  const known = new Map<string, string>()
  const show = (text: string, key: string) => {
    const place = `${key} ${text}`
    const shown = known.get(place) ?? oneLine(maskPersonal(text, key, privacy), MAX_TEXT)
    known.set(place, shown)
    return shown
  }
  const copy = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return show(value, key)
    if (Array.isArray(value)) return value.map((item) => copy(item, key))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [show(name, ''), copy(item, name)]))
  }
  return copy(report, '') as R
}
