import type { Db } from '../store/database.ts'
import type { Outcome } from './reply.ts'
import { noteLastAttempt, setIntegrationStatus } from './store.ts'

/**
 * Gives an integration the status that follows from its last attempt: `connected` or `failing`, unless somebody has to mend it
 * first, which only a test that arrives says has been done. Does nothing for an address (null).
 */
export function noteOutcome(db: Db, id: string | null, outcome: Outcome, { isTest = false } = {}): void {
  if (id === null || outcome.verdict === 'wait' || outcome.verdict === 'stopped') return
  if (outcome.verdict === 'broken' && outcome.status) return setIntegrationStatus(db, id, outcome.status)
  if (outcome.verdict !== 'delivered') return noteLastAttempt(db, id, 'failing')
  if (isTest) return setIntegrationStatus(db, id, 'connected')
  noteLastAttempt(db, id, 'connected')
}
