import type { Change, GateReport } from '#client/types.gen'
import type { StatusIcon } from '../../components/status-mark.tsx'

/** The mark of each verdict. */
export const CHANGE_MARKS: Record<Change['status'], StatusIcon> = {
  watching: 'learning',
  regressed: 'failed',
  clean: 'resolved',
  unclear: 'learning',
}

/** The mark of each status of a run or check of the release gate. */
export const GATE_MARKS: Record<GateReport['checks'][number]['status'], StatusIcon> = {
  passed: 'resolved',
  failed: 'failed',
  skipped: 'learning',
}
