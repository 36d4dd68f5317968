import type { Dispatcher } from './dispatcher.ts'
import { type NotifierDeps, notifyHeldOpening } from './notifier.ts'
import { releaseThrottled } from './outbox.ts'
import { releaseWithheld } from './release-withheld.ts'

/** Queues messages that are no longer held back by a throttle or a maintenance window, and starts sending pending messages. */
export function deliver(parts: NotifierDeps, dispatcher: Dispatcher): void {
  releaseThrottled(parts.db, parts.clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
  releaseWithheld(parts.db, parts.clock.now(), (issueId) => notifyHeldOpening(parts, issueId))
  dispatcher.start()
}
