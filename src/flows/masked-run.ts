import { compileMask, maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import { conditionEventOf } from './match.ts'
import type { RunFacts } from './run-store.ts'

/** Returns what a run showed with personal data masked, as others' events are in samples. */
export function maskedFacts({ steps, findings, events, errors }: RunFacts, privacy: Privacy) {
  const mask = (text: string) => maskPersonal(text, '', privacy)
  const orNull = (text: string | null) => (text === null ? null : mask(text))
  const maskEvent = compileMask([], privacy)
  return {
    steps: steps.map((step) => ({
      ...step,
      title: mask(step.title),
      error: orNull(step.error),
      healed: step.healed && { before: mask(step.healed.before), after: mask(step.healed.after) },
    })),
    findings: findings.map((finding) => ({
      ...finding,
      ...{ vendor: orNull(finding.vendor), event: orNull(finding.event), sentence: mask(finding.sentence) },
      ...{ expected: orNull(finding.expected), observed: orNull(finding.observed) },
    })),
    events: events.map((event) => {
      const { vendor, event: name, account, host, path, params } = maskEvent(conditionEventOf(event))
      return { ...event, vendor, event: name, account, host, path, params }
    }),
    errors: errors.map(mask),
  }
}
