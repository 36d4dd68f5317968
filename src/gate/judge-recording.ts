import type { Alert } from '../alerts/alert.ts'
import { OrganizationRules } from '../alerts/organization-rules.ts'
import { alertTypeOf, isJudgedOnArrival } from '../alerts/types/index.ts'
import { isJourney, judgeEvents, labelsInJourney } from '../alerts/types/journey/judge-events.ts'
import {
  type Condition,
  type ConditionEvent,
  conditionsOf,
  fieldReader,
  LABEL,
  targetOf,
} from '../conditions/condition.ts'
import { describeViolation, joinWords } from '../conditions/condition-text.ts'
import { resolveLabels } from '../conditions/label-conditions.ts'
import { compileMask, maskPersonal } from '../conditions/mask-personal-data.ts'
import { compileFilters } from '../conditions/predicate.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { cutText } from '../core/text.ts'
import { eventName, violationRequirement } from '../flows/finding-text.ts'
import type { Judge } from '../ingest/decode-batch.ts'
import { parameterOf } from '../insights/suggest-rules.ts'
import type { GateRules } from './read-rules.ts'
import type { GateDomain, RecordedEvent, Recording } from './recording.ts'
import type { Check, GateFinding } from './report.ts'

/** A finding before its check has an index. */
export type Fault = Omit<GateFinding, 'check'>

/** A check with its findings. */
export interface Judged {
  check: Check
  findings: Fault[]
}

/** The alerts to apply, with labels resolved, and those that a recording can't show. */
export interface AppliedRules {
  alerts: readonly Alert[]
  skipped: readonly Check[]
  membersOf: GateRules['membersOf']
  judge: Judge
}

const MAX_LENGTH = 2000
const MAX_VALUE_LENGTH = 200
const MAX_PARAMETERS = 20

/**
 * Prepares alerts. Without a domain, the alerts of all domains apply. Disabled alerts, alerts that count events over
 * time, and alerts that name unknown labels are skipped.
 */
export function applyRules({ alerts, membersOf }: GateRules, domain: GateDomain, privacy: Privacy): AppliedRules {
  const rules = new OrganizationRules(() => privacy.regions)
  const applied: Alert[] = []
  const skipped: Check[] = []
  for (const alert of alerts) {
    const reason = reasonToSkip(alert, membersOf)
    if (reason !== null) skipped.push({ ...checkOf(alert), status: 'skipped', reason })
    else {
      const { domainId, domainIds, ...rest } = resolveLabels(alert, membersOf)
      const scope = { ...(domainId !== undefined && { domainId }), ...(domainIds && { domainIds }) }
      applied.push(domain.id === '' ? { ...rest } : { ...rest, ...scope })
    }
  }
  for (const alert of applied) rules.set(alert)
  rules.prepare()
  return { alerts: applied, skipped, membersOf, judge: (event) => rules.brokenBy(event) ?? [] }
}

function reasonToSkip(alert: Alert, membersOf: GateRules['membersOf']): string | null {
  if (!alert.enabled) return 'The alert is disabled'
  const type = alertTypeOf(alert.alertType)
  if (!isJudgedOnArrival(alert) && !isJourney(alert))
    return `${type.form.title} alerts count events over time, which a recording does not show`
  const conditions = [...conditionsOf(alert), ...type.ownConditions(alert)]
  const named = conditions.flatMap(({ parameter, values = [] }) => (parameter === LABEL ? values : []))
  const unknown = [...named, ...labelsInJourney(alert)].find((label) => membersOf(label).length === 0)
  return unknown === undefined ? null : `The members of the label “${cutText(unknown, 80, '…')}” are unknown`
}

const checkOf = ({ id, name, severity }: Alert): Check => ({
  kind: 'alert',
  id: cutText(id, 200),
  name,
  severity,
  status: 'passed',
  reason: null,
  events: null,
})

/** Returns a check for each alert, with a finding for each kind of event that violates it. */
export function judgeRules(recording: Recording, rules: AppliedRules, domain: GateDomain, privacy: Privacy): Judged[] {
  const judged = rules.alerts
    .filter((alert) => watches(alert, domain))
    .map((alert): Judged => {
      const findings = isJudgedOnArrival(alert)
        ? violationsIn(recording, alert, privacy)
        : journeyFaults(recording, alert, rules, privacy)
      const check = { ...checkOf(alert), events: scopeOf(recording, alert) }
      return { check: { ...check, status: findings.length > 0 ? 'failed' : 'passed' }, findings }
    })
  return [...judged, ...rules.skipped.map((check) => ({ check, findings: [] }))].map(({ check, findings }) => ({
    check: { ...check, name: maskPersonal(check.name, '', privacy) },
    findings,
  }))
}

function watches({ domainId, domainIds = [] }: Alert, { id }: GateDomain): boolean {
  return id === '' || (domainId === undefined && domainIds.length === 0) || [domainId, ...domainIds].includes(id)
}

/** Returns the number of events that the alert's vendors and filters select. */
function scopeOf({ events }: Recording, { vendors = [], filters = [] }: Alert): number {
  const passes = compileFilters(filters)
  return events.filter(
    ({ event }) => event.kind === 'event' && (vendors.length === 0 || vendors.includes(event.vendor)) && passes(event),
  ).length
}

