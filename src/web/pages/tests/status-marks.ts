import type { Audit, FlowTest, Run, RunDetail } from '#client/types.gen'
import type { Standing } from '../../parts/status-mark.tsx'

/** The mark of each test status. */
export const TEST_MARKS: Record<FlowTest['status'], Standing> = {
  ...{ never_run: 'learning', passed: 'resolved', failed: 'failed' },
}

/** The mark of each run status. */
export const RUN_MARKS: Record<Run['status'], Standing> = {
  ...{ queued: 'learning', running: 'learning', passed: 'resolved', failed: 'failed', cancelled: 'muted' },
}

/** The mark of each step status. */
export const STEP_MARKS: Record<RunDetail['steps'][number]['status'], Standing> = {
  ...{ passed: 'resolved', healed: 'acknowledged', failed: 'failed', skipped: 'muted' },
}

/** The mark of each audit status. */
export const AUDIT_MARKS: Record<Audit['status'], Standing> = {
  ...{ queued: 'learning', running: 'learning', finished: 'resolved', failed: 'failed', cancelled: 'muted' },
}
