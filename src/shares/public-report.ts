import { isFailed } from '../audits/page-expectations.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Instant } from '../core/clock.ts'
import { oneLine } from '../core/text.ts'
import type { RunEvent, RunFinding, StepResult } from '../flows/run-result.ts'

/** Fields of every shared run. */
interface Base {
  /** Name of the flow test or audit. */
  name: string
  startedAt: Instant
  finishedAt: Instant
  /** Region of the server that executed the run. */
  region: string
  /** Error that ended the run early; null if the run completed. */
  error: string | null
}

/** A finished run of a flow test. */
export interface FlowReport extends Base {
  kind: 'flow'
  /** Summary, such as `Purchase without its transaction id`. */
  headline: string
  status: 'passed' | 'failed'
  attempts: number
  findings: readonly RunFinding[]
  steps: readonly StepResult[]
  events: readonly RunEvent[]
  /** Script errors on the page. */
  errors: readonly string[]
}

/** A vendor's event on an audited page. */
interface Named {
  vendor: string
  event: string
}

/** One page in an audit. */
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

/** Tone of an audited page: `bad` if the page failed to load, `warn` if it has findings, otherwise `good`. */
export function toneOf(page: AuditedPage): 'bad' | 'warn' | 'good' {
  if (isFailed(page)) return 'bad'
  const { missing, duplicates, beforeConsent, errors } = page
  return [missing, duplicates, beforeConsent, errors].some((list) => list.length > 0) ? 'warn' : 'good'
}

/** A difference from the previous audit. */
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
  /** Total number of pages; `pages` may be truncated. */
  pagesTotal: number
  pagesFailed: number
  vendors: number
  missing: number
  duplicates: number
  beforeConsent: number
  errors: number
  /** Null if there is no previous audit. */
  differences: readonly Difference[] | null
}

export type Report = FlowReport | AuditReport

const MAX_TEXT = 1000

/**
 * Returns a copy that is safe to publish: personal data is masked, and every string is a single line of at most 1,000
 * characters without text direction marks.
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
