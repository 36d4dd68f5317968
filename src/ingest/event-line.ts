import type { Instant } from '../core/clock.ts'
import { NO_SEGMENTS, type StoredEvent } from '../core/event.ts'

// Optimisation: see docs/develop/tuning.md

/** Maximum number of events per line. Long batches are split, because the engine reads thousands of lines at a time. */
const MAX_LINE_EVENTS = 20
/**
 * Maximum length of a line in UTF-16 units. The engine accepts lines of up to 16 MiB, which is more than the largest
 * single event.
 */
const MAX_LINE_LENGTH = 1024 * 1024

/** Returns the events of a batch as lines of JSON without line endings; empty if there are no events. */
export function eventLines(events: readonly StoredEvent[]): string[] {
  const [first] = events
  if (!first) return []
  const half = Math.ceil(events.length / 2)
  const inTwo = () => [...eventLines(events.slice(0, half)), ...eventLines(events.slice(half))]
  if (events.length > MAX_LINE_EVENTS) return inTwo()
  const line = JSON.stringify(new EventLine(first, events))
  return line.length > MAX_LINE_LENGTH && events.length > 1 ? inTwo() : [line]
}

/** The values of a field, one per event; undefined until an event has one. */
type List<T> = (T | null)[] | undefined

/**
 * Events in columnar form. Shared values are stored once; every other field is a list of values. Nulls and default
 * values are omitted; the warehouse's `spoolRelation` restores them. Field names are not repeated and empty lists are
 * avoided, because a server under load spends most of its time here.
 */
class EventLine {
  readonly seq: number
  readonly receivedAt: Instant
  readonly orgId: string
  readonly domainId: string
  readonly env: StoredEvent['env'] | undefined
  readonly host: string | undefined
  readonly path: string | undefined
  readonly title: string | undefined
  readonly sessionId: string | undefined
  readonly customerId: string | undefined
  readonly version: number | undefined
  readonly browser: string | undefined
  readonly browserVersion: string | undefined
  readonly os: string | undefined
  readonly device: string | undefined
  readonly language: string | undefined
  readonly country: string | undefined
  /** Distance between the `seq` of each event and that of the first event; undefined if the numbers are consecutive. */
  readonly place: number[] | undefined
  id: List<string>
  ts: List<Instant>
  readonly vendor: string[] = []
  readonly event: string[] = []
  account: List<string>
  kind: List<string>
  status: List<string>
  execMs: List<number>
  durMs: List<number>
  bytes: List<number>
  consent: List<string>
  visitor: List<string>
  weight: List<number>
  violations: List<string[]>
  readonly params: StoredEvent['params'][] = []

  constructor(first: StoredEvent, events: readonly StoredEvent[]) {
    this.seq = first.seq
    this.receivedAt = first.receivedAt
    this.orgId = first.orgId
    this.domainId = first.domainId
    this.env = first.env === 'prod' ? undefined : first.env
    this.host = first.host ?? undefined
    this.path = first.path ?? undefined
    this.title = first.title ?? undefined
    this.sessionId = first.sessionId ?? undefined
    this.customerId = first.customerId ?? undefined
    this.version = first.version ?? undefined
    const { segments } = first
    this.browser = segments.browser ?? undefined
    this.browserVersion = segments.browserVersion ?? undefined
    this.os = segments.os ?? undefined
    this.device = segments.device ?? undefined
    this.language = segments.language ?? undefined
    this.country = segments.country ?? undefined
    const follow = events.every(({ seq }, index) => seq === first.seq + index)
    this.place = follow ? undefined : events.map(({ seq }) => seq - first.seq)
    for (const event of events) this.add(event, this.vendor.length, events.length)
  }

  private add(event: StoredEvent, at: number, of: number): void {
    this.vendor.push(event.vendor)
    this.event.push(event.event)
    this.params.push(event.params)
    if (event.id !== '') this.id = put(this.id, event.id, at, of)
    if (event.ts !== event.receivedAt) this.ts = put(this.ts, event.ts, at, of)
    if (event.account !== null) this.account = put(this.account, event.account, at, of)
    if (event.kind !== 'event') this.kind = put(this.kind, event.kind, at, of)
    if (event.status !== null) this.status = put(this.status, event.status, at, of)
    if (event.execMs !== null) this.execMs = put(this.execMs, event.execMs, at, of)
    if (event.durMs !== null) this.durMs = put(this.durMs, event.durMs, at, of)
    if (event.bytes !== null) this.bytes = put(this.bytes, event.bytes, at, of)
    const { consent, visitor } = event.segments
    if (consent !== NO_SEGMENTS.consent) this.consent = put(this.consent, consent, at, of)
    if (visitor !== null) this.visitor = put(this.visitor, visitor, at, of)
    if (event.weight !== 1) this.weight = put(this.weight, event.weight, at, of)
    if (event.violations !== null) this.violations = put(this.violations, event.violations, at, of)
  }
}

/** Sets one value in the list and returns the list. A new list is filled with null. */
function put<T>(list: List<T>, value: T, at: number, length: number): List<T> {
  const values = list ?? new Array<T | null>(length).fill(null)
  values[at] = value
  return values
}
