import { AppError } from '../core/error.ts'
import { Closed, parser, Text, Type } from '../core/schema.ts'
import type { SecretBox } from '../core/secret-box.ts'
import { removeRecipient } from '../integrations/providers/email-digest/recipients.ts'
import { type Db, tx } from '../store/database.ts'
import { subscribe, subscriptionOf } from './store.ts'

/** What a link in a digest ends: a member's subscription, or the place of an address in an integration. */
export type Leaving =
  | { kind: 'digest'; orgId: string; userId: string }
  | { kind: 'digest'; orgId: string; integrationId: string; address: string }

const kind = Type.Literal('digest')
const LeavingSchema = Type.Union([
  Closed({ kind, orgId: Text(1, 100), userId: Text(1, 100) }),
  Closed({ kind, orgId: Text(1, 100), integrationId: Text(1, 100), address: Text(1, 254) }),
])
const parse = parser(LeavingSchema)

/** The capability that stands in a digest: whoever has it can end this, and nothing else. It never expires. */
export function leavingToken(box: SecretBox, leaving: Leaving): string {
  return box.seal(JSON.stringify(leaving)).toString('base64url')
}

/** Fails with `unauthorized` for a token that this data folder did not make. */
export function openLeaving(box: SecretBox, token: string): Leaving {
  try {
    return parse(JSON.parse(box.open(Buffer.from(token, 'base64url'))))
  } catch {
    throw new AppError('unauthorized', 't: is no token of a digest')
  }
}

/** Ends it. False when it was ended before. */
export function leave(db: Db, leaving: Leaving): boolean {
  if ('userId' in leaving) {
    return tx(db, () => subscriptionOf(db, leaving).subscribed && subscribe(db, leaving, { subscribed: false }))
  }
  const { orgId, integrationId: id, address } = leaving
  try {
    return removeRecipient(db, { orgId, id }, address)
  } catch (error) {
    if (error instanceof AppError && error.code === 'notFound') return false
    throw error
  }
}
