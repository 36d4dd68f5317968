import { snapshotOf, snapshotOfRequest } from './captured-body.ts'
import type { ErrorGuard } from './error-guard.ts'
import type { Call, Outcome } from './recorded-requests.ts'
import type { Recorder } from './request-recorder.ts'
import { type After, wrapFunction } from './wrap-function.ts'

export interface TransportDeps {
  guard: ErrorGuard
  recorder: Recorder
}

/**
 * Records a call that is about to be made, or that was made earlier at time `at`. Returns null when the call is not
 * captured.
 */
export type RecordCall = (self: unknown, args: readonly unknown[], at?: number) => Call | null

/** Call recorders by the name of the called function. */
export type CallRecorders = Record<string, RecordCall>

/**
 * Returns the URL from an argument. Returns null for other objects, because converting them to a string could run the
 * page's code.
 */
function addressOf(input: unknown): string | null {
  if (typeof input === 'string') return input
  if (input instanceof URL) return input.href
  return input instanceof Request ? input.url : null
}

function methodOf(value: unknown, fallback = 'GET'): string {
  return typeof value === 'string' ? value : fallback
}

/** Returns a call recorder for each function that sends requests. */
export function callRecordersOf(recorder: Recorder): CallRecorders {
  /** URL and method of opened requests; the URL is null when it can't be read. */
  const opened = new WeakMap<object, { address: string | null; method: string }>()

  const fetchAs =
    (type: string): RecordCall =>
    (_self, [input, options], at) => {
      const request = input instanceof Request ? input : null
      const { method, body } = (options ?? {}) as { method?: unknown; body?: unknown }
      return recorder.see({
        address: addressOf(input),
        type,
        method: methodOf(method, request?.method),
        body: () => (body == null ? request && snapshotOfRequest(request) : snapshotOf(body)),
        at,
      })
    }
  return {
    fetch: fetchAs('fetch'),
    // Sends at the end of the page, or after a delay: https://developer.mozilla.org/docs/Web/API/Window/fetchLater
    fetchLater: fetchAs('fetchLater'),
    sendBeacon: (_self, [input, body], at) =>
      recorder.see({ address: addressOf(input), type: 'beacon', method: 'POST', body: () => snapshotOf(body), at }),
    open(xhr, [method, input]) {
      if (xhr instanceof XMLHttpRequest) opened.set(xhr, { address: addressOf(input), method: methodOf(method) })
      return null
    },
    send(xhr, [body], at) {
      const request = xhr instanceof XMLHttpRequest && opened.get(xhr)
      const call = request && recorder.see({ ...request, type: 'xhr', body: () => snapshotOf(body), at })
      if (!call) return null
      call.look = () => {
        const isLatest = opened.get(xhr) === request
        if (isLatest && xhr.readyState !== XMLHttpRequest.DONE) return
        call.look = undefined
        const isLate = xhr.timeout > 0 && (call.durMs ?? xhr.timeout) >= xhr.timeout
        if (isLatest) recorder.end(call, xhr.status || (isLate ? 'timeout' : 'failure'))
      }
      return call
    },
  }
}

/** Wraps every function that scripts can use to send requests. */
export function watchTransports(window: Window & typeof globalThis, seers: CallRecorders, parts: TransportDeps): void {
  const { guard, recorder } = parts
  const follow = (owner: object, name: string, after: (call: Call, result: unknown) => void) => {
    wrapFunction(guard, owner, name, 'value', (self, args): After | undefined => {
      const call = seers[name]?.(self, args)
      if (!call) return
      return (result, threw) => (threw ? recorder.end(call, 'exception') : after(call, result))
    })
  }
  const nothing = () => undefined
  follow(window, 'fetch', followFetch(window, parts))
  follow(window, 'fetchLater', nothing)
  follow(window.XMLHttpRequest.prototype, 'open', nothing)
  follow(window.XMLHttpRequest.prototype, 'send', nothing)
  follow(window.Navigator.prototype, 'sendBeacon', (call, isQueued) => {
    if (isQueued === false) recorder.end(call, 'failure')
  })
}

function followFetch(window: Window, { guard, recorder }: TransportDeps) {
  const pending = new WeakMap<object, Call>()
  window.addEventListener('unhandledrejection', ({ promise, reason }) => {
    guard.run(() => {
      const call = pending.get(promise)
      if (call) recorder.end(call, failureOf(reason))
    })
  })
  return (call: Call, promise: unknown) => {
    if (!(promise instanceof Promise)) return
    pending.set(promise, call)
    call.look = (isSettled) => {
      // Listening to a promise that may still fail would hide its failure from the page's `unhandledrejection`
      // listeners.
      if (!isSettled || call.outcome) return
      void promise.then(
        // An opaque response hides its status, but it means success.
        (response) => guard.run(() => recorder.end(call, response.status || 'ok')),
        (error) => guard.run(() => recorder.end(call, failureOf(error))),
      )
    }
  }
}

/**
 * Returns the outcome for an error: https://fetch.spec.whatwg.org/#abort-fetch,
 * https://dom.spec.whatwg.org/#dom-abortsignal-timeout
 */
function failureOf(error: unknown): Outcome {
  return error instanceof DOMException && error.name === 'TimeoutError' ? 'timeout' : 'failure'
}
