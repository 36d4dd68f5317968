import { issueFacts } from '../../issues/store.ts'
import type { Db } from '../../store/database.ts'
import type { IssueChannel } from '../context/issue-memory.ts'
import { findMessage, groupedOpenings, requireMessage } from '../delivery/group-openings.ts'
import { actorName, assigneeOf } from '../delivery/notifier.ts'
import type { Message } from '../message/message.ts'
import type { GroupedIssue, StatusChange } from '../providers/provider-context.ts'

/** Current status of an issue, for display in a channel. */
export class CurrentStatusChange implements StatusChange {
  private others: readonly GroupedIssue[] | null = null

  constructor(
    private readonly db: Db,
    private readonly channel: IssueChannel,
    private readonly present: Present,
  ) {}

  get status() {
    return this.present.status
  }

  get by() {
    return this.present.by
  }

  get message() {
    return this.present.message
  }

  get groupedIssues(): readonly GroupedIssue[] {
    this.others ??= groupedIssues(this.db, this.channel)

    return this.others.length > 0 ? this.others : [this.itself]
  }

  /** Statuses that the other service shows after it has accepted the change. */
  get shown(): readonly Pick<GroupedIssue, 'issueId' | 'status'>[] {
    return this.others?.length ? this.others : [this.itself]
  }

  private get itself(): GroupedIssue {
    const { issueId } = this.channel
    return { issueId, status: this.status, message: this.message }
  }
}

type Present = Pick<StatusChange, 'status' | 'by' | 'message'>

/**
 * Null if the channel was notified neither of the opening nor of an escalation, or if that delivery was deleted.
 */
export function currentStatusChange(
  db: Db,
  { issueId, channelType, channelTarget }: IssueChannel,
): CurrentStatusChange | null {
  const opening = db
    .prepare<[string, string, string], { id: string }>(
      `SELECT id FROM delivery WHERE issueId = ? AND channelType = ? AND channelTarget = ?
         AND (transition IN ('opened', 'reopened') OR escalationStep IS NOT NULL)
       ORDER BY escalationStep IS NOT NULL, seq DESC LIMIT 1`,
    )
    .get(issueId, channelType, channelTarget)
  const message = opening && findMessage(db, opening.id)
  const present = message ? presentOf(db, issueId, message) : null
  return present ? new CurrentStatusChange(db, { issueId, channelType, channelTarget }, present) : null
}

function presentOf(db: Db, issueId: string, message: Message): Present | null {
  const issue = issueFacts(db, issueId)?.issue
  if (!message.issue || !issue) return null
  const { status, severity, occurrences, lastSeenAt, notes, assigneeId } = issue
  const by = actorName(db, issue.statusBy)
  const assignee = assigneeOf(db, assigneeId)
  const present = { ...message.issue, status, severity, occurrences, lastSeenAt, notes, assignee }
  return { status, by, message: { ...message, issue: { ...present, resolvedBy: status === 'resolved' ? by : null } } }
}

function groupedIssues(db: Db, channel: IssueChannel): GroupedIssue[] {
  return groupedOpenings(db, channel).map(({ deliveryId, issueId, status }) => ({
    issueId,
    status,
    // Loaded on demand because only some of the messages are listed.
    get message() {
      const opened = requireMessage(db, deliveryId)
      return presentOf(db, issueId, opened)?.message ?? opened
    },
  }))
}
