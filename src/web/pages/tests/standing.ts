import type { Audit, FlowTest, Run, RunDetail } from '#client/types.gen'
import type { Standing } from '../../parts/status-mark.tsx'

/** How a last result is marked. */
export const TEST_STANDING: Record<FlowTest['status'], Standing> = {
  ...{ never_run: 'learning', passed: 'resolved', failed: 'failed' },
}

/** How a run is marked. */
export const RUN_STANDING: Record<Run['status'], Standing> = {
  ...{ queued: 'learning', running: 'learning', passed: 'resolved', failed: 'failed', cancelled: 'muted' },
}

/** How a step of a run is marked. */
export const STEP_STANDING: Record<RunDetail['steps'][number]['status'], Standing> = {
  ...{ passed: 'resolved', healed: 'acknowledged', failed: 'failed', skipped: 'muted' },
}

/** How an audit is marked. */
export const AUDIT_STANDING: Record<Audit['status'], Standing> = {
  ...{ queued: 'learning', running: 'learning', finished: 'resolved', failed: 'failed', cancelled: 'muted' },
}
