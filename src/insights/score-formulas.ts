import { isConsentKind, kindInWords } from '../compliance/compliance-finding.ts'
import type { Severity } from '../contract/severities.ts'
import { capitalized, countText, shareText } from '../core/text.ts'

/** State of a monitored signal that is not muted. */
export interface SignalHealth {
  vendor: string
  event: string
  state: 'learning' | 'normal' | 'high' | 'low' | 'silent' | 'off'
  /** Weighted events in the last complete hour, and the expected number; null when unknown. */
  observed: number | null
  expected: number | null
}

/** Weights of one vendor's events with a known status. */
interface VendorStatus {
  vendor: string
  known: number
  failed: number
}

/** Weights of events with one name: those that break a rule, and all of them. */
interface BrokenRule {
  alert: string
  severity: Severity
  vendor: string
  event: string
  violating: number
  total: number
}

/** A compliance finding that is not ignored. */
interface OpenFinding {
  vendor: string
  key: string
  kind: string
}

/** Facts about one domain in a period, usually the last 24 hours. Personal data in names is masked. */
export interface DomainHealth {
  name: string
  /** Name of the period, such as `the week`. Default: `24 hours`. */
  time?: string
  /** False when no event was received in the period. */
  hasEvents: boolean
  signals: readonly SignalHealth[]
  vendors: readonly VendorStatus[]
  rules: readonly BrokenRule[]
  findings: readonly OpenFinding[]
  /** Share of the period in which this server could not collect events, 0 to 1. */
  gapShare: number
}

/** The part of a score that is left, 0 to 1, and the causes of the loss. */
export interface Health {
  left: number
  causes: Cause[]
}

/** `loss`: the part of the score that is lost to this cause alone, 0 to 1. */
interface Cause {
  loss: number
  text: string
}

/** Maximum availability loss of a domain due to one vendor. */
const VENDOR_LOSS = 0.5
/** Share of failures that is normal, because visitors leave pages and networks fail. */
const USUAL_FAILURES = 0.02
/** Minimum weight of one signal relative to its vendor. Takes effect for vendors with many events. */
const SIGNAL_SHARE = 0.2
/** Loss for a low signal when its expected count is unknown. */
const LOW_WITHOUT_EXPECTATION = 0.5
/**
 * Accuracy loss when all events break a rule. For a smaller share of events, it is multiplied by the square root of the
 * share.
 */
const SEVERITY_LOSS: Readonly<Record<Severity, number>> = { low: 0.2, medium: 0.3, high: 0.5, critical: 0.8 }
/** Compliance loss by kind of finding. Other kinds cost `OTHER_FINDING_LOSS`. */
const FINDING_LOSS = new Map([
  ['email', 0.15],
  ['phone', 0.15],
  ['card', 0.3],
  ['iban', 0.3],
])
const OTHER_FINDING_LOSS = 0.1

/**
 * Returns the availability of a domain's tags. Each vendor costs at most half: the larger of its loss from failures and
 * its loss from silent and low signals. Gaps in collection cost their share of the period. Without events the result is
 * 0.
 */
export function availabilityOf(health: DomainHealth): Health {
  if (!health.hasEvents) {
    return {
      left: 0,
      causes: [{ loss: 1, text: `no event was received from ${health.name} in ${health.time ?? '24 hours'}` }],
    }
  }
  const vendors = new Set([...health.signals, ...health.vendors].map(({ vendor }) => vendor))
  const causes = [...vendors].flatMap((vendor) => vendorCause(vendor, health) ?? [])
  if (health.gapShare > 0) {
    causes.push({
      loss: health.gapShare,
      text: `no events could be collected for ${shareText(health.gapShare)} of the time`,
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
      ? `${shareText(failed)} of ${vendor} events failed on ${name}`
      : `${[vendor, worst.event].filter(Boolean).join(' ')} is ${worst.state} on ${name}`
  return { loss, text }
}

/** Returns the share of a signal's events that is missing, 0 to 1. */
function lossOf({ state, observed, expected }: SignalHealth): number {
  if (state === 'silent') return 1
  if (state !== 'low') return 0
  if (observed === null || expected === null || expected <= 0) return LOW_WITHOUT_EXPECTATION
  return Math.min(1, Math.max(0, 1 - observed / expected))
}

/**
 * Returns the accuracy of a domain's data. For each event name, a rule costs the square root of the share of events
 * that break it, multiplied by the loss for its severity.
 */
export function accuracyOf({ name, rules }: DomainHealth): Health {
  return healthOf(
    rules.flatMap(({ alert, severity, vendor, event, violating, total }) => {
      const share = Math.min(1, violating / Math.max(total, violating, 1))
      if (share <= 0) return []
      const events = [vendor, event].filter(Boolean).join(' ')
      const text = `${shareText(share)} of ${events} events on ${name} violate "${alert}"`
      return [{ loss: SEVERITY_LOSS[severity] * Math.sqrt(share), text }]
    }),
  )
}

/** Returns the compliance of a domain. Each finding costs a share that depends on its kind. */
export function complianceOf({ name, findings }: DomainHealth): Health {
  return healthOf(
    findings.map(({ vendor, key, kind }) => ({
      loss: FINDING_LOSS.get(kind) ?? OTHER_FINDING_LOSS,
      text: isConsentKind(kind)
        ? `${vendor} on ${name}: ${kindInWords(kind)}`
        : `${kindInWords(kind)} in ${key} of ${vendor} on ${name}`,
    })),
  )
}

function healthOf(causes: readonly Cause[]): Health {
  return { left: causes.reduce((left, { loss }) => left * (1 - loss), 1), causes: [...causes] }
}

/** A score and the reasons why it is below 100. */
export interface Score {
  score: number
  detail: string
}

/** Maximum number of causes listed for a score. */
const MAX_NAMED = 3

/**
 * Returns the score of several domains, 0 to 100 (100 for no domains). It is the average of the mean and the minimum
 * over all domains, so that one broken domain among many is visible. `otherwise`: text used when nothing is wrong.
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
