// Sends events from Node.js (18 or later) to Tagwarden. No dependencies.
//
//   import { Tagwarden } from './tagwarden.mjs'
//   const tagwarden = new Tagwarden({ folder: '/var/spool/shop/tagwarden', version: 418 })
//   tagwarden.track({ vendor: 'Meta Pixel', event: 'Purchase', status: 'ok', params: { value: 59.9 } })
//   process.once('SIGTERM', () => tagwarden.close())
//
// Each event is appended to a file before it is sent, so no event is lost when the client or the server restarts. Each
// process needs its own folder. A batch is retried with the same id until it is stored, and is counted only once within
// 24 hours.

import { randomUUID } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const EVENTS_URL = '{{EVENTS_URL}}'
const TOKEN = '{{TOKEN}}'

/** The server accepts up to 1,000 events and 1 MiB per batch, before compression. */
const MAX_BATCH_EVENTS = 500
const MAX_BATCH_BYTES = 512 * 1024
/** Maximum queue size. When it is exceeded, the oldest batches are deleted. */
const MAX_QUEUE_BYTES = 50 * 1024 * 1024
const REQUEST_TIMEOUT_MS = 30_000
const MAX_RETRY_MS = 5 * 60_000
/** Delay after a wrong token or URL, and maximum delay that the server can request. */
const HOUR_MS = 60 * 60_000

export class Tagwarden {
  #folder
  #head
  #sendAfterMs
  #firstRetryMs
  #onError
  /** The batch to which events are appended; null while it has no events. */
  #open = null
  #lastId = 0
  #timer = null
  #sending = null
  #failures = 0
  /** Time on the monotonic clock. */
  #waitUntil = 0
  #isClosed = false

