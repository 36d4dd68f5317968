import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cast, testClock } from '../../test/fixtures.ts'
import type { Instant } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import type { StoredEvent } from '../core/event.ts'
import { domainDirectory } from '../domains/domain-directory.ts'
import { createDomain, findDomain } from '../domains/store.ts'
import { RateLimit } from '../http/rate-limit.ts'
import { type Db, openDatabase, tx } from '../store/database.ts'
import { Collector } from './collector.ts'
import type { Judge } from './decode-batch.ts'
import { recordSegment } from './record-segment.ts'
import { SeenBatches } from './seen-batches.ts'
import { EMPTY_SEGMENT } from './segment-counts.ts'
import { Spool } from './spool.ts'

export interface Property {
  orgId: string
  id: string
  token: string
}

/** Options for sending a batch. */
export interface Sending {
  token?: string | null
  headers?: Record<string, string>
  query?: string
  method?: string
}

export interface CollectorAnswer {
  status: number
  headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests state the fields that they expect
  body: any
}

export interface Stored {
  events: StoredEvent[]
  // biome-ignore lint/suspicious/noExplicitAny: tests state the fields that they expect
  batches: any[]
}

interface Settings {
  perSecond?: number
  judge?: Judge
}

/** Lines in spool files: events, and the batches that commit them. */
export function readSpool(paths: readonly string[]): Stored {
  const stored: Stored = { events: [], batches: [] }
  for (const path of paths) {
    for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
      const read = JSON.parse(line)
      if (read.batch) stored.batches.push(read.batch)
      else stored.events.push(...eventsOf(read))
    }
  }
  return stored
}

interface Line {
  seq: number
  receivedAt: Instant
  vendor: string[]
}

/** Returns the events in a spool line, with shared and default values filled in. */
function eventsOf(line: Line): StoredEvent[] {
  return line.vendor.map((_, index) => {
    const said = Object.entries(line).map(([name, value]) => [name, Array.isArray(value) ? value[index] : value])
    const { place = index, ...own } = Object.fromEntries(said.filter(([, value]) => value !== null))
    const seq = line.seq + place
    return { id: `evt_${seq}`, ts: line.receivedAt, env: 'prod', kind: 'event', weight: 1, ...own, seq }
  })
}

/** A substitute for the warehouse's record of loaded segments, with only the methods that the spool uses. */
class Loaded {
  readonly names = new Set<string>()
  last: string | null = null
  lastReceivedAt: Instant = 0
  lastSeq = 0

  has(name: string): boolean {
    return this.names.has(name)
  }

  add(name: string, events: readonly StoredEvent[]): void {
    this.names.add(name)
    this.last = name
    for (const { seq, receivedAt } of events) {
      this.lastSeq = Math.max(this.lastSeq, seq)
      this.lastReceivedAt = Math.max(this.lastReceivedAt, receivedAt)
    }
  }
}

/** A collector with its own data folder, two domains in one organization and one domain in another. */
export class TestCollector {
  readonly clock = testClock()
  readonly shop: Property
  readonly blog: Property
  readonly elsewhere: Property
  /** Recorded calls of `violated`: alert ids and domain id. */
  readonly violated: [string[], string][] = []
  readonly bugs: unknown[] = []
  /** Reported errors of type `AppError`. */
  readonly troubles: AppError[] = []
  /** Events in flushed segments. */
  readonly flushed: StoredEvent[] = []
  db: Db
  spool: Spool
  collector: Collector
  private batches: SeenBatches
  private readonly loaded = new Loaded()
  private readonly root = mkdtempSync(join(tmpdir(), 'collector-'))
  private folder = join(this.root, '1')

  constructor(private readonly settings: Settings = {}) {
    mkdirSync(this.spoolFolder, { recursive: true })
    this.db = openDatabase(join(this.folder, 'tagwarden.db'))
    const { orgId, mallory } = cast(this.db, this.clock)
    this.shop = this.property(orgId, 'Shop')
    this.blog = this.property(orgId, 'Blog')
    this.elsewhere = this.property(mallory.orgId, 'Shop')
    this.spool = this.newSpool()
    this.batches = new SeenBatches(this.db, this.clock)
    this.collector = this.newCollector()
  }

  /** Sends an object as JSON. Strings and bytes are sent unchanged. */
  async send(batch: unknown, { token, headers = {}, query = '', method = 'POST' }: Sending = {}) {
    const credential = token === undefined ? this.shop.token : token
    const isRaw = typeof batch === 'string' || batch instanceof Uint8Array || batch instanceof ReadableStream
    const request = new Request(`http://localhost/api/v1/events${query}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
        ...headers,
      },
      body: method === 'POST' ? (isRaw ? (batch as BodyInit) : JSON.stringify(batch)) : null,
    })
    return this.answer(request)
  }

  /** Returns the collector's response, with the body parsed as JSON; null if the body is empty. */
  async answer(request: Request): Promise<CollectorAnswer> {
    const response = await this.collector.fetch(request)
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text === '' ? null : JSON.parse(text) }
  }

  /** Returns everything on disk in order of arrival. */
  stored(): Stored {
    const { events, batches } = readSpool(this.spool.files())
    return { events: [...this.flushed, ...events], batches }
  }

  ledger(): { domainId: string; reason: string; count: number; sample: string }[] {
    return this.stored().batches.flatMap(({ domainId, ledger }) =>
      ledger.map((note: object) => ({ domainId, ...note })),
    )
  }

  /** Does the same as the flush job, except for writing the Parquet file. */
  async flush(): Promise<void> {
    await this.spool.seal()
    for (const segment of [...this.spool.segments()]) {
      const { events } = readSpool([segment.path])
      this.flushed.push(...events)
      tx(this.db, () => recordSegment(this.db, this.batches, segment.batches, EMPTY_SEGMENT))
      this.loaded.add(segment.name, events)
      this.spool.release(segment)
      unlinkSync(segment.path)
    }
  }

  /** Restarts with the files that are on disk, as after a kill. */
  restart(): void {
    const copy = `${this.folder}+`
    cpSync(this.folder, copy, { recursive: true })
    this.db.close()
    this.folder = copy
    this.db = openDatabase(join(copy, 'tagwarden.db'))
    this.spool = this.newSpool()
    this.batches = new SeenBatches(this.db, this.clock)
    this.collector = this.newCollector()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.spool.close()
    this.db.close()
    rmSync(this.root, { recursive: true })
    if (this.bugs.length > 0) throw new Error('the collector reported a bug', { cause: this.bugs[0] })
  }

  get spoolFolder(): string {
    return join(this.folder, 'spool')
  }

  private property(orgId: string, name: string): Property {
    const id = createDomain(this.db, this.clock, orgId, { name })
    return { orgId, id, token: findDomain(this.db, { orgId, id }, this.clock.now()).token }
  }

  private newSpool(): Spool {
    return new Spool(this.spoolFolder, this.clock, this.loaded)
  }

  private newCollector(): Collector {
    const { judge = () => [], perSecond = 1_000_000 } = this.settings
    return new Collector({
      clock: this.clock,
      spool: this.spool,
      domains: domainDirectory({ db: this.db, clock: this.clock }),
      batches: this.batches,
      rate: new RateLimit(this.clock, perSecond),
      judge: () => ({ judge, isOutOfTime: false, end() {} }),
      violated: (ids, domainId) => void this.violated.push([[...ids], domainId]),
      report: (error) => void (error instanceof AppError ? this.troubles.push(error) : this.bugs.push(error)),
    })
  }
}
