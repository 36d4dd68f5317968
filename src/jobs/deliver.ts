import type { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import { type NotifierParts, tellHeldOpening } from '../integrations/delivery/notifier.ts'
import { releaseCaps } from '../integrations/delivery/outbox.ts'

/** Adds to the outbox what a throttle held back and allows now, and starts sending what is pending. */
export function deliver(parts: NotifierParts, dispatcher: Dispatcher): void {
  releaseCaps(parts.db, parts.clock.now(), (issueId) => tellHeldOpening(parts, issueId))
  dispatcher.start()
}
