import type { GapWatch } from '../signals/gap-watch.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { Job } from './job.ts'

/** Sees whether the clock was put back, calls `putBack` then, and leaves signs of life, so that times in which there were none are known. */
export function heartbeatJob(watch: Pick<ClockWatch, 'look'>, gaps: Pick<GapWatch, 'beat'>, putBack: () => void): Job {
  return {
    name: 'heartbeat',
    pattern: '* * * * * *',
    async run() {
      if (watch.look()) putBack()
      gaps.beat()
    },
  }
}
