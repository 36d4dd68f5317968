import { encodeBody } from './body.ts'
import { type Call, isDone } from './calls.ts'
import type { Frame } from './frame.ts'
import type { PageStats } from './page-stats.ts'
import { randomId } from './session.ts'

/** A tag run by the tag manager: an item of `tags`. */
export interface TagReport {
  id: string
  ts: number
  container: string
  tagId: string
  name?: string
  event?: string
  status?: 'ok' | 'failure' | 'exception' | 'timeout'
  execMs?: number
  /** Further metadata of the tag. */
  params?: Record<string, string>
}

/** An event of this script itself: an item of `events`. */
export interface Notice {
  id: string
  ts: number
  vendor: string
  event: string
  account?: string
}

/** One item to be sent, with its frame. */
export type Item =
  | { list: 'hits'; frame: Frame; call: Call; id: string }
  | { list: 'tags'; frame: Frame; tag: TagReport }
  | { list: 'events'; frame: Frame; event: Notice }
  | { list: 'pageStats'; frame: Frame; stats: PageStats }

/** A batch in the shape of section 3 of the contract, without token and `sentAt`, which are added when it is sent. */
export interface Batch {
  batchId: string
  /** Approximate, in characters. */
  length: number
  content: Record<string, unknown>
}

/** Limits of one batch. Each request costs the page about as much as capturing ten items. */
const MAX_ITEMS = 50
export const MAX_LENGTH = 30_000
/** The collector refuses longer URLs, for which one character too many is enough. */
const MAX_URL_LENGTH = 16 * 1024 + 1
/** With a longer one the whole batch would be refused. */
const MAX_TITLE_LENGTH = 4000
/** Approximate length of an item without URL and body. */
const ITEM_LENGTH = 150
/** How long a call waits for its outcome before it is sent without. */
export const OUTCOME_TIMEOUT_MS = 10_000

/** True when the item may be sent: it is complete, or has waited long enough. */
export function isReady(item: Item, now: number): boolean {
  if (item.list !== 'hits') return true
  const { call } = item
  return isDone(call) || now - call.at > OUTCOME_TIMEOUT_MS
}

/** Approximate, in characters. */
export function lengthOf(item: Item): number {
  if (item.list === 'pageStats') return item.stats.vendors.length * 200
  if (item.list === 'tags') return ITEM_LENGTH + JSON.stringify(item.tag.params ?? '').length
  if (item.list !== 'hits') return ITEM_LENGTH
  const { url, content } = item.call
  return ITEM_LENGTH + url.length + (content?.length ?? 0)
}

/** Cuts items into batches, in order; those of one batch share their frame. */
export function batchesOf(items: readonly Item[]): Batch[] {
  const batches: Batch[] = []
  let frame: Frame | null = null
  let size = 0
  for (const item of items) {
    const length = lengthOf(item)
    const last = batches.at(-1)
    const isFull = !last || size >= MAX_ITEMS || last.length + length > MAX_LENGTH
    if (isFull || item.frame !== frame) {
      frame = item.frame
      size = 0
      batches.push(add({ batchId: randomId(), length: 0, content: contentOf(frame) }, item, length))
    } else add(last, item, length)
    size++
  }
  return batches
}

function contentOf({ declared, sessionId, sampleRate, page }: Frame): Record<string, unknown> {
  return { ...declared, sessionId, sampleRate, page: { ...page, title: page.title.slice(0, MAX_TITLE_LENGTH) } }
}

function add(batch: Batch, item: Item, length: number): Batch {
  batch.length += length
  const { content } = batch
  if (item.list === 'pageStats') content.pageStats = item.stats
  else {
    const list = (content[item.list] as unknown[] | undefined) ?? []
    content[item.list] = list
    list.push(item.list === 'hits' ? hitOf(item.call, item.id) : item.list === 'tags' ? item.tag : item.event)
  }
  return batch
}

function hitOf({ ts, url, method, type, content, outcome, durMs, bytes }: Call, id: string) {
  return {
    id,
    ts,
    url: url.slice(0, MAX_URL_LENGTH),
    method,
    ...(content === null ? {} : encodeBody(content)),
    type,
    status: outcome ?? undefined,
    durMs: durMs ?? undefined,
    bytes: bytes ?? undefined,
  }
}
