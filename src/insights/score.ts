import type { Severity } from '../alerts/alert.ts'
import { isConsentKind, kindInWords } from '../compliance/finding.ts'
import { capitalized, countText, shareText } from '../core/text.ts'

/** A signal that is followed and not muted. */
export interface SignalHealth {
  vendor: string
  event: string
  state: 'learning' | 'normal' | 'high' | 'low' | 'silent' | 'off'
  /** Weighted events of the last hour that ended, and how many are usual; null when unknown. */
  observed: number | null
  expected: number | null
}

/** Events of one vendor whose status is known, by weight. */
interface VendorStatus {
  vendor: string
  known: number
  failed: number
}

/** Events of one name that break one rule, and all events of that name, by weight. */
interface BrokenRule {
  alert: string
  severity: Severity
  vendor: string
  event: string
  violating: number
  total: number
}

/** A finding of compliance that nobody ignores. */
interface OpenFinding {
  vendor: string
  key: string
  kind: string
}

/** What a time, as a rule the last 24 hours, says of one domain. Names are as they are shown: personal data is masked. */
export interface DomainHealth {
  name: string
  /** Which time: `the week`; left out: `24 hours`. */
  time?: string
  /** False when no event came in that time. */
  hasEvents: boolean
  signals: readonly SignalHealth[]
  vendors: readonly VendorStatus[]
  rules: readonly BrokenRule[]
  findings: readonly OpenFinding[]
  /** Share of the time in which nothing could be collected because of this server, 0 to 1. */
  gapShare: number
}

/** A part of a score: the share that is left, 0 to 1, and what took the rest. */
export interface Health {
  left: number
  causes: Cause[]
}

/** `loss`: the share of the score that it takes by itself, 0 to 1. */
interface Cause {
  loss: number
  text: string
}

/** The most that one vendor takes of a domain's availability. */
const VENDOR_LOSS = 0.5
/** Failures up to this share are usual: visitors leave, networks break. */
const USUAL_FAILURES = 0.02
/** One signal of a vendor with many counts at least so much of the vendor. */
const SIGNAL_SHARE = 0.2
/** A signal is low though nobody knows how much is usual. */
const LOW_WITHOUT_EXPECTATION = 0.5
/** What a rule takes of accuracy when all of its events break it; the square root of their share otherwise. */
const SEVERITY_LOSS: Readonly<Record<Severity, number>> = { low: 0.2, medium: 0.3, high: 0.5, critical: 0.8 }
/** What a finding takes of compliance; kinds that are not named here take `OTHER_FINDING_LOSS`. */
const FINDING_LOSS = new Map([
  ['email', 0.15],
  ['phone', 0.15],
  ['card', 0.3],
  ['iban', 0.3],
])
const OTHER_FINDING_LOSS = 0.1

/**
 * Returns how much of a domain's tags work. Each vendor takes the larger of what its failures and its silent or low
 * signals take, at most half; gaps of ours take their share. Nothing is left without an event.
 */
export function availabilityOf(health: DomainHealth): Health {
  if (!health.hasEvents) {
    return { left: 0, causes: [{ loss: 1, text: `no event came from ${health.name} in ${health.time ?? '24 hours'}` }] }
  }
  const vendors = new Set([...health.signals, ...health.vendors].map(({ vendor }) => vendor))
  const causes = [...vendors].flatMap((vendor) => vendorCause(vendor, health) ?? [])
  if (health.gapShare > 0) {
    causes.push({
      loss: health.gapShare,
      text: `nothing could be collected for ${shareText(health.gapShare)} of the time`,
    })
  }
  return healthOf(causes)
}

function vendorCause(vendor: string, { name, signals, vendors }: DomainHealth): Cause | null {
  const own = signals.filter((signal) => signal.vendor === vendor)
  const status = vendors.find((one) => one.vendor === vendor)
  const failed = status && status.known > 0 ? status.failed / status.known : 0
  const failing = Math.max(0, (failed - USUAL_FAILURES) / (1 - USUAL_FAILURES))
  const worst = own.toSorted((a, b) => lossOf(b) - lossOf(a)).at(0)
  const weight = Math.max(1 / Math.max(1, own.length), SIGNAL_SHARE)
  const missing = Math.min(1, own.reduce((sum, signal) => sum + lossOf(signal), 0) * weight)
  const loss = VENDOR_LOSS * Math.max(failing, missing)
  if (loss <= 0) return null
  const text =
    failing >= missing || !worst
      ? `${shareText(failed)} of ${vendor} failed on ${name}`
      : `${[vendor, worst.event].filter(Boolean).join(' ')} is ${worst.state} on ${name}`
  return { loss, text }
}

/** The share of a signal's events that is missing, 0 to 1. */
function lossOf({ state, observed, expected }: SignalHealth): number {
  if (state === 'silent') return 1
  if (state !== 'low') return 0
  if (observed === null || expected === null || expected <= 0) return LOW_WITHOUT_EXPECTATION
  return Math.min(1, Math.max(0, 1 - observed / expected))
}

/**
 * Returns how much of a domain's data is right: each rule takes the square root of the share of events that break it,
 * by its severity, for each name of an event by itself.
 */
export function accuracyOf({ name, rules }: DomainHealth): Health {
  return healthOf(
    rules.flatMap(({ alert, severity, vendor, event, violating, total }) => {
      const share = Math.min(1, violating / Math.max(total, violating, 1))
      if (share <= 0) return []
      const events = [vendor, event].filter(Boolean).join(' ')
      const text = `${shareText(share)} of ${events} events on ${name} break "${alert}"`
      return [{ loss: SEVERITY_LOSS[severity] * Math.sqrt(share), text }]
    }),
  )
}

/** Returns how much of a domain is free of findings: each takes its share, by its kind. */
export function complianceOf({ name, findings }: DomainHealth): Health {
  return healthOf(
    findings.map(({ vendor, key, kind }) => ({
      loss: FINDING_LOSS.get(kind) ?? OTHER_FINDING_LOSS,
      text: `${kindInWords(kind)}${isConsentKind(kind) ? '' : ` in ${key}`} of ${vendor} on ${name}`,
    })),
  )
}

function healthOf(causes: readonly Cause[]): Health {
  return { left: causes.reduce((left, { loss }) => left * (1 - loss), 1), causes: [...causes] }
}

/** A score, and why it is not 100. */
export interface Score {
  score: number
  detail: string
}

/** The most causes that a score names. */
const MAX_NAMED = 3

/**
 * Returns the score of several domains, 0 to 100, of none 100: half the mean of what is left, half the worst, so that one broken
 * domain among many shows. `otherwise`: what is said when nothing is wrong.
 */
export function scoreOf(domains: readonly Health[], otherwise: string): Score {
  const left = domains.length > 0 ? domains.map((domain) => domain.left) : [1]
  const mean = left.reduce((sum, one) => sum + one, 0) / left.length
  const worst = Math.min(...left)
  const causes = domains
    .flatMap((domain) => domain.causes)
    .toSorted((a, b) => b.loss - a.loss || (a.text < b.text ? -1 : 1))
  const named = causes.slice(0, MAX_NAMED).map(({ text }) => text)
  const more = causes.length - named.length
  const rest = more > 0 ? [`and ${countText(more)} more`] : []
  const [first = '', ...others] = [...named, ...rest]
  const detail = named.length > 0 ? `${[capitalized(first), ...others].join('; ')}.` : otherwise
  return { score: Math.round(((mean + worst) / 2) * 100), detail }
}
