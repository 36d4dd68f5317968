import type { Dispatcher } from '../integrations/dispatcher.ts'
import { type NotifierParts, tellHeldOpening } from '../integrations/notifier.ts'
import { releaseCaps } from '../integrations/outbox.ts'

/** Puts into the outbox what a throttle held back and has room for now, and begins to send what waits there. */
export function deliver(parts: NotifierParts, dispatcher: Dispatcher): void {
  releaseCaps(parts.db, parts.clock.now(), (issueId) => tellHeldOpening(parts, issueId))
  dispatcher.start()
}
