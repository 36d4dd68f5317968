import { readFileSync, truncateSync } from 'node:fs'
import type { Instant } from '../core/clock.ts'
import type { StoredEvent } from '../core/event.ts'
import type { StoredPage } from '../core/page.ts'
import type { BatchAnswer } from './batch.ts'
import type { LedgerNote } from './understand.ts'

/** What a batch leaves beside its events. Its line in the spool is the batch's commit mark. */
export interface BatchRecord {
  /** Domain and batchId; null for a batch without one, which is never recognised again. */
  key: string | null
  orgId: string
  domainId: string
  receivedAt: Instant
  answer: BatchAnswer
  ledger: LedgerNote[]
  /** What the batch said of the speed of vendors' code; absent: nothing. */
  pages?: StoredPage[]
}

const COMMIT_MARK = Buffer.from('{"batch":')

/** The engine reads thousands of lines at a time, and each whole, so a long batch takes several. */
const MAX_LINE_EVENTS = 20
/** In UTF-16 units. The engine takes lines of up to 16 MiB, more than the largest single event. */
const MAX_LINE_LENGTH = 1024 * 1024

/**
 * A batch as lines of JSON, without their ends: its events, and the line that commits them. A line of events holds once what they share, and
 * of everything else a list with the value of each; what is null or goes without saying is left out, and `spoolRelation`
 * of the warehouse puts it back. `JSON.stringify` is called once for many events and writes no name of a field twice,
 * because this is where a server under load spends its time.
 */
export function linesOf(events: readonly StoredEvent[], batch: BatchRecord): string[] {
  const lines = events.length > 0 ? eventLines(events) : []
  return [...lines, JSON.stringify({ batch, lines: lines.length })]
}

function eventLines(events: readonly StoredEvent[]): string[] {
  const half = Math.ceil(events.length / 2)
  const inTwo = () => [...eventLines(events.slice(0, half)), ...eventLines(events.slice(half))]
  if (events.length > MAX_LINE_EVENTS) return inTwo()
  const line = JSON.stringify(lineOf(events))
  return line.length > MAX_LINE_LENGTH && events.length > 1 ? inTwo() : [line]
}

function lineOf(events: readonly StoredEvent[]) {
  const [first] = events
  if (!first) return {}
  return {
    seq: first.seq,
    receivedAt: first.receivedAt,
    orgId: first.orgId,
    domainId: first.domainId,
    env: first.env === 'prod' ? undefined : first.env,
    host: first.host ?? undefined,
    path: first.path ?? undefined,
    title: first.title ?? undefined,
    sessionId: first.sessionId ?? undefined,
    customerId: first.customerId ?? undefined,
    version: first.version ?? undefined,
    place: placesOf(events, first.seq),
    id: listOf(events, ({ id }) => (id === '' ? null : id)),
    ts: listOf(events, ({ ts, receivedAt }) => (ts === receivedAt ? null : ts)),
    vendor: events.map(({ vendor }) => vendor),
    event: events.map(({ event }) => event),
    account: listOf(events, ({ account }) => account),
    kind: listOf(events, ({ kind }) => (kind === 'event' ? null : kind)),
    status: listOf(events, ({ status }) => status),
    execMs: listOf(events, ({ execMs }) => execMs),
    durMs: listOf(events, ({ durMs }) => durMs),
    bytes: listOf(events, ({ bytes }) => bytes),
    weight: listOf(events, ({ weight }) => (weight === 1 ? null : weight)),
    violations: listOf(events, ({ violations }) => violations),
    params: events.map(({ params }) => params),
  }
}

/** How far each is behind the first; undefined where they follow each other. */
function placesOf(events: readonly StoredEvent[], firstSeq: number): number[] | undefined {
  const places = events.map(({ seq }) => seq - firstSeq)
  return places.every((place, index) => place === index) ? undefined : places
}

function listOf<T>(
  events: readonly StoredEvent[],
  valueIn: (event: StoredEvent) => T | null,
): (T | null)[] | undefined {
  const values = events.map(valueIn)
  return values.every((value) => value === null) ? undefined : values
}

/** What a file holds for sure. */
export interface Kept {
  batches: BatchRecord[]
  /** Of the last event; 0 when there is none. */
  lastSeq: number
}

export const NOTHING_KEPT: Kept = { batches: [], lastSeq: 0 }

/** Cuts the file behind its last commit mark and answers what stays. */
export function recoverSegment(path: string): Kept {
  const bytes = readFileSync(path)
  const batches: BatchRecord[] = []
  let committed = 0
  let lastLine = ''
  let lines: number[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    if (end < 0) break
    if (bytes.subarray(start, start + COMMIT_MARK.length).equals(COMMIT_MARK)) {
      const batch = readMark(bytes.toString('utf8', start, end), lines.length)
      if (batch && !bytes.subarray(committed, end).includes(0)) {
        batches.push(batch)
        lastLine = bytes.toString('utf8', lines.at(-1) ?? 0, lines.length > 0 ? start - 1 : 0) || lastLine
        committed = end + 1
        lines = []
      }
    } else lines.push(start)
    start = end + 1
  }
  if (committed < bytes.length) truncateSync(path, committed)
  return { batches, lastSeq: lastLine === '' ? 0 : lastSeqOf(lastLine) }
}

function lastSeqOf(line: string): number {
  const { seq, place, vendor } = JSON.parse(line) as { seq: number; place?: number[]; vendor: string[] }
  return seq + (place?.at(-1) ?? vendor.length - 1)
}

/**
 * The batch of a commit mark behind so many lines; null when it is none. After a power cut what was not synced may have
 * holes, and a mark may be there without its events.
 */
function readMark(line: string, lines: number): BatchRecord | null {
  try {
    const mark = JSON.parse(line) as { batch: BatchRecord | null; lines: number }
    return mark.lines === lines ? mark.batch : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
