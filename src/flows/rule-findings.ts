import type { Alert } from '../alerts/alert.ts'
import { conditionsOf, targetOf } from '../conditions/condition.ts'
import { describeViolation, joinWords } from '../conditions/condition-text.ts'
import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { StoredEvent } from '../core/event.ts'
import { eventName, stepName } from './finding-text.ts'
import { conditionEventOf } from './match-expectations.ts'
import type { RunEvent, RunFinding, StepResult } from './run-result.ts'

/** A run whose events are validated against the active rules. */
export interface JudgedByRules {
  runId: string
  orgId: string
  /** Null when only rules for all domains apply. */
  domainId: string | null
  steps: readonly StepResult[]
  events: readonly RunEvent[]
}

/** Active rules of the organization that owns the run. */
export interface Rules {
  /**
   * Returns, for each event, the ids of the alerts whose rules it violates; null for an event whose evaluation timed
   * out.
   */
  judge(events: readonly StoredEvent[]): Promise<readonly (readonly string[] | null)[]>
  /** Returns the alert with its labels resolved; null when it was deleted. */
  alertOf(id: string): Alert | null
  privacy: Privacy
}

/** Fields that are known for events of real visitors but can't be determined in a test browser. */
const UNKNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...['title', 'customerId', 'execMs', 'durMs', 'bytes', 'version'],
  ...['browser', 'browserVersion', 'os', 'device', 'language', 'release', 'country'],
])

/**
 * Returns a finding of kind `rule` for each combination of an active alert and a kind of event (vendor and name) that
 * violates it. The finding describes the first such event. Rules that read fields unknown in a run are skipped.
 */
export async function ruleFindings(run: JudgedByRules, { judge, alertOf, privacy }: Rules): Promise<RunFinding[]> {
  const found = new Map<string, RunFinding>()
  const judged = run.events.map((event) => ({ event, stored: storedOf(event, run) }))
  const verdicts = await judge(judged.map(({ stored }) => stored))
  for (const [index, { event, stored }] of judged.entries()) {
    for (const id of verdicts[index] ?? []) {
      const key = JSON.stringify([id, event.vendor, event.event])
      const alert = found.has(key) ? null : alertOf(id)
      if (alert && !asksUnknown(alert)) found.set(key, findingOf(alert, stored, event, run.steps, privacy))
    }
  }
  return [...found.values()]
}

function asksUnknown(alert: Alert): boolean {
  return conditionsOf(alert).some((condition) => {
    const target = targetOf(condition)
    return target.kind === 'field' && UNKNOWN_FIELDS.has(target.field)
  })
}

function findingOf(
  alert: Alert,
  stored: StoredEvent,
  { step }: RunEvent,
  steps: readonly StepResult[],
  privacy: Privacy,
): RunFinding {
  const { always, here } = describeViolation(alert, stored, privacy.regions)
  const did = joinWords([...always, ...here]) || 'broke the rule'
  const name = maskPersonal(alert.name, '', privacy)
  return {
    kind: 'rule',
    step,
    vendor: maskPersonal(stored.vendor, '$vendor', privacy),
    event: maskPersonal(stored.event, '$event', privacy),
    sentence: `${eventName(stored, privacy)} triggers the alert “${name}” in ${stepName(step, steps, privacy)}: it ${did}`,
    expected: 'no event that breaks the rule',
    observed: did.replace(/^had /, ''),
  }
}

/** Converts an event from a run to the form that it would have if the site had sent it to the collector. */
function storedOf(seen: RunEvent, { runId, orgId, domainId }: JudgedByRules): StoredEvent {
  return {
    ...conditionEventOf(seen),
    seq: 0,
    id: '',
    ts: seen.at,
    receivedAt: seen.at,
    orgId,
    domainId: domainId ?? '',
    env: 'prod',
    kind: 'event',
    // A run is treated as one session.
    sessionId: runId,
    status: conditionEventOf(seen).status,
    weight: 1,
    violations: null,
  }
}
