import type { Change } from '#client/types.gen'
import type { Standing } from '../../parts/status-mark.tsx'

/** The mark of each verdict. */
export const CHANGE_MARKS: Record<Change['status'], Standing> = {
  ...{ watching: 'learning', regressed: 'failed', clean: 'resolved', unclear: 'learning' },
}
