import { newId } from '../../core/id.ts'
import { INTERNAL_ORG_ID } from '../../org/internal-org.ts'
import { type Db, prepared, tx } from '../../store/database.ts'
import type { InternalChannelType } from '../providers/internal/internal-channel-types.ts'
import type { StoredNotice } from '../providers/internal/internal-channels.ts'

/** Target of the operator's channels. Their addresses are settings. */
const OPERATOR_TARGET = 'operator'

/** Adds a message to the operator to the outbox. The internal organization must exist. */
export function enqueueOperatorNotice(db: Db, notice: StoredNotice, channels: readonly InternalChannelType[]): void {
  const insert = prepared(
    db,
    `INSERT INTO delivery (id, orgId, transition, noticeKey, transitionKey, channelType, channelTarget, message, status,
       attempts, dueAt, createdAt)
     VALUES (@id, @orgId, 'operator', @id, @id, @type, @target, @message, 'pending', 0, @at, @at)`,
  )
  const message = JSON.stringify(notice)
  tx(db, () => {
    for (const type of channels) {
      const id = newId('dlv', notice.at)
      insert.run({ id, orgId: INTERNAL_ORG_ID, type, target: OPERATOR_TARGET, message, at: notice.at })
    }
  })
}
