import { callJira, fieldsIn, isCloud, type JiraContext } from './jira-client.ts'
import { CATEGORIES, type Category } from './jira-state.ts'

export interface Status {
  id: string
  name: string
  /** Null if unknown. */
  category: Category | null
}

/** A ticket as returned by Jira. */
export interface FoundTicket {
  id: string
  key: string
  status: Status
  labels: string[]
}

const PAGE = 100
const MAX_PAGES = 20

interface Page {
  issues?: unknown[]
  /** Data Center only. */
  total?: number
  /** Cloud only. Absent on the last page. */
  nextPageToken?: string
}

/**
 * Returns at most 2,000 matching tickets. Changes made in the last few seconds can be missing because Jira updates its
 * index with a delay.
 */
export async function searchTickets(context: JiraContext, jql: string): Promise<FoundTicket[]> {
  const found: FoundTicket[] = []
  const query = { jql, maxResults: PAGE, fields: ['status', 'labels'] }
  let position: object = isCloud(context) ? {} : { startAt: 0 }
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await callJira<Page>(context, 'POST', isCloud(context) ? '/search/jql' : '/search', {
      ...query,
      ...position,
    })
    // Limits the work that a hostile response can cause.
    const issues = Array.isArray(page.issues) ? page.issues.slice(0, PAGE) : []
    found.push(...issues.map(ticketIn))
    const isEnd = isCloud(context) ? !page.nextPageToken : found.length >= (page.total ?? 0)
    if (isEnd || issues.length === 0) break
    position = isCloud(context) ? { nextPageToken: page.nextPageToken } : { startAt: found.length }
  }
  return found
}

/** Quotes a string for JQL. */
export const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, '\\$&')}"`

/** Fetches the status of a ticket. Fails as `callJira` does. */
export async function statusOf(context: JiraContext, key: string): Promise<Status> {
  return ticketIn(await callJira(context, 'GET', `/issue/${encodeURIComponent(key)}?fields=status`)).status
}

const MAX_LABELS = 1000

export function ticketIn(value: unknown): FoundTicket {
  const { id, key, fields } = fieldsIn(value)
  const { status, labels } = fieldsIn(fields)
  return {
    id: textIn(id),
    key: textIn(key),
    status: statusIn(status),
    labels: Array.isArray(labels) ? labels.slice(0, MAX_LABELS).map(textIn) : [],
  }
}

/** Parses a status. */
export function statusIn(value: unknown): Status {
  const { id, name, statusCategory } = fieldsIn(value)
  const { key } = fieldsIn(statusCategory)
  return {
    id: textIn(id ?? name),
    name: textIn(name),
    category: CATEGORIES.find((one) => one === key) ?? null,
  }
}

/** Returns a string, or a number as a string. Empty for other values. */
const textIn = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '')
