import type { Change } from '#client/types.gen'
import type { StatusIcon } from '../../components/status-mark.tsx'

/** The mark of each verdict. */
export const CHANGE_MARKS: Record<Change['status'], StatusIcon> = {
  watching: 'learning',
  regressed: 'failed',
  clean: 'resolved',
  unclear: 'learning',
}
