import { HOUR_MS } from '../../core/clock.ts'
import type { IssueKind } from './kind.ts'

/** A run may come every few minutes, and nobody needs its message each time: as with anomalies. */
const TOLD_AGAIN_MS = 12 * HOUR_MS

/** A kind whose issues are about what a run found, and not about counts of events. */
const ofRuns = (kind: string, title: string, unit: { one: string; many: string }): IssueKind => ({
  ...{ kind, title, countsFirings: false, clearsAtOnce: true, tellsAgainAfterMs: TOLD_AGAIN_MS },
  unit: { ...unit, meaning: 'runs with it' },
  text: {
    title: ({ name, finding }) => `${name}: ${finding.summary}`,
    summary: ({ summary }) => summary ?? `the ${unit.one} found a fault`,
    expected: null,
  },
  evidence: { seriesDescription: 'runs with it', series: () => 'occurrences', validMatchesViolating: false },
})

/** Issues of flow tests: `alertId` is the test's id. */
export const FLOW_TEST: IssueKind = ofRuns('flow_test', 'Flow test', { one: 'run', many: 'runs' })

/** Issues of audits: `alertId` is the id of the first audit of that name. */
export const AUDIT: IssueKind = ofRuns('audit', 'Audit', { one: 'audit', many: 'audits' })
