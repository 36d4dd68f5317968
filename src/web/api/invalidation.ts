import type { Query, QueryClient } from '@tanstack/react-query'
import type { Issue, IssueList, IssueMoved, OperationId } from '#client/types.gen'
import type { StreamedKind } from '../../contract/statuses.ts'
import { updatePages } from './pagination.ts'

/** Operations whose queries each kind of change can affect. */
const QUERIES_BY_CHANGE: Readonly<Record<StreamedKind, readonly OperationId[]>> = {
  issue: [
    'listIssues',
    'getIssue',
    'investigateIssue',
    'listIssueComments',
    'listCauses',
    'getScores',
    'getOrgValue',
    'getWeeklyReport',
    'listAlerts',
    'listDomains',
  ],
  delivery: ['listDeliveries', 'getDelivery', 'investigateIssue'],
  alert: ['listAlerts', 'getAlert', 'listSuggestions'],
  domain: ['listDomains', 'getDomain', 'listHostnames'],
  signal: ['listSignals', 'getScores'],
  change: ['listChanges', 'getVolume'],
  run: [
    'listFlowTests',
    'getFlowTest',
    'listRuns',
    'getRun',
    'listFlowReports',
    'listAudits',
    'getAudit',
    'listAuditPages',
  ],
  integration: ['listIntegrations', 'getIntegration'],
}

/** Queries that stream events can invalidate. */
const TOLD: ReadonlySet<string> = new Set(Object.values(QUERIES_BY_CHANGE).flat())

const isKind = (name: string): name is StreamedKind => Object.hasOwn(QUERIES_BY_CHANGE, name)

/** Queries for a single resource, refetched only when that resource has changed. */
const OF_ONE: ReadonlySet<string> = new Set<OperationId>([
  'getIssue',
  'investigateIssue',
  'listIssueComments',
  'getDelivery',
  'getAlert',
  'getDomain',
  'getIntegration',
])

/** Minimum time between refetches. */
const PAUSE_MS = 1000
/** Lists with more loaded pages than this are patched in place and not refetched. */
const MOST_PAGES = 5

interface Moved {
  id: string
  issueId?: string | null
}

/** Patches or refetches the queries that a stream event affects. */
export class Invalidator {
  private readonly moved = new Map<StreamedKind, Map<string, Moved>>()
  private timer: ReturnType<typeof setTimeout> | null = null
  private askedAt = 0
  private isAllOld = false
  /** Hashes of queries that became stale while they were being fetched. They are refetched afterwards. */
  private readonly late = new Set<string>()

  /** `isSeen` returns whether the tab is visible. */
  constructor(
    private readonly queries: QueryClient,
    private readonly isSeen: () => boolean,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /**
   * Called when the stream starts. Earlier responses may be outdated, so their queries are marked as stale. Only issues
   * are refetched immediately.
   */
  begin(): void {
    void this.queries.invalidateQueries({
      refetchType: 'none',
      predicate: ({ queryKey: [{ _id }] }) => TOLD.has(_id),
    })
    void this.queries.refetchQueries({ queryKey: [{ _id: 'listIssues' }], type: 'active' })
  }

  /** Refetches failed queries after the server becomes reachable again. */
  recover(): void {
    void this.queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  }

  /** Handles a stream event. */
  hear(name: string, data: unknown): void {
    if (name === 'reset') this.isAllOld = true
    else if (isKind(name)) {
      const moved = data as Moved
      const known = this.moved.get(name) ?? new Map<string, Moved>()
      this.moved.set(name, known.set(moved.id, moved))
      if (name === 'issue') this.mendIssue(data as IssueMoved)
    } else return
    this.timer ??= setTimeout(() => this.askAgain(), Math.max(0, this.askedAt + this.pauseMs - Date.now()))
  }

  /** Refetches queries that became stale while the tab was hidden. */
  catchUp(): void {
    void this.queries.refetchQueries({ type: 'active', stale: true, predicate: ({ state }) => state.isInvalidated })
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer)
  }

  private askAgain(): void {
    this.timer = null
    this.askedAt = Date.now()
    const { isAllOld } = this
    const moved = new Map(this.moved)
    const late = new Set(this.late)
    this.isAllOld = false
    this.moved.clear()
    this.late.clear()
    // In a hidden tab queries are only marked as stale.
    const refetchType = this.isSeen() ? 'active' : 'none'
    const predicate = ({ queryKey: [{ _id, path }], queryHash, state }: Query) => {
      const pages = (state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0
      if (pages > MOST_PAGES) return false
      return late.has(queryHash) || isAllOld || isOld(moved, _id, path?.id)
    }
    // Restarting a slow query on every change would prevent it from completing, so it is refetched afterwards.
    for (const { queryHash } of this.queries.getQueryCache().findAll({ fetchStatus: 'fetching', predicate })) {
      this.late.add(queryHash)
    }
    const isAnswered = (query: Query) => query.state.fetchStatus !== 'fetching' && predicate(query)
    void this.queries.invalidateQueries({ refetchType, predicate: isAnswered })
    if (this.late.size > 0) this.timer = setTimeout(() => this.askAgain(), this.pauseMs)
  }

  /** Immediately applies the event's status and severity to the cached lists. */
  private mendIssue({ id, status, severity }: IssueMoved): void {
    const mend = <T extends Pick<Issue, 'id' | 'status' | 'severity'>>(issue: T): T =>
      issue.id === id && (issue.status !== status || issue.severity !== severity)
        ? { ...issue, status, severity }
        : issue
    const inList = updatePages<IssueList>((list) =>
      list.issues.some((issue) => mend(issue) !== issue) ? { ...list, issues: list.issues.map(mend) } : list,
    )
    this.queries.setQueriesData({ queryKey: [{ _id: 'listIssues' }] }, inList)
  }
}

/** Returns whether a change affects a query. `id` identifies the queried resource. */
function isOld(moved: ReadonlyMap<StreamedKind, ReadonlyMap<string, Moved>>, question: string, id: string | undefined) {
  for (const [kind, things] of moved) {
    if (!QUERIES_BY_CHANGE[kind].some((one) => one === question)) continue
    if (!OF_ONE.has(question) || id === undefined || things.has(id)) return true
    if ([...things.values()].some(({ issueId }) => issueId === id)) return true
  }
  return false
}
