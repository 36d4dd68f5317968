import { type Delivering, deliverDue } from '../integrations/deliver.ts'
import { type NotifierParts, tellHeldOpening } from '../integrations/notifier.ts'
import { releaseCaps } from '../integrations/outbox.ts'
import type { Job } from './job.ts'

/** Sends what waits in the outbox, and first what a throttle held back and has room for now. */
export function deliverJob(delivering: Delivering & NotifierParts, signal: AbortSignal): Job {
  return {
    name: 'deliver',
    pattern: '* * * * * *',
    async run() {
      releaseCaps(delivering.db, delivering.clock.now(), (issueId) => tellHeldOpening(delivering, issueId))
      await deliverDue(delivering, { signal })
    },
  }
}
