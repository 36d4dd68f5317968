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

/**
 * The events, one JSON object a line, and the line that commits them. `seq` is the first event's, `place` how far behind
 * it another one is: digits of large numbers are costly. What is null or goes without saying is left out;
 * `spoolRelation` of the warehouse puts it back. What all events of a batch share is written to text once, because this
 * is where a server under load spends its time.
 */
export function linesOf(events: readonly StoredEvent[], batch: BatchRecord): string {
  const [first] = events
  let lines = ''
  if (first) {
    const isOneWeight = events.every(({ weight }) => weight === first.weight)
    const shared = JSON.stringify({
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
      weight: isOneWeight && first.weight !== 1 ? first.weight : undefined,
    }).slice(0, -1)
    for (const event of events) lines += `${shared},${ownFields(event, event.seq - first.seq, isOneWeight)}\n`
  }
  return `${lines}${JSON.stringify({ batch, events: events.length })}\n`
}

function ownFields(event: StoredEvent, place: number, isOneWeight: boolean): string {
  return JSON.stringify({
    place: place === 0 ? undefined : place,
    id: event.id === '' ? undefined : event.id,
    ts: event.ts === event.receivedAt ? undefined : event.ts,
    vendor: event.vendor,
    event: event.event,
    account: event.account ?? undefined,
    kind: event.kind === 'event' ? undefined : event.kind,
    status: event.status ?? undefined,
    execMs: event.execMs ?? undefined,
    durMs: event.durMs ?? undefined,
    bytes: event.bytes ?? undefined,
    weight: isOneWeight ? undefined : event.weight,
    violations: event.violations ?? undefined,
    params: event.params,
  }).slice(1)
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
  let lastEvent = ''
  let lines: number[] = []
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    if (end < 0) break
    if (bytes.subarray(start, start + COMMIT_MARK.length).equals(COMMIT_MARK)) {
      const batch = readMark(bytes.toString('utf8', start, end), lines.length)
      if (batch && !bytes.subarray(committed, end).includes(0)) {
        batches.push(batch)
        lastEvent = bytes.toString('utf8', lines.at(-1) ?? 0, lines.length > 0 ? start - 1 : 0) || lastEvent
        committed = end + 1
        lines = []
      }
    } else lines.push(start)
    start = end + 1
  }
  if (committed < bytes.length) truncateSync(path, committed)
  return { batches, lastSeq: lastEvent === '' ? 0 : seqOf(lastEvent) }
}

function seqOf(line: string): number {
  const { seq, place = 0 } = JSON.parse(line) as { seq: number; place?: number }
  return seq + place
}

/**
 * The batch of a commit mark behind so many lines; null when it is none. After a power cut what was not synced may have
 * holes, and a mark may be there without its events.
 */
function readMark(line: string, lines: number): BatchRecord | null {
  try {
    const { batch, events } = JSON.parse(line) as { batch: BatchRecord | null; events: number }
    return events === lines ? batch : null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
