import { useSyncExternalStore } from 'react'
import { streamChanges } from '#client/sdk.gen'
import type { StreamPulse } from '#client/types.gen'
import { Invalidator } from './invalidation.ts'
import { NewIssueCollector, type NewIssueSummary } from './new-issue-collector.ts'
import { queries } from './queries.ts'

/** State of the change stream. */
export interface LiveState {
  /** False once the stream has been disconnected for more than 10 s. */
  isLive: boolean
  /**
   * Time at which the most recent stream event was received, in milliseconds since the epoch; null before the first.
   */
  heardAt: number | null
  /** Ingestion state from the most recent pulse; null before the first. */
  pulse: StreamPulse | null
  /** The most recent announcement of new issues, with its time; null before the first. */
  newIssues: (NewIssueSummary & { at: number }) | null
}

/** Message between tabs: a stream event, or a lost connection. `isSilent`: the connection timed out. */
type StreamMessage = { is: 'event'; name: string; id: string | null; data: unknown } | { is: 'lost'; isSilent: boolean }

/** The server sends a pulse every 10 s. After two missing pulses the connection is considered dead. */
const SILENCE_MS = 25_000
/** Delay before a lost connection is shown, because most connections recover earlier. */
const PATIENCE_MS = 10_000
const RETRY_MS = { first: 500, most: 15_000 }

let state: LiveState = { isLive: true, heardAt: null, pulse: null, newIssues: null }
const listeners = new Set<() => void>()

function change(part: Partial<LiveState>): void {
  state = { ...state, ...part }
  for (const listener of listeners) listener()
}

export const live = {
  read: (): LiveState => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
}

/** State of the change stream. */
export const useLive = (): LiveState => useSyncExternalStore(live.subscribe, live.read)

/**
 * Subscribes to the server's change stream and keeps queries up to date. One tab per browser acquires a lock and reads
 * the stream for all tabs. Where locks are unavailable, for example over plain HTTP, each visible tab reads the stream
 * separately. `name` identifies the user and organization. Returns a function that unsubscribes.
 */
export function followChanges(name: string): () => void {
  const end = new AbortController()
  const follower = new Follower(name, end.signal)
  if (navigator.locks) follower.lead(name)
  else follower.readWhileVisible()
  return () => end.abort()
}

const isSeen = () => document.visibilityState === 'visible'

class Follower {
  private readonly channel: BroadcastChannel
  private readonly freshness = new Invalidator(queries, isSeen)
  private readonly newIssues = new NewIssueCollector()
  private telling: ReturnType<typeof setTimeout> | null = null
  private lastId: string | null = null
  private lost: ReturnType<typeof setTimeout> | null = null

  constructor(
    name: string,
    private readonly end: AbortSignal,
  ) {
    this.channel = new BroadcastChannel(name)
    this.channel.onmessage = ({ data }: MessageEvent<StreamMessage>) => this.hear(data)
    const showChanges = () => isSeen() && this.freshness.catchUp()
    document.addEventListener('visibilitychange', showChanges, { signal: end })
    end.addEventListener('abort', () => {
      this.channel.close()
      this.freshness.stop()
      if (this.lost) clearTimeout(this.lost)
      if (this.telling) clearTimeout(this.telling)
      change({ newIssues: null })
    })
    // A tab that doesn't read the stream receives nothing from the other tabs until the next pulse.
    this.waitForMore(SILENCE_MS)
  }

  /** Waits for the lock, then reads the stream for all tabs. */
  lead(name: string): void {
    const wait = { signal: this.end }
    navigator.locks
      .request(name, wait, () => this.readOn(this.end, (told) => this.channel.postMessage(told)))
      .catch((error) => {
        if (!this.end.aborted) throw error
      })
  }

  readWhileVisible(): void {
    let reading: AbortController | null = null
    const turn = () => {
      if (isSeen() && reading === null && !this.end.aborted) {
        reading = new AbortController()
        void this.readOn(AbortSignal.any([reading.signal, this.end]), () => {})
      } else if (!isSeen()) {
        reading?.abort()
        reading = null
      }
    }
    document.addEventListener('visibilitychange', turn, { signal: this.end })
    turn()
  }

  /** Reads the stream until the signal aborts. After a lost connection, it resumes after the last event. */
  private async readOn(until: AbortSignal, tellOthers: (told: StreamMessage) => void): Promise<void> {
    let wait = RETRY_MS.first
    const tell = (told: StreamMessage) => {
      if (until.aborted) return
      this.hear(told)
      tellOthers(told)
    }
    while (!until.aborted) {
      const { heard, isSilent } = await this.readOnce(until, tell)
      if (until.aborted) return
      tell({ is: 'lost', isSilent })
      // Detects an expired credential.
      if (!heard) void queries.invalidateQueries({ queryKey: [{ _id: 'whoami' }] })
      wait = heard ? RETRY_MS.first : Math.min(wait * 2, RETRY_MS.most)
      await rest(wait, until)
    }
  }

  /** Reads from one connection until it closes or the browser goes offline. */
  private async readOnce(
    until: AbortSignal,
    tell: (told: StreamMessage) => void,
  ): Promise<{ heard: boolean; isSilent: boolean }> {
    const network = new AbortController()
    const loseNetwork = () => network.abort()
    window.addEventListener('offline', loseNetwork)
    const silence = new AbortController()
    let timer = setTimeout(() => silence.abort(), SILENCE_MS)
    let heard = false
    const headers = this.lastId === null ? {} : { 'Last-Event-ID': this.lastId }
    try {
      const signal = AbortSignal.any([silence.signal, network.signal, until])
      for await (const { event, id, data } of streamChanges({ headers, signal })) {
        clearTimeout(timer)
        timer = setTimeout(() => silence.abort(), SILENCE_MS)
        heard = true
        if (event !== null) tell({ is: 'event', name: event, id, data })
      }
    } catch {
      // The calling function reconnects after any error.
    }
    clearTimeout(timer)
    window.removeEventListener('offline', loseNetwork)
    return { heard, isSilent: silence.signal.aborted }
  }

  private hear(told: StreamMessage): void {
    if (told.is === 'lost') return this.waitForMore(told.isSilent ? 0 : PATIENCE_MS)
    if (this.lost) {
      clearTimeout(this.lost)
      this.freshness.recover()
    }
    this.lost = null
    this.lastId = told.id ?? this.lastId
    if (state.heardAt === null) this.freshness.begin()
    const pulse = told.name === 'pulse' ? { pulse: told.data as StreamPulse } : {}
    change({ isLive: true, heardAt: Date.now(), ...pulse })
    this.freshness.hear(told.name, told.data)
    if (this.newIssues.hear(told.name, told.data)) {
      this.telling ??= setTimeout(() => this.tellNews(), this.newIssues.wait(Date.now()))
    }
  }

  private tellNews(): void {
    this.telling = null
    const at = Date.now()
    const news = this.newIssues.take(at)
    if (news) change({ newIssues: { ...news, at } })
  }

  private waitForMore(ms: number): void {
    this.lost ??= setTimeout(() => change({ isLive: false }), ms)
  }
}

/** Waits for `ms`, until the browser is online, or until the signal aborts. */
function rest(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer)
      window.removeEventListener('online', end)
      until.removeEventListener('abort', end)
      done()
    }
    const timer = setTimeout(end, ms)
    window.addEventListener('online', end)
    until.addEventListener('abort', end)
  })
}
