import type { Item } from './batch.ts'
import { type CapturedRequest, type CaptureFilter, withoutFragment } from './capture-filter.ts'
import { type Snapshot, textOf } from './captured-body.ts'
import type { ErrorGuard } from './error-guard.ts'
import type { Frame, Frames } from './page-frame.ts'
import { applyTiming, type Call, type Calls, type Outcome, setOutcome, type Timing } from './recorded-requests.ts'

/** A call that was observed before it is made. */
interface Sighting {
  /** The URL as the page wrote it; null when it can't be read without running the page's code. */
  address: string | null
  type: string
  method: string
  /** Returns the body. Called only when the body may be stored. */
  body?: () => Snapshot
  /** False while it is uncertain whether the browser makes the request. */
  isConfirmed?: boolean
  /** Time on the page's monotonic clock when the call was observed, if it was observed before this script ran. */
  at?: number | undefined
}

/** Records the page's requests and their outcomes. */
export interface Recorder {
  /** Records a call; returns null when it is not captured. */
  see(sighting: Sighting): Call | null
  /** Sets the outcome of a call. Null for an error that may not be a failure. */
  end(call: Call, outcome: Outcome | null): void
  /** Sets the outcome of the latest call to a URL. Records a call of this `type` if there is none. */
  endOf(address: string, type: string, outcome: Outcome | null): void
  /**
   * Must be called after the filter has received the vendor lists. Decides on the requests that have been waiting for
   * the lists.
   */
  decide(): void
  /** Applies a resource timing entry. Returns the call; null when it is not captured. */
  timing(address: string, type: string, timing: Timing): Call | null
}

export interface RecorderDeps {
  guard: ErrorGuard
  filter: CaptureFilter
  frames: Frames
  calls: Calls
  now(): number
  date(): number
  later(work: () => void, ms: number): void
  isOnline(): boolean
  newId(): string
  add(item: Item): void
  /** Called after a call has changed. */
  changed(): void
}

/** Requests that took less time were not sent. Browsers round times to 0.1 ms. */
const REFUSED_MS = 0.2
/**
 * When more than this multiple of the time budget per second is used up, calls are recorded from resource timing only.
 */
const OVERRUN = 10
/** Maximum number of requests that wait for the vendor lists. */
const MAX_UNDECIDED = 200

export function makeRecorder(parts: RecorderDeps): Recorder {
  const { guard, filter, frames, calls, now, date, later, isOnline, newId, add, changed } = parts

  const confirm = (call: Call) => {
    if (call.isConfirmed) return
    call.isConfirmed = true
    add({ list: 'hits', frame: call.frame, call, id: newId() })
  }
  /** Notifies the queue that a call changed. */
  const note = (call: Call) => {
    const isRefused = (call.isOdd || call.outcome === 'failure') && call.isTimed && (call.durMs ?? 0) < REFUSED_MS
    if (isRefused && call.isOnline) setOutcome(call, 'blocked')
    confirm(call)
    changed()
  }
  const begin = (
    frame: Frame,
    { url, foreignHost }: CapturedRequest,
    call: Pick<Call, 'type' | 'at'> & Partial<Call>,
  ): Call => {
    const begun: Call = {
      frame,
      url,
      foreignHost,
      method: 'GET',
      ts: Math.round(date() - now() + Math.max(call.at, 0)),
      isOnline: isOnline(),
      ...call,
    }
    calls.add(begun)
    return begun
  }
  const settled: NonNullable<Call['look']>[] = []
  /** Requests that wait for the vendor lists; null once the lists are loaded. */
  let undecided: (() => void)[] | null = []
  const onceDecidable = (work: () => void) => {
    if (!undecided) work()
    else if (undecided.length < MAX_UNDECIDED) undecided.push(work)
  }
  /**
   * Calls `done` with the body, or with null when the body can't be read. `done` is called synchronously unless reading
   * takes time.
   */
  const read = (snapshot: Snapshot, done: (content: string | Uint8Array | null) => void) => {
    if (typeof snapshot !== 'function') return done(snapshot)
    // The page's call uses the original.
    void snapshot().then(
      (content) => guard.run(() => done(content)),
      () => guard.run(() => done(null)),
    )
  }
  /** Adds the body to a call if the request is a vendor's. While that is unknown, waits for the vendor lists. */
  const addContent = (call: Call, snapshot: Snapshot, isVendors: boolean | null) => {
    if (snapshot === null || isVendors === false) return
    if (isVendors && typeof snapshot !== 'function') {
      call.content = snapshot
      return
    }
    call.isReading = true
    read(snapshot, (content) => {
      const finish = () => {
        call.isReading = false
        if (isVendors || filter.wanted(call.url, () => textOf(content))?.isVendors) call.content = content
        changed()
      }
      if (isVendors) finish()
      else onceDecidable(finish)
    })
  }
  const end = (call: Call, outcome: Outcome | null) => {
    if (outcome === null) call.isOdd = true
    else setOutcome(call, outcome)
    if (call.at >= 0) call.durMs ??= Math.round(now() - call.at)
    note(call)
  }

  return {
    see(sighting) {
      const { address, type, method, body, isConfirmed = true, at = now() } = sighting
      if (address === null || guard.isSpent(OVERRUN)) return null
      let taken: Snapshot | undefined
      const snapshot = () => {
        taken ??= body?.() ?? null
        return taken
      }
      const found = filter.wanted(address, () => textOf(snapshot()))
      if (!found) return null
      if (!found.isSure) {
        // Checked again once the filter can decide. Until then, the request does not extend the session.
        if (!frames.at(at).isSampled) return null
        read(snapshot(), (content) => onceDecidable(() => this.see({ ...sighting, at, body: () => content })))
        return null
      }
      const current = frames.current()
      const frame = sighting.at === undefined ? current : frames.at(at)
      if (!frame.isSampled) return null
      const call = begin(frame, found, { type, method: method.toUpperCase(), at })
      if (found.isVendors !== false) addContent(call, snapshot(), found.isVendors)
      if (isConfirmed) confirm(call)
      return call
    },
    end,
    endOf(address, type, outcome) {
      const found = filter.wanted(address)
      if (!found?.isSure) return
      const known = calls.youngest(found.url)
      const frame = known?.frame ?? frames.current()
      if (!frame.isSampled) return
      // Earlier than any resource timing entry of the call, so that every entry matches.
      const call = known ?? begin(frame, found, { type, at: -1, ts: date() })
      end(call, outcome)
    },
    decide() {
      const waiting = undecided ?? []
      undecided = null
      for (const work of waiting) guard.run(work)
    },
    timing(address, type, timing) {
      // Most entries belong to recorded calls. For those, the URL need not be parsed.
      const url = withoutFragment(address)
      const known = calls.untimed(url, type, timing.startTime)
      // Browsers with a preload scanner report a blocked request twice.
      if (!known && timing.duration < REFUSED_MS && calls.youngest(url)?.outcome === 'blocked') return null
      const found = known ? null : filter.wanted(address)
      if (found && !found.isSure) {
        onceDecidable(() => this.timing(address, type, timing))
        return null
      }
      const frame = known?.frame ?? frames.at(timing.startTime)
      if (!frame.isSampled) return null
      const call = known ?? (found && begin(frame, found, { type, at: timing.startTime }))
      if (!call) return null
      applyTiming(call, timing)
      if (call.look && settled.push(call.look) === 1) {
        // Runs in a later task, after the call's promise has settled, regardless of whether the entry or the promise
        // came first.
        later(() => {
          for (const look of settled.splice(0)) look(true)
        }, 0)
      }
      note(call)
      return call
    },
  }
}
