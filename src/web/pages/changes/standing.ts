import type { Change } from '#client/types.gen'
import type { Standing } from '../../parts/status-mark.tsx'

/** How a verdict is marked. */
export const STANDING: Record<Change['status'], Standing> = {
  ...{ watching: 'learning', regressed: 'failed', clean: 'resolved', unclear: 'learning' },
}
