import { AppError } from '../core/error.ts'
import { isJsonObject } from '../core/parse-json-object.ts'
import { decodeCursor, encodeCursor } from '../http/paging.ts'

/**
 * Maximum number of characters in a tool result. Claude Code rejects results longer than 50,000 characters or 25,000
 * tokens, or stores them in a file (https://code.claude.com/docs/en/mcp, MCP output limits).
 */
export const MAX_ANSWER_LENGTH = 40_000

/** One page of a response. */
export interface Page {
  answer: Record<string, unknown>
  /** Sentence that explains how to get the next page; null on the last page. */
  note: string | null
}

/** A list in a response that is not nested in another list. */
interface List {
  /** Names of the fields from the root to the list. */
  path: readonly string[]
  items: readonly unknown[]
}

type Fields = Record<string, unknown>

const lengthOf = (value: unknown) => JSON.stringify(value).length

function listsIn(fields: Fields, parents: readonly string[] = []): List[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const path = [...parents, name]
    if (Array.isArray(value)) return [{ path, items: value }]
    return isJsonObject(value) ? listsIn(value, path) : []
  })
}

function longestOf(lists: readonly List[]): List | null {
  const [longest] = lists
    .filter(({ items }) => items.length > 1)
    .map((list) => ({ list, length: lengthOf(list.items) }))
    .sort((one, other) => other.length - one.length)
  return longest?.list ?? null
}

/** Returns a copy of the response in which the list at `path` is replaced. */
function withItems(fields: Fields, path: readonly string[], items: readonly unknown[]): Fields {
  const [name = '', ...rest] = path
  return { ...fields, [name]: rest.length === 0 ? items : withItems(fields[name] as Fields, rest, items) }
}

/** Returns how many items, from the start of a list, fit into this length. At least 1. */
function countWithin(items: readonly unknown[], length: number): number {
  let left = length
  const count = items.findIndex((item) => {
    left -= lengthOf(item) + 1
    return left < 0
  })
  return Math.max(1, count < 0 ? items.length : count)
}

const goOn = (tool: string, cursor: string) =>
  `To continue, call ${tool} again with the same arguments and "cursor": "${cursor}".`

/**
 * Returns a page of the response from a route without paging. The longest list in the response is split into pages, and
 * everything else is repeated on each page. An item that is too long is not truncated. `cursor` is the cursor from the
 * previous page; undefined for the first page. Throws `invalid` for a cursor from another tool. Each page is computed
 * from a new response, so items added or removed in between shift the following items.
 */
export function pageOf(tool: string, answer: Fields, cursor: string | undefined): Page {
  const place = decodeCursor(cursor, 2)
  const lists = listsIn(answer)
  const list = place ? lists.find(({ path }) => JSON.stringify(path) === place[0]) : longestOf(lists)
  const from = place ? Number(place[1]) : 0
  if (place && !(list && Number.isSafeInteger(from) && from > 0)) {
    throw new AppError('invalid', 'cursor: is not valid for this list')
  }
  if (!list || (!place && lengthOf(answer) <= MAX_ANSWER_LENGTH)) return { answer, note: null }
  const { path } = list
  const following = list.items.slice(from)
  const items = following.slice(0, countWithin(following, MAX_ANSWER_LENGTH - lengthOf(withItems(answer, path, []))))
  const end = from + items.length
  const nextCursor = end < list.items.length ? encodeCursor([JSON.stringify(path), end]) : null
  const range = `${path.join('.')}: ${items.length === 0 ? 'none' : `${from + 1} to ${end}`} of ${list.items.length}.`
  return {
    answer: { ...withItems(answer, path, items), nextCursor },
    note: nextCursor === null ? range : `${range} ${goOn(tool, nextCursor)}`,
  }
}

/**
 * Returns a page of the response from a route with paging. When the response is too long, `ask` requests fewer items
 * from the route until the response fits or has one item.
 */
export async function shorterPage(tool: string, first: Fields, ask: (limit: number) => Promise<Fields>): Promise<Page> {
  let answer = first
  let length = lengthOf(answer)
  let count = longestOf(listsIn(answer))?.items.length ?? 0
  const asked = count
  while (length > MAX_ANSWER_LENGTH && count > 1) {
    // Requests 10 % fewer items than would fit on average, because the first items may be longer than the others.
    const limit = Math.max(1, Math.min(count - 1, Math.floor((count * MAX_ANSWER_LENGTH * 0.9) / length)))
    answer = await ask(limit)
    length = lengthOf(answer)
    count = limit
  }
  const { nextCursor } = answer
  const fewer = count < asked ? `Only ${count} of ${asked} items are included, because more would be too long. ` : ''
  return { answer, note: typeof nextCursor === 'string' ? `${fewer}${goOn(tool, nextCursor)}` : null }
}
