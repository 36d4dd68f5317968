import { type Delivering, deliverDue } from '../integrations/deliver.ts'
import { releaseCaps } from '../integrations/outbox.ts'
import type { Job } from './job.ts'

/** Sends what waits in the outbox. */
export function deliverJob(delivering: Delivering, signal: AbortSignal): Job {
  return {
    name: 'deliver',
    pattern: '* * * * * *',
    async run() {
      releaseCaps(delivering.db, delivering.clock.now())
      await deliverDue(delivering, { signal })
    },
  }
}
