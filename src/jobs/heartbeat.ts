import type { GapWatch } from '../signals/gap-watch.ts'
import type { Job } from './job.ts'

/** Leaves signs of life, so that times in which there were none are known. */
export function heartbeatJob(gaps: Pick<GapWatch, 'beat'>): Job {
  return { name: 'heartbeat', pattern: '* * * * * *', run: async () => gaps.beat() }
}
