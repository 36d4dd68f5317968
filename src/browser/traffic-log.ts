import { type Instant, systemClock } from '../core/clock.ts'
import { cutText } from '../core/text.ts'
import type { PagePlace, SeenEvent, SeenRequest, Traffic } from './traffic.ts'

/**
 * Maximum number of recorded requests, so that a page that never stops sending does not exhaust the memory. Later
 * requests are sent but not recorded.
 */
const MAX_REQUESTS = 20_000
const MAX_EVENTS = 20_000
const MAX_ERRORS = 100
const MAX_ERROR_LENGTH = 500

/** Records the requests of a browser. */
export class TrafficLog implements Traffic {
  requests: SeenRequest[] = []
  events: SeenEvent[] = []
  readonly errors: string[] = []
  activeAt: Instant = systemClock.now()
  /** Active requests with their start times, from a monotonic clock. */
  private readonly flying = new Map<SeenRequest, number>()
  private readonly listeners = new Set<(event: SeenEvent) => void>()
  /** Callbacks of pending `quiet` calls. */
  private readonly waiting = new Set<() => void>()
  private readonly activity = new Map<string | null, number>()
  private lastNumber = 0

  nextNumber(): number {
    return ++this.lastNumber
  }

  get underWay(): number {
    return this.flying.size
  }

  /**
   * Records a request.
   * @param isAwaited false for requests that never end on their own or have already ended
   */
  add(request: SeenRequest, isAwaited: boolean): void {
    if (this.requests.length < MAX_REQUESTS) this.requests.push(request)
    if (isAwaited) this.flying.set(request, performance.now())
    this.note(request.tab)
  }

  addEvent(event: SeenEvent): void {
    if (this.events.length < MAX_EVENTS) this.events.push(event)
    for (const listener of this.listeners) listener(event)
  }

  addError(text: string): void {
    const short = cutText(text, MAX_ERROR_LENGTH, '…')
    if (this.errors.length < MAX_ERRORS && !this.errors.includes(short)) this.errors.push(short)
  }

  /** Returns the number of milliseconds since the request started; null when the request is not active. */
  age(request: SeenRequest): number | null {
    const began = this.flying.get(request)
    return began === undefined ? null : Math.round(performance.now() - began)
  }

  /** Assigns a request and its events to another page. */
  place(request: SeenRequest, place: PagePlace): void {
    Object.assign(request, place)
    for (const event of this.eventsOf(request)) Object.assign(event, place)
  }

  /** Copies the status of a response to the events of the request. */
  outcome(request: SeenRequest): void {
    for (const event of this.eventsOf(request)) event.status = request.status
  }

  /** The search starts at the end, because events are in the same order as their requests. */
  private *eventsOf({ number }: SeenRequest): Iterable<SeenEvent> {
    for (let index = this.events.length - 1; index >= 0; index--) {
      const event = this.events[index]
      if (!event || event.request < number) return
      if (event.request === number) yield event
    }
  }

  end(request: SeenRequest): void {
    const age = this.age(request)
    if (age === null) return
    request.durMs = age
    this.flying.delete(request)
    this.note(request.tab)
  }

  /** Stops waiting for requests about which no more messages will be received. */
  giveUp(isLost: (request: SeenRequest) => boolean): void {
    for (const request of [...this.flying.keys()]) if (isLost(request)) this.end(request)
  }

  onEvent(listener: (event: SeenEvent) => void): () => void {
    this.listeners.add(listener)
    return () => this.listeners.delete(listener)
  }

  forget(before: number): void {
    this.requests = this.requests.filter(({ number }) => number >= before)
    this.events = this.events.filter(({ request }) => request >= before)
  }

  quiet(silenceMs: number, atMostMs: number, stopping: AbortSignal, tab?: string): Promise<boolean> {
    const began = performance.now()
    const { promise, resolve, reject } = Promise.withResolvers<boolean>()
    let timer: Timer | undefined
    const look = () => {
      clearTimeout(timer)
      if (stopping.aborted) return reject(stopping.reason)
      const now = performance.now()
      const silentMs = this.isBusy(tab) ? 0 : now - Math.max(began, this.lastActivity(tab))
      if (silentMs >= silenceMs) return resolve(true)
      const leftMs = atMostMs - (now - began)
      if (leftMs <= 0) return resolve(false)
      timer = setTimeout(look, Math.ceil(Math.min(leftMs, silenceMs - silentMs)))
    }
    this.waiting.add(look)
    stopping.addEventListener('abort', look)
    look()
    return promise.finally(() => {
      clearTimeout(timer)
      this.waiting.delete(look)
      stopping.removeEventListener('abort', look)
    })
  }

  private isBusy(tab: string | undefined): boolean {
    if (tab === undefined) return this.flying.size > 0
    return this.flying.keys().some((request) => request.tab === tab)
  }

  private lastActivity(tab: string | undefined): number {
    return tab === undefined ? Math.max(0, ...this.activity.values()) : (this.activity.get(tab) ?? 0)
  }

  private note(tab: string | null): void {
    this.activeAt = systemClock.now()
    this.activity.set(tab, performance.now())
    for (const look of [...this.waiting]) look()
  }
}
