import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { cutText } from '../core/text.ts'
import type { Expectation } from '../flows/expectation.ts'
import { judgeRun } from '../flows/judge-run.ts'
import { membersOfNamed } from '../flows/match-expectations.ts'
import type { RunEvent, RunFinding, StepResult } from '../flows/run-result.ts'
import type { MembersOf } from '../labels/label.ts'
import { evidenceOf, type Judged, subjectOf } from './judge-recording.ts'
import type { GateExpectations } from './read-rules.ts'
import type { RecordedEvent, Recording } from './recording.ts'

/** A recorded event with the page visit in which it was sent. */
interface VisitEvent {
  one: RecordedEvent
  run: RunEvent
}

/**
 * Checks a recording against the expectations of a flow test. A recording has no steps, so its page visits take their
 * place, and the expectations of all steps apply to the whole recording.
 */
export function judgeExpectations(
  recording: Recording,
  { name, expectations }: GateExpectations,
  { membersOf, privacy }: { membersOf: MembersOf; privacy: Privacy },
): Judged {
  const { steps, events } = visitsOf(recording)
  const whole = forWholeRun(expectations)
  const found = judgeRun({
    steps,
    events: events.map(({ run }) => run),
    error: null,
    expectations: whole,
    labels: membersOfNamed(whole, membersOf),
    privacy,
  })
  const title = name === '' ? 'Expected events' : `Expected events of ${maskPersonal(name, '', privacy)}`
  return {
    check: {
      kind: 'expectation',
      id: null,
      name: cutText(title, 300),
      severity: null,
      status: found.length > 0 ? 'failed' : 'passed',
      reason: null,
      events: events.length,
    },
    findings: found.map((finding) => ({
      kind: finding.kind,
      vendor: finding.vendor,
      event: finding.event,
      sentence: cutText(finding.sentence, 4000, '…'),
      expected: finding.expected && cutText(finding.expected, 4000, '…'),
      observed: finding.observed && cutText(finding.observed, 4000, '…'),
      count: 1,
      parameters: [],
      evidence: evidenceFor(finding, events, privacy),
    })),
  }
}

/**
 * Returns expectations without steps that every run which meets the given ones also meets. Equal expectations of
 * several steps are added up. A maximum within a step says nothing about the other steps, so it is dropped.
 */
function forWholeRun(expectations: readonly Expectation[]): Expectation[] {
  const groups = Map.groupBy(expectations, ({ label, vendor, event, account, data }) =>
    JSON.stringify([label, vendor, event, account, data]),
  )
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const { step: _, min: __, max: ___, withinMs: ____, ...expected } = first
    const whole = group.filter(({ step }) => step === undefined)
    const least = ({ min = 1, max = null }: Expectation) => (max === 0 ? 0 : min)
    const inSteps = group.filter(({ step }) => step !== undefined).reduce((sum, one) => sum + least(one), 0)
    const min = Math.max(inSteps, ...whole.map(least))
    const limits = whole.flatMap(({ max = null }) => (max === null ? [] : [max]))
    const max = limits.length > 0 ? Math.min(...limits) : null
    return min === 0 && max === null ? [] : [{ ...expected, min: Math.min(min, 10_000), max }]
  })
}

/** Divides a recording into page visits: consecutive events on the same page. */
function visitsOf({ events }: Recording): { steps: StepResult[]; events: VisitEvent[] } {
  const steps: StepResult[] = []
  const visited: VisitEvent[] = []
  let place: string | null = null
  for (const one of events) {
    const { vendor, event, account, params, host, path, kind, ts } = one.event
    if (kind !== 'event') continue
    const page = JSON.stringify([one.file, host, path])
    if (page !== place) {
      place = page
      steps.push(stepOf(steps.length, path ?? one.file, ts))
    }
    const step = steps.length - 1
    const { status } = one
    visited.push({ one, run: { step, at: ts, vendor, event, account, params, host, path, status, answered: false } })
  }
  return { steps, events: visited }
}

const stepOf = (index: number, title: string, at: number): StepResult => ({
  index,
  type: 'navigate',
  title,
  status: 'passed',
  startedAt: at,
  durationMs: null,
  error: null,
  healed: null,
  screenshot: false,
})

/** Returns where the event of a finding is; null when the event is missing. */
function evidenceFor({ kind, step, vendor, event }: RunFinding, events: readonly VisitEvent[], privacy: Privacy) {
  if (kind === 'missing') return null
  const same = events.filter(({ one, run }) => {
    const subject = subjectOf(one, privacy)
    return run.step === step && subject.vendor === vendor && subject.event === event
  })
  const seen = kind === 'duplicate' ? same.at(-1) : same[0]
  return seen ? evidenceOf(seen.one, privacy) : null
}
