import { type Filter, type Wanted, withoutFragment } from './address.ts'
import type { Item } from './batch.ts'
import type { Snapshot } from './body.ts'
import { applyTiming, type Call, type Calls, type Outcome, setOutcome, type Timing } from './calls.ts'
import type { Frame, Frames } from './frame.ts'
import type { Guard } from './guard.ts'

/** What a call says of itself before it is made. */
export interface Sighting {
  /** As the page wrote it; null: that can't be told without running the page's code. */
  address: string | null
  type: string
  method: string
  /** Called only when the body may be kept. */
  body?: () => Snapshot
  /** False: evidence that the browser asks for it comes later. */
  isConfirmed?: boolean
  /** When it was seen, if that was before this script came: on the page's own clock. */
  at?: number | undefined
}

/** Puts down what the page asks for, and what becomes of it. */
export interface Recorder {
  /** Null: this request is not captured. */
  see(sighting: Sighting): Call | null
  /** How a call ended. Null: not well, but that may be no failure. */
  end(call: Call, outcome: Outcome | null): void
  /** The same of an address, whoever asked for it; `type` names what is not known yet. */
  endOf(address: string, type: string, outcome: Outcome | null): void
  /** To be called when the filter has learnt which hosts are vendors'. */
  decide(): void
  /** What resource timing tells. Answers the call that it tells of; null: it is not captured. */
  timing(address: string, type: string, timing: Timing): Call | null
}

export interface RecorderParts {
  guard: Guard
  filter: Filter
  frames: Frames
  calls: Calls
  now(): number
  date(): number
  later(work: () => void, ms: number): void
  isOnline(): boolean
  newId(): string
  add(item: Item): void
  /** Called when something of a call changed. */
  changed(): void
}

/** What took less did not leave the browser; clocks are rounded to 0.1 ms. */
const REFUSED_MS = 0.2
/** Beyond so many times the second's share, requests are only counted by resource timing. */
const OVERRUN = 10

export function makeRecorder(parts: RecorderParts): Recorder {
  const { guard, filter, frames, calls, now, date, later, isOnline, newId, add, changed } = parts

  const confirm = (call: Call) => {
    if (call.isConfirmed) return
    call.isConfirmed = true
    add({ list: 'hits', frame: call.frame, call, id: newId() })
  }
  /** Something became known of a call. */
  const note = (call: Call) => {
    const isRefused = (call.isOdd || call.outcome === 'failure') && call.isTimed && (call.durMs ?? 0) < REFUSED_MS
    if (isRefused && call.isOnline) setOutcome(call, 'blocked')
    confirm(call)
    changed()
  }
  const begin = (frame: Frame, { url, foreignHost }: Wanted, call: Pick<Call, 'type' | 'at'> & Partial<Call>): Call => {
    const begun: Call = {
      frame,
      url,
      foreignHost,
      method: 'GET',
      ts: Math.round(date() - now() + Math.max(call.at, 0)),
      content: null,
      isReading: false,
      isConfirmed: false,
      outcome: null,
      isOdd: false,
      isOnline: isOnline(),
      durMs: null,
      bytes: null,
      isTimed: false,
      whenTimed: null,
      ...call,
    }
    calls.add(begun)
    return begun
  }
  const settled: (() => void)[] = []
  /** Bodies of which it is not known yet whether they may be read. */
  const undecided: [call: Call, snapshot: Snapshot][] = []
  const read = (call: Call, snapshot: Snapshot) => {
    if (typeof snapshot !== 'function') {
      call.content = snapshot
      return
    }
    call.isReading = true
    const done = (content: string | Uint8Array | null) => {
      call.isReading = false
      call.content = content
      changed()
    }
    // The page's own call still uses what is read here; what can't be read is left out.
    void snapshot().then(
      (content) => guard.run(() => done(content)),
      () => guard.run(() => done(null)),
    )
  }
  const end = (call: Call, outcome: Outcome | null) => {
    if (outcome === null) call.isOdd = true
    else setOutcome(call, outcome)
    if (call.at >= 0) call.durMs ??= Math.round(now() - call.at)
    note(call)
  }

  return {
    see({ address, type, method, body, isConfirmed = true, at = now() }) {
      if (guard.isSpent(OVERRUN)) return null
      const found = address === null ? null : filter.wanted(address)
      const frame = found && frames.current()
      if (!found || !frame?.isSampled) return null
      const call = begin(frame, found, { type, method: method.toUpperCase(), at })
      const isAllowed = body ? found.withBody : false
      const snapshot = isAllowed === false ? null : (body?.() ?? null)
      if (snapshot !== null) {
        if (isAllowed) read(call, snapshot)
        else {
          call.isReading = true
          undecided.push([call, snapshot])
        }
      }
      if (isConfirmed) confirm(call)
      return call
    },
    end,
    endOf(address, type, outcome) {
      const found = filter.wanted(address)
      if (!found) return
      const known = calls.youngest(found.url)
      const frame = known?.frame ?? frames.current()
      if (!frame.isSampled) return
      // Begun before anything that resource timing may tell of it.
      const call = known ?? begin(frame, found, { type, at: -1, ts: date() })
      end(call, outcome)
    },
    decide() {
      for (const [call, snapshot] of undecided.splice(0)) {
        call.isReading = false
        if (filter.wanted(call.url)?.withBody) read(call, snapshot)
      }
      changed()
    },
    timing(address, type, timing) {
      // Most are of calls that are known: then nothing of the address has to be looked at.
      const url = withoutFragment(address)
      const known = calls.untimed(url, type, timing.startTime)
      // Browsers that look ahead in the page's text tell twice that they did not ask for something.
      if (!known && timing.duration < REFUSED_MS && calls.youngest(url)?.outcome === 'blocked') return null
      const found = known ? null : filter.wanted(address)
      const frame = known?.frame ?? frames.at(timing.startTime)
      if (!frame.isSampled) return null
      const call = known ?? (found && begin(frame, found, { type, at: timing.startTime }))
      if (!call) return null
      applyTiming(call, timing)
      if (call.whenTimed && settled.push(call.whenTimed) === 1) {
        // In a task of its own: by then what the call answered has settled, whichever of both is told first.
        later(() => {
          for (const look of settled.splice(0)) look()
        }, 0)
      }
      note(call)
      return call
    },
  }
}
