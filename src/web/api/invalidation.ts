import type { Query, QueryClient, QueryKey } from '@tanstack/react-query'
import type { Issue, IssueList, IssueMoved } from '#client/types.gen'
import { updatePages } from './pagination.ts'

/** The questions whose answers a change of each kind can alter, by the ids of their routes. */
export const QUERIES_BY_CHANGE: Readonly<Record<string, readonly string[]>> = {
  issue: [
    ...['listIssues', 'getIssue', 'investigateIssue', 'listCauses', 'getScores', 'getOrgValue', 'getWeeklyReport'],
    ...['listAlerts', 'listDomains'],
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

/** Answers that the stream tells to be old. */
const TOLD = new Set(Object.values(QUERIES_BY_CHANGE).flat())

const questionOf = (key: QueryKey) => (key[0] as { _id?: string } | undefined)?._id ?? ''

/** Questions about one thing are asked again only when that thing changed. */
const OF_ONE = new Set(['getIssue', 'investigateIssue', 'getDelivery', 'getAlert', 'getDomain', 'getIntegration'])

/** At most so often questions are asked again. */
const PAUSE_MS = 1000
/** A list of which more pages are loaded is not asked for as a whole: what is known of it is mended in place. */
const MOST_PAGES = 5

interface Moved {
  id: string
  issueId?: string | null
}

/** Mends or asks again the answers on screen that a change of the stream makes old. */
export class Invalidator {
  private readonly moved = new Map<string, Map<string, Moved>>()
  private timer: ReturnType<typeof setTimeout> | null = null
  private askedAt = 0
  private isAllOld = false
  /** Questions whose answer was on its way when it became old, by their hash. */
  private readonly late = new Set<string>()

  /** `isSeen` tells whether anybody looks at the tab. */
  constructor(
    private readonly queries: QueryClient,
    private readonly isSeen: () => boolean,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /**
   * From now on changes are heard; what was asked before may have missed some of those that the stream tells. Only the
   * issues are asked for at once.
   */
  begin(): void {
    void this.queries.invalidateQueries({
      refetchType: 'none',
      predicate: ({ queryKey }) => TOLD.has(questionOf(queryKey)),
    })
    void this.queries.refetchQueries({ queryKey: [{ _id: 'listIssues' }], type: 'active' })
  }

  /** The server is there again after it was not: asks again what it could not be asked. */
  recover(): void {
    void this.queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' })
  }

  /** Takes an event of the stream. */
  hear(name: string, data: unknown): void {
    if (name === 'reset') this.isAllOld = true
    else if (QUERIES_BY_CHANGE[name]) {
      const moved = data as Moved
      const known = this.moved.get(name) ?? new Map<string, Moved>()
      this.moved.set(name, known.set(moved.id, moved))
      if (name === 'issue') this.mendIssue(data as IssueMoved)
    } else return
    this.timer ??= setTimeout(() => this.askAgain(), Math.max(0, this.askedAt + this.pauseMs - Date.now()))
  }

  /** The tab is looked at again: asks what became old meanwhile. */
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
    // Nobody looks: the answers are only known to be old.
    const refetchType = this.isSeen() ? 'active' : 'none'
    const predicate = ({ queryKey, queryHash, state }: Query) => {
      const [key] = queryKey as [{ _id?: string; path?: { id?: string } }?]
      const pages = (state.data as { pages?: unknown[] } | undefined)?.pages?.length ?? 0
      if (pages > MOST_PAGES) return false
      return late.has(queryHash) || (key?._id !== undefined && (isAllOld || isOld(moved, key._id, key.path?.id)))
    }
    // Begun anew at each change, a question that takes long would never be answered: it is asked again when its answer is there.
    for (const { queryHash } of this.queries.getQueryCache().findAll({ fetchStatus: 'fetching', predicate })) {
      this.late.add(queryHash)
    }
    const isAnswered = (query: Query) => query.state.fetchStatus !== 'fetching' && predicate(query)
    void this.queries.invalidateQueries({ refetchType, predicate: isAnswered })
    if (this.late.size > 0) this.timer = setTimeout(() => this.askAgain(), this.pauseMs)
  }

  /** What the event itself says is on screen at once. */
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

/** True when one of these changes alters the answer to the question; `id` is of the thing that it is about. */
function isOld(moved: ReadonlyMap<string, ReadonlyMap<string, Moved>>, question: string, id: string | undefined) {
  for (const [kind, things] of moved) {
    if (!QUERIES_BY_CHANGE[kind]?.includes(question)) continue
    if (!OF_ONE.has(question) || id === undefined || things.has(id)) return true
    if ([...things.values()].some(({ issueId }) => issueId === id)) return true
  }
  return false
}
