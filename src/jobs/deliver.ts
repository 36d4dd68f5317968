import type { Dispatcher } from '../integrations/dispatcher.ts'
import { type NotifierParts, tellHeldOpening } from '../integrations/notifier.ts'
import { releaseCaps } from '../integrations/outbox.ts'
import type { Job } from './job.ts'

/** Puts into the outbox what a throttle held back and has room for now, and begins to send what waits there. */
export function deliverJob(parts: NotifierParts, dispatcher: Dispatcher): Job {
  return {
    name: 'deliver',
    pattern: '* * * * * *',
    async run() {
      releaseCaps(parts.db, parts.clock.now(), (issueId) => tellHeldOpening(parts, issueId))
      dispatcher.start()
    },
  }
}
