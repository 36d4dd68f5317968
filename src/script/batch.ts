import { encodeBody } from './captured-body.ts'
import type { Frame } from './page-frame.ts'
import type { PageStats } from './page-stats.ts'
import { type Call, isDone } from './recorded-requests.ts'
import { randomId } from './visitor-session.ts'

/** A tag run by the tag manager: an item of `tags`. */
export interface TagReport {
  id: string
  ts: number
  container: string
  tagId: string
  name?: string
  event?: string
  status?: 'ok' | 'failure' | 'exception' | 'timeout' | undefined
  execMs?: number | undefined
  /** Additional metadata of the tag. */
  params?: Record<string, string> | undefined
}

/** An event about this script itself: an item of `events`. */
interface Notice {
  id: string
  ts: number
  vendor: string
  event: string
  account?: string
}

/** An item to send, with its frame. */
export type Item =
  | { list: 'hits'; frame: Frame; call: Call; id: string }
  | { list: 'tags'; frame: Frame; content: TagReport; call?: never }
  | { list: 'events'; frame: Frame; content: Notice; call?: never }
  | { list: 'pageStats'; frame: Frame; content: PageStats; call?: never }

/** A batch as defined in section 3 of the contract, without `token` and `sentAt`, which are added when it is sent. */
export interface Batch {
  batchId: string
  content: Record<string, unknown>
}

/**
 * Maximum lengths of a batch, in characters: for batches that must outlive the page, and for all other batches. Other
 * batches may be longer, because each batch costs the page a millisecond.
 */
export const MAX_LENGTH = 30_000
export const MAX_LENGTH_OPEN = 100_000
/**
 * The collector rejects longer URLs. URLs are truncated to one character more than its limit, so that they are still
 * rejected.
 */
const MAX_URL_LENGTH = 16 * 1024 + 1
/** The collector would reject a whole batch with a longer title. */
const MAX_TITLE_LENGTH = 4000
/** Approximate length of a hit without URL and body. */
const ITEM_LENGTH = 150
/** Maximum time that a call waits for its outcome before it is sent without one. */
export const OUTCOME_TIMEOUT_MS = 10_000

/** True when the item is complete or has waited for the maximum time, so that it can be sent. */
export function isReady(item: Item, now: number): boolean {
  const { call } = item
  return !call || isDone(call) || now - call.at > OUTCOME_TIMEOUT_MS
}

/** Returns the approximate length in characters. */
export function lengthOf(item: Item): number {
  if (!item.call) return JSON.stringify(item.content).length
  const { url, content } = item.call
  return ITEM_LENGTH + url.length + (content?.length ?? 0)
}

/** Splits items into batches of at most this length, in order. All items of a batch share one frame. */
export function batchesOf(items: readonly Item[], maxLength: number): Batch[] {
  const batches: Batch[] = []
  let frame: Frame | undefined
  let total = 0
  let content: Record<string, unknown> = {}
  for (const item of items) {
    const length = lengthOf(item)
    total += length
    if (item.frame !== frame || total > maxLength) {
      frame = item.frame
      total = length
      content = contentOf(frame)
      batches.push({ batchId: randomId(), content })
    }
    const sent = item.call ? hitOf(item.call, item.id) : item.content
    const list = content[item.list] as unknown[] | undefined
    if (item.list === 'pageStats') content.pageStats = sent
    else if (list) list.push(sent)
    else content[item.list] = [sent]
  }
  return batches
}

function contentOf({ declared, sessionId, sampleRate, language, page }: Frame): Record<string, unknown> {
  return {
    ...declared,
    sessionId,
    sampleRate,
    language,
    page: { ...page, title: page.title.slice(0, MAX_TITLE_LENGTH) },
  }
}

function hitOf({ ts, url, method, type, content, outcome, durMs, bytes }: Call, id: string) {
  return {
    id,
    ts,
    url: url.slice(0, MAX_URL_LENGTH),
    method,
    ...(content && encodeBody(content)),
    type,
    status: outcome,
    durMs,
    bytes,
  }
}
