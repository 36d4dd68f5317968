import { callJira, fieldsIn, isCloud, type JiraContext } from './jira-client.ts'
import { CATEGORIES, type Category } from './jira-state.ts'

export interface Status {
  id: string
  name: string
  /** Null: it has none of those. */
  category: Category | null
}

/** A ticket as Jira describes it. */
export interface FoundTicket {
  id: string
  key: string
  status: Status
  labels: string[]
}

const PAGE = 100
/** More pages than this are not read. */
const MAX_PAGES = 20

interface Page {
  issues?: unknown[]
  /** Of a Data Center. */
  total?: number
  /** Of Cloud; left out at the end. */
  nextPageToken?: string
}

/** Tickets that fit, at most 2,000. What was written in the last seconds may be missing: Jira's search is behind. */
export async function searchTickets(context: JiraContext, jql: string): Promise<FoundTicket[]> {
  const found: FoundTicket[] = []
  const query = { jql, maxResults: PAGE, fields: ['status', 'labels'] }
  let place: object = isCloud(context) ? {} : { startAt: 0 }
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await callJira<Page>(context, 'POST', isCloud(context) ? '/search/jql' : '/search', {
      ...query,
      ...place,
    })
    // Each costs far more here than there, where it may be a single letter.
    const issues = Array.isArray(page.issues) ? page.issues.slice(0, PAGE) : []
    found.push(...issues.map(ticketIn))
    const isEnd = isCloud(context) ? !page.nextPageToken : found.length >= (page.total ?? 0)
    if (isEnd || issues.length === 0) break
    place = isCloud(context) ? { nextPageToken: page.nextPageToken } : { startAt: found.length }
  }
  return found
}

/** A text in JQL. */
export const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** The status of a ticket. Fails as `ask` does. */
export async function statusOf(context: JiraContext, key: string): Promise<Status> {
  return ticketIn(await callJira(context, 'GET', `/issue/${encodeURIComponent(key)}?fields=status`)).status
}

const MAX_LABELS = 1000

export function ticketIn(value: unknown): FoundTicket {
  const { id, key, fields } = fieldsIn(value)
  const { status, labels } = fieldsIn(fields)
  return {
    id: wordIn(id),
    key: wordIn(key),
    status: statusIn(status),
    labels: Array.isArray(labels) ? labels.slice(0, MAX_LABELS).map(wordIn) : [],
  }
}

/** A status as Jira writes it. */
export function statusIn(value: unknown): Status {
  const { id, name, statusCategory } = fieldsIn(value)
  const { key } = fieldsIn(statusCategory)
  return {
    id: wordIn(id ?? name),
    name: wordIn(name),
    category: CATEGORIES.find((one) => one === key) ?? null,
  }
}

/** A text, or a number as one; empty when it is neither. */
const wordIn = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