  /**
   * `folder`: stores the queue. `env`: 'prod' or 'dev'. `version`: release number. `onError(message)` is called when
   * events are lost or can't be sent.
   */
  constructor({ folder, env = 'prod', version, sendAfterMs = 5000, firstRetryMs = 1000, onError = console.error }) {
    this.#folder = folder
    this.#head = JSON.stringify({ env, version })
    this.#sendAfterMs = sendAfterMs
    this.#firstRetryMs = firstRetryMs
    this.#onError = onError
    mkdirSync(folder, { recursive: true })
    for (const name of this.#names('.open')) this.#seal(name)
    this.#schedule(0)
  }

  /** Queues an event: `vendor` and, if known, `event`, `account`, `status`, `execMs` and `params`. Never throws. */
  track(event) {
    try {
      const line = `${JSON.stringify({ id: randomUUID(), ts: Date.now(), ...event })}\n`
      const bytes = Buffer.byteLength(line)
      if (bytes > MAX_BATCH_BYTES) throw new Error(`an event is larger than ${MAX_BATCH_BYTES} bytes`)
      if (this.#open && this.#open.bytes + bytes > MAX_BATCH_BYTES) this.#sealOpen()
      this.#open ??= { id: this.#newId(), events: 0, bytes: 0 }
      const isNew = this.#open.events === 0
      appendFileSync(join(this.#folder, `${this.#open.id}.open`), isNew ? `${this.#head}\n${line}` : line)
      this.#open.events++
      this.#open.bytes += bytes
      if (this.#open.events >= MAX_BATCH_EVENTS) this.#sealOpen()
      this.#schedule(this.#sendAfterMs)
    } catch (error) {
      this.#onError(`Tagwarden: an event was lost: ${error.message}`)
      // The event's line may be incomplete, so nothing must be appended to this file.
      this.#sealOpen()
    }
  }

  /** Sends the queued events, unless the server requested a delay. Resolves after the attempt. */
  async flush() {
    this.#sealOpen()
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null
    })
    await this.#sending
  }

  /** Tries once to send the queued events. The remaining events are sent after the next start. */
  async close() {
    this.#isClosed = true
    await this.#sending
    await this.flush()
    clearTimeout(this.#timer)
  }

  #schedule(ms) {
    if (this.#timer !== null || this.#isClosed) return
    const wait = Math.max(ms, this.#waitUntil - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = null
      void this.flush()
    }, wait)
    // The queue is on disk, so the timer does not need to keep the process alive.
    this.#timer.unref()
  }

  async #send() {
    try {
      for (const name of this.#names('.batch')) {
        if (performance.now() < this.#waitUntil || !(await this.#post(name))) break
      }
    } catch (error) {
      this.#retryAfter(null, error.message)
    }
    if (this.#names('.batch').length > 0) this.#schedule(0)
  }

  /** Returns false when the batch must be sent again later. */
  async #post(name) {
    const path = join(this.#folder, name)
    const text = readFileSync(path, 'utf8')
    // A killed process can leave an incomplete line at the end.
    const [head, ...events] = text
      .slice(0, text.lastIndexOf('\n') + 1)
      .split('\n')
      .slice(0, -1)
    if (!events.length) {
      rmSync(path, { force: true })
      return true
    }
    const batchId = name.slice(0, name.lastIndexOf('.'))
    const own = JSON.stringify({ batchId, sentAt: Date.now() }).slice(0, -1)
    const response = await fetch(EVENTS_URL, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        'content-encoding': 'gzip',
      },
      body: gzipSync(`${own},${head.slice(1, -1)},"events":[${events.join(',')}]}`),
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    })
    const answer = await response.text()
    if (response.status === 202) {
      const { rejected, errors } = JSON.parse(answer)
      if (rejected > 0) this.#onError(`Tagwarden: ${rejected} events were rejected, the first: ${errors[0]?.error}`)
    } else if ([400, 413, 415, 422].includes(response.status)) {
      this.#onError(`Tagwarden: a batch of ${events.length} events was rejected: ${answer}`)
    } else {
      const isRefused = [401, 403, 404].includes(response.status)
      const asked = Number.parseInt(response.headers.get('retry-after') ?? '', 10)
      this.#retryAfter(isRefused ? HOUR_MS : asked * 1000, `the server responded with status ${response.status}`)
      return false
    }
    this.#failures = 0
    rmSync(path, { force: true })
    return true
  }

  /** Waits for the time that the server requested, or doubles the delay. Adds up to 50 % at random to spread retries. */
  #retryAfter(asked, reason) {
    const backoff = Math.min(MAX_RETRY_MS, this.#firstRetryMs * 2 ** Math.min(this.#failures++, 20))
    const wait = asked > 0 ? Math.min(asked, HOUR_MS) : backoff
    this.#waitUntil = performance.now() + wait * (1 + Math.random() / 2)
    this.#onError(`Tagwarden: sending again in ${Math.ceil(wait / 1000)} s: ${reason}`)
  }

  /** Batch ids sort by time. */
  #newId() {
    this.#lastId = Math.max(Date.now(), this.#lastId + 1)
    return `${String(this.#lastId).padStart(15, '0')}-${randomUUID()}`
  }

  #sealOpen() {
    if (this.#open === null) return
    const { id } = this.#open
    this.#open = null
    try {
      this.#seal(`${id}.open`)
    } catch (error) {
      this.#onError(`Tagwarden: a batch will be sent after the next start: ${error.message}`)
    }
  }

  #seal(name) {
    renameSync(join(this.#folder, name), join(this.#folder, name.replace(/open$/, 'batch')))
    const batches = this.#names('.batch').map((one) => ({ one, bytes: statSync(join(this.#folder, one)).size }))
    let total = batches.reduce((sum, { bytes }) => sum + bytes, 0)
    for (const { one, bytes } of batches) {
      if (total <= MAX_QUEUE_BYTES) break
      rmSync(join(this.#folder, one), { force: true })
      total -= bytes
      this.#onError('Tagwarden: the queue is full, so its oldest batch was deleted')
    }
  }

  /** Returns the oldest first. */
  #names(end) {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(end))
      .sort()
  }
}
