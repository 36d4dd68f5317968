import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import { type NotifierDeps, notifyHeldOpening } from '../integrations/delivery/notifier.ts'
import { releaseThrottled } from '../integrations/delivery/outbox.ts'

/** Adds to the outbox what a throttle held back and allows now, and starts sending what is pending. */
export function deliver(parts: NotifierDeps, dispatcher: Dispatcher): void {
  releaseThrottled(parts.db, parts.clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
  dispatcher.start()
}
