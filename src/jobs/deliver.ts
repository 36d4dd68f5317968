import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import { type NotifierDeps, notifyHeldOpening } from '../integrations/delivery/notifier.ts'
import { releaseThrottled } from '../integrations/delivery/outbox.ts'

/** Queues messages that a throttle no longer holds back, and starts sending pending messages. */
export function deliver(parts: NotifierDeps, dispatcher: Dispatcher): void {
  releaseThrottled(parts.db, parts.clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
  dispatcher.start()
}
