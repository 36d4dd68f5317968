import type { AlertChannel } from '../../alerts/alert.ts'
import { OneOf, parser, Type } from '../../core/schema.ts'
import type { Transition } from '../../issues/issue.ts'
import { type Db, prepared } from '../../store/database.ts'
import { parseTarget } from '../channel-targets.ts'
import type { Connector } from '../providers/connector.ts'

/** Status changes that an integration can be notified of. */
const NOTIFIABLE = ['opened', 'reopened', 'repeated', 'resolved'] as const satisfies readonly Transition[]

/** The `notify` field, which every integration that sends notifications has. */
export const NotifySchema = Type.Array(OneOf(NOTIFIABLE), {
  minItems: 1,
  maxItems: NOTIFIABLE.length,
  uniqueItems: true,
  title: 'Notify on',
  description: 'Which notifications to send; empty: all. A resolution is sent only if the opening was sent',
})

const parse = parser(NotifySchema)

/** A configuration, split into provider settings and the shared `notify` field. */
interface SplitConfig {
  own: Record<string, unknown>
  shared: { notify?: Transition[] }
}

/**
 * Extracts `notify` from the `config` of a request. If it is absent, all transitions are included. Fails with
 * `invalid`, naming the field.
 */
export function extractNotify(config: Record<string, unknown>, { notifies }: Connector): SplitConfig {
  const { notify, ...own } = config
  if (!notifies || notify === undefined) return { own: config, shared: {} }
  return { own, shared: { notify: parse(notify, 'config.notify') } }
}

/**
 * Removes channels whose integration excludes the transition. Resolutions are sent only to channels that received the
 * opening.
 */
export function wantedChannels(
  db: Db,
  channels: readonly AlertChannel[],
  { issueId, transition }: { issueId: string; transition: Transition },
): AlertChannel[] {
  return channels.filter((channel) => {
    const notify = notifyOf(db, channel)
    if (notify === null) return true
    return notify.includes(transition) && (transition !== 'resolved' || hasOpening(db, issueId, channel))
  })
}

/** Transitions for which the channel's integration receives notifications. Null: all transitions. */
function notifyOf(db: Db, { target }: AlertChannel): Transition[] | null {
  const { integrationId } = parseTarget(target)
  if (integrationId === null) return null
  const sql = `SELECT json_extract(config, '$.notify') AS notify FROM integration WHERE id = ?`
  const row = prepared<[string], { notify: string | null }>(db, sql).get(integrationId)
  return row?.notify ? JSON.parse(row.notify) : null
}

/** True if the channel was notified of the issue's last opening, or of its escalation since. */
function hasOpening(db: Db, issueId: string, { type, target }: AlertChannel): boolean {
  const opening = prepared<[object], { at: number }>(
    db,
    `SELECT 1 AS at FROM delivery
     WHERE issueId = @issueId AND channelType = @type AND channelTarget = @target
       AND (transition IN ('opened', 'reopened') OR escalationStep IS NOT NULL)
       AND status <> 'withdrawn' AND createdAt >= ifnull((
         SELECT max(createdAt) FROM issueHistory
         WHERE issueHistory.issueId = @issueId AND kind IN ('opened', 'reopened')), 0)
     LIMIT 1`,
  ).get({ issueId, type, target })
  return opening !== undefined
}
