import type { Audit, FlowTest, Run, RunDetail } from '#client/types.gen'
import type { StatusIcon } from '../../components/status-mark.tsx'

/** The mark of each test status. */
export const TEST_MARKS: Record<FlowTest['status'], StatusIcon> = {
  never_run: 'learning',
  passed: 'resolved',
  failed: 'failed',
}

/** The mark of each run status. */
export const RUN_MARKS: Record<Run['status'], StatusIcon> = {
  queued: 'learning',
  running: 'learning',
  passed: 'resolved',
  failed: 'failed',
  cancelled: 'muted',
}

/** The mark of each step status. */
export const STEP_MARKS: Record<RunDetail['steps'][number]['status'], StatusIcon> = {
  passed: 'resolved',
  healed: 'acknowledged',
  failed: 'failed',
  skipped: 'muted',
}

/** The mark of each audit status. */
export const AUDIT_MARKS: Record<Audit['status'], StatusIcon> = {
  queued: 'learning',
  running: 'learning',
  finished: 'resolved',
  failed: 'failed',
  cancelled: 'muted',
}