function violationsIn({ events }: Recording, alert: Alert, privacy: Privacy): Fault[] {
  const broken = events.filter(({ event }) => event.violations?.includes(alert.id))
  const described = broken.map((one) => {
    const { always, here } = describeViolation(alert, one.event, privacy.regions)
    return { one, did: joinWords([...always, ...here]) || 'broke the rule' }
  })
  const groups = Map.groupBy(described, ({ one: { event }, did }) => JSON.stringify([event.vendor, event.event, did]))
  return [...groups.values()].flatMap((group): Fault[] => {
    const [first] = group
    if (!first) return []
    const { one, did } = first
    const parameters = parametersOf(alert, one, privacy)
    return [
      {
        kind: 'rule',
        ...subjectOf(one, privacy),
        sentence: cutText(`${eventName(one.event, privacy)} ${did}${placeOf(one, privacy)}`, MAX_LENGTH, '…'),
        expected: cutText(joinWords(parameters.map(({ expected }) => expected)), MAX_LENGTH, '…') || null,
        observed: cutText(did.replace(/^had /, ''), MAX_LENGTH, '…'),
        count: group.length,
        parameters,
        evidence: evidenceOf(one, privacy),
      },
    ]
  })
}

/** Returns the parameters that violate a condition, with their values. A condition on any parameter can name several. */
function parametersOf(alert: Alert, { event }: RecordedEvent, privacy: Privacy): GateFinding['parameters'] {
  const violates = (condition: Condition) => compileFilters([condition], privacy.regions)(event)
  const violated = conditionsOf({ ...alert, filters: [] }).filter(violates)
  const single = violated.flatMap((condition) => {
    if (targetOf(condition).kind !== 'any') return [condition]
    const named = Object.keys(event.params).map((key) => ({ ...condition, parameter: parameterOf(key) }))
    const causes = named.filter(violates)
    return causes.length > 0 && causes.length < named.length ? causes : [condition]
  })
  const unique = new Map(single.map((condition) => [JSON.stringify(condition), condition]))
  const shown = compileMask(conditionsOf(alert), privacy)(event)
  return [...unique.values()].slice(0, MAX_PARAMETERS).map((condition) => {
    const value = textOf(condition, shown)
    return {
      parameter: cutText(maskPersonal(condition.parameter, '', privacy), 300),
      expected: cutText(maskPersonal(violationRequirement(condition), '', privacy), MAX_LENGTH, '…'),
      observed: value === '' ? null : cutText(value, MAX_VALUE_LENGTH, '…'),
    }
  })
}

/** Returns the value that a condition reads; empty for conditions on any parameter. */
function textOf(condition: Condition, event: ConditionEvent): string {
  const target = targetOf(condition)
  if (target.kind === 'key') return Object.hasOwn(event.params, target.key) ? (event.params[target.key] ?? '') : ''
  return target.kind === 'field' ? fieldReader(target.field)(event) : ''
}

/** Returns a finding for each file whose events, which are one session, do not follow the journey. */
function journeyFaults({ files, events }: Recording, alert: Alert, { membersOf }: AppliedRules, privacy: Privacy) {
  return files.flatMap(({ name }): Fault[] => {
    const own = events.filter(({ file }) => file === name)
    const fault = judgeEvents(
      alert,
      own.map(({ event }) => event),
      membersOf,
    )
    if (fault === null) return []
    const start = own.find(({ event }) => event === fault.at)
    const { vendor, event } = fault.expected
    return [
      {
        kind: 'session',
        vendor: vendor && maskPersonal(vendor, '$vendor', privacy),
        event: event && maskPersonal(event, '$event', privacy),
        sentence: cutText(maskPersonal(`The session in ${name} ${fault.did}`, '', privacy), MAX_LENGTH, '…'),
        expected: [vendor, event].filter(Boolean).join(' ') || null,
        observed: null,
        count: 1,
        parameters: [],
        evidence: start ? evidenceOf(start, privacy) : null,
      },
    ]
  })
}

/** Returns the vendor and name of an event, with personal data masked. */
export const subjectOf = ({ event: { vendor, event } }: RecordedEvent, privacy: Privacy) => ({
  vendor: cutText(maskPersonal(vendor, '$vendor', privacy), 200),
  event: cutText(maskPersonal(event, '$event', privacy), 200),
})

/** Returns ` on /checkout/thanks`; empty when the page is unknown. */
export function placeOf({ event: { path } }: RecordedEvent, privacy: Privacy): string {
  return path === null ? '' : ` on ${cutText(maskPersonal(path, '$path', privacy), 200, '…')}`
}

/** Returns where an event is in the recording. */
export function evidenceOf({ event, file, entry, url }: RecordedEvent, privacy: Privacy): GateFinding['evidence'] {
  const { host, path, ts } = event
  const page = host === null ? path : `${host}${path ?? ''}`
  return {
    file: cutText(file, 300),
    entry,
    at: ts,
    url: cutText(maskPersonal(url, '', privacy), MAX_LENGTH),
    page: page === null ? null : cutText(maskPersonal(page, '', privacy), MAX_LENGTH),
  }
}
