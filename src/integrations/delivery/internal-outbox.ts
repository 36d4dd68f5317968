import type { Clock, Instant } from '../../core/clock.ts'
import { newId } from '../../core/id.ts'
import type { SecretBox } from '../../core/secret-box.ts'
import { ensureInternalOrg, INTERNAL_ORG_ID } from '../../org/internal-org.ts'
import type { SecurityNotice } from '../../org/security-mail.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { InternalTransition } from '../message/message.ts'
import type { InternalChannelType } from '../providers/internal/internal-channel-types.ts'
import type { StoredNotice } from '../providers/internal/internal-channels.ts'

/** Target of the operator's channels. Their addresses are settings. */
const OPERATOR_TARGET = 'operator'

/** Adds a message to the operator to the outbox. The internal organization must exist. */
export function enqueueOperatorNotice(db: Db, notice: StoredNotice, channels: readonly InternalChannelType[]): void {
  tx(db, () => {
    for (const type of channels) {
      enqueueInternal(db, { transition: 'operator', type, target: OPERATOR_TARGET, message: notice, at: notice.at })
    }
  })
}

/** Adds the e-mail about a security event to the outbox, inside the caller's transaction. */
export function enqueueSecurityMail(
  { db, box, clock }: { db: Db; box: SecretBox; clock: Clock },
  notice: SecurityNotice,
): void {
  ensureInternalOrg(db, box, clock)
  const { to, at } = notice
  enqueueInternal(db, { transition: 'security', type: 'security_mail', target: to, message: notice, at })
}

interface InternalDelivery {
  transition: InternalTransition
  type: InternalChannelType
  target: string
  message: object
  at: Instant
}

function enqueueInternal(db: Db, { message, at, ...delivery }: InternalDelivery): void {
  prepared(
    db,
    `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
       attempts, dueAt, createdAt)
     VALUES (@id, @orgId, @transition, @id, @id, @type, @target, @message, 'pending', 0, @at, @at)`,
  ).run({ ...delivery, id: newId('dlv', at), orgId: INTERNAL_ORG_ID, message: JSON.stringify(message), at })
}
