import { type App, type Log, openApp } from '../../app.ts'
import type { Config } from '../../config.ts'
import { type Clock, type Instant, systemClock } from '../../core/clock.ts'
import type { Job } from '../../jobs/job.ts'
import { MIN_GAP_MS } from '../../signals/gap.ts'
import { tx } from '../../store/database.ts'
import type { SentBatch } from './encode-events.ts'

/** A clock that is set to a time in the past. After `letGo`, it follows the system clock. */
export class SimulatedClock implements Clock {
  private at: Instant | null

  constructor(from: Instant) {
    this.at = from
  }

  now(): Instant {
    return this.at ?? systemClock.now()
  }

  set(at: Instant): void {
    this.at = at
  }

  letGo(): void {
    this.at = null
  }
}

/** Calls the API and returns the response. Rejects with the response's error unless the call succeeds. */
export type Call = (method: string, path: string, body?: unknown) => Promise<unknown>

/** Runs the whole program without its sockets. Its clock is advanced manually. */
export class SimulatedProgram {
  private constructor(
    private readonly app: App,
    private readonly clock: SimulatedClock,
  ) {}

  /** Opens the data folder. */
  static async open(config: Config, clock: SimulatedClock, log: Log): Promise<SimulatedProgram> {
    return new SimulatedProgram(await openApp({ config, clock, log }), clock)
  }

  /**
   * Advances the clock. Heartbeats continue during this time; otherwise it would be recorded as a gap in collection.
   */
  until(at: Instant): void {
    const { app, clock } = this
    tx(app.db, () => {
      for (let next = clock.now() + MIN_GAP_MS; next < at; next += MIN_GAP_MS) this.beatAt(next)
      this.beatAt(at)
    })
  }

  /**
   * Advances the clock to the present, including the time spent generating events. From then on it follows the system
   * clock.
   */
  reachPresent(): void {
    this.until(systemClock.now())
    this.clock.letGo()
  }

  /** Runs jobs one after another and waits until no delivery or run is active. */
  async run(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.job(name).run()
    await this.app.idle()
  }

  /** Returns a function that calls the API with this key. */
  as(apiKey: string): Call {
    return callOf(this.app, apiKey)
  }

  /** Sends batches to the collector concurrently. `tokens` contains the property tokens by host. */
  async collect(sent: readonly SentBatch[], tokens: Record<string, string>): Promise<void> {
    const url = 'http://127.0.0.1/api/v1/events?token='
    const requests = sent.map(({ host, batch }) => {
      const request = new Request(url + tokens[host], { method: 'POST', body: JSON.stringify(batch) })
      return this.app.collector.fetch(request)
    })
    for (const response of await Promise.all(requests)) await answerOf('the collector', response)
  }

  async close(): Promise<void> {
    this.app.abort()
    await this.app.close()
  }

  private beatAt(at: Instant): void {
    this.clock.set(at)
    void this.job('heartbeat').run()
  }

  private job(name: string): Job {
    const found = this.app.jobs.find((job) => job.name === name)
    if (!found) throw new Error(`there is no job ${name}`)
    return found
  }
}

/** Returns a function that calls the API of a running program with this key. */
export function callOf(app: Pick<App, 'fetch'>, apiKey: string): Call {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  return async (method, path, body) => {
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    return answerOf(path, await app.fetch(new Request(`http://127.0.0.1${path}`, init)))
  }
}

async function answerOf(path: string, response: Response): Promise<unknown> {
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
  return response.status === 204 ? null : response.json()
}
