import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import { type NotifierDeps, notifyHeldOpening } from '../integrations/delivery/notifier.ts'
import { releaseThrottled } from '../integrations/delivery/outbox.ts'

/** Queues messages that are no longer held back by a throttle, and starts sending pending messages. */
export function deliver(parts: NotifierDeps, dispatcher: Dispatcher): void {
  releaseThrottled(parts.db, parts.clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
  dispatcher.start()
}
