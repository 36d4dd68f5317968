import { atLeast, type Role } from '../../contract/roles.ts'
import { AppError } from '../../core/error.ts'
import type { Enqueue, IssueStatus } from '../../issues/issue.ts'
import { addHistory, claimIssue, issueFacts, setStatus } from '../../issues/store.ts'
import { tx } from '../../store/database.ts'
import { CallFailed } from '../delivery-outcome.ts'
import type { Connector } from '../providers/connector.ts'
import type { InboundContext, LinkedIssue, ProviderChange } from '../providers/provider-context.ts'
import {
  cancelSync,
  findLinkedIssue,
  isKnownCall,
  linkedIssues,
  saveCall,
  ticketKeyOf,
  updateMemory,
} from './issue-memory.ts'
import { type ContextDeps, LiveContext, openConnected } from './live-context.ts'

export interface InboundDeps extends ContextDeps {
  /** Called inside the transaction that changes an issue. */
  enqueue: Enqueue
  /** Records domain changes reported by the other service. Absent: such changes are ignored. */
  noteChange?: (change: ProviderChange & { orgId: string }) => void
}

/** Context of an integration through which another service changes issues. */
export class LiveInboundContext extends LiveContext implements InboundContext {
  private readonly id: string
  private readonly title: string
  private readonly enqueue: Enqueue
  private readonly recordChange: InboundDeps['noteChange']

  constructor(deps: InboundDeps, connector: Connector, key: { orgId: string; id: string }, signal: AbortSignal) {
    super(deps, connector, openConnected(deps, connector, key), signal)
    this.id = key.id
    this.title = connector.title
    this.enqueue = deps.enqueue
    this.recordChange = deps.noteChange
  }

  issueByTicket(ticketKey: string): LinkedIssue | null {
    return findLinkedIssue(this.deps.db, this.id, ticketKey)
  }

  issues(limit: number): LinkedIssue[] {
    return linkedIssues(this.deps.db, this.id, limit)
  }

  async remember(issueId: string, memory: unknown, of: { target?: string; ticketKey?: string } = {}): Promise<void> {
    const { target = null, ticketKey = null } = of
    updateMemory(this.deps.db, { integrationId: this.id, issueId, target }, memory, ticketKey)
  }

  setStatus(issueId: string, status: IssueStatus, by: string | null = null, target: string | null = null): boolean {
    const { db } = this.deps
    const linked = { integrationId: this.id, issueId, target }
    return tx(db, () => {
      if (!this.change(issueId, status, by ?? this.title)?.changed) return false
      cancelSync(db, linked)
      const ticketKey = ticketKeyOf(db, linked)
      if (ticketKey !== null) addHistory(db, issueId, 'tracker_status', { ticketKey, status }, this.now())
      return true
    })
  }

  setStatusAs(userId: string, issueId: string, status: IssueStatus): { changed: boolean; was: IssueStatus } | null {
    return tx(this.deps.db, () => this.change(issueId, status, userId))
  }

  private change(issueId: string, status: IssueStatus, by: string) {
    const { db } = this.deps
    const present = issueFacts(db, issueId)?.issue
    if (!present || present.orgId !== this.orgId) return null
    const was = present.status
    if (was === status) return { changed: false, was }
    try {
      const hand = { orgId: this.orgId, by, now: this.now() }
      setStatus(db, hand, issueId, status, this.enqueue)
      if (status === 'acknowledged') claimIssue(db, hand, issueId, this.enqueue)
      return { changed: true, was }
    } catch (error) {
      if (error instanceof AppError && error.code === 'conflict') return { changed: false, was }
      throw error
    }
  }

  isRepeat(key: string): boolean {
    return isKnownCall(this.deps.db, this.id, key, this.now())
  }

  noteCall(key: string): void {
    saveCall(this.deps.db, this.id, key, this.now())
  }

  editorOf(email: string): { userId: string } | null {
    const find = this.deps.db.prepare<[string, string], { userId: string; role: Role }>(
      `SELECT userId, role FROM member JOIN user ON user.id = member.userId
       WHERE orgId = ? AND lower(email) = lower(?) AND inviteHash IS NULL`,
    )
    const found = find.get(this.orgId, email)
    return found && atLeast(found.role, 'member') ? { userId: found.userId } : null
  }

  noteChange(change: ProviderChange): void {
    this.recordChange?.({ ...change, orgId: this.orgId })
  }

  /** Returns the error to send to the caller, with secrets redacted. A failed call becomes `upstream`. */
  refusal(error: unknown): Error {
    const clean = this.withoutSecrets(error)
    if (error instanceof CallFailed) return new AppError('upstream', clean.message, error.retryAfterS(this.now()))
    return error instanceof AppError ? new AppError(error.code, clean.message, error.retryAfterS) : clean
  }
}
