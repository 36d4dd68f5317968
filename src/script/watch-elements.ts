import type { ErrorGuard } from './error-guard.ts'
import type { Call } from './recorded-requests.ts'
import type { Recorder } from './request-recorder.ts'
import type { CallRecorders, RecordCall } from './watch-transports.ts'
import { wrapFunction } from './wrap-function.ts'

export interface ElementDeps {
  guard: ErrorGuard
  recorder: Recorder
}

/** Observes the URLs that scripts set on images and scripts, and whether the elements load. */
export function watchElements(
  window: Window & typeof globalThis,
  seers: CallRecorders,
  { guard, recorder }: ElementDeps,
): void {
  const { HTMLImageElement, HTMLScriptElement } = window
  const latest = new WeakMap<HTMLImageElement, Call>()
  const lookAt = (image: HTMLImageElement, call: Call) => {
    const isLatest = latest.get(image) === call
    if (isLatest && !image.complete) return
    call.look = undefined
    // Many vendors respond with an empty body, which also causes an image error. Only the status could distinguish an
    // empty response from a failure.
    if (isLatest) recorder.end(call, image.naturalWidth > 0 ? 'ok' : null)
  }
  const see = (element: unknown) => {
    const isImage = element instanceof HTMLImageElement
    if (!isImage && !(element instanceof HTMLScriptElement)) return
    // The browser requests an image immediately unless it is lazy. It requests a script only when the script is added
    // to the page, which may never happen.
    const isConfirmed = isImage && element.loading !== 'lazy'
    const type = isImage ? 'img' : 'script'
    const call = recorder.see({ address: element.src, type, method: 'GET', isConfirmed })
    if (!call || !isImage) return
    latest.set(element, call)
    // Events of images outside the document don't reach the document's listeners.
    call.look = () => lookAt(element, call)
  }
  const seeAfter = (element: unknown) => () => see(element)
  wrapFunction(guard, HTMLImageElement.prototype, 'src', 'set', seeAfter)
  wrapFunction(guard, HTMLScriptElement.prototype, 'src', 'set', seeAfter)
  wrapFunction(guard, window.Element.prototype, 'setAttribute', 'value', seeAfter, isSource)
  watchLoading(window.document, { guard, recorder })
  const violation = 'securitypolicyviolation'
  window.addEventListener(violation, (event) => guard.run(() => seers[violation]?.(null, [event])))
}

function isSource([name]: readonly unknown[]): boolean {
  return typeof name === 'string' && name.length === 3 && name.toLowerCase() === 'src'
}

/** Observes load and error events of all elements on the page. */
function watchLoading(document: Document, { guard, recorder }: ElementDeps): void {
  const onEnd = ({ type, target }: Event) => {
    guard.run(() => {
      if (!(target instanceof HTMLElement)) return
      const { localName, currentSrc, src, href } = target as Partial<HTMLImageElement & HTMLLinkElement>
      const address = currentSrc || src || href
      if (!address || !/^(?:img|script|iframe|link)$/.test(`${localName}`)) return
      const failure = localName === 'img' ? null : 'failure'
      recorder.endOf(address, `${localName}`, type === 'load' ? 'ok' : failure)
    })
  }
  // These events don't bubble, but they can be captured.
  document.addEventListener('load', onEnd, true)
  document.addEventListener('error', onEnd, true)
}

/**
 * Returns a recorder for requests that the page's content security policy blocked. Its type is `RecordCall` because the
 * stub may buffer reports of blocked requests.
 */
export function violationRecorder(recorder: Recorder): RecordCall {
  return (_self, [event]) => {
    const { disposition, blockedURI, effectiveDirective } = event as SecurityPolicyViolationEvent
    // A policy may only report violations: https://www.w3.org/TR/CSP3/#violation-disposition
    if (disposition === 'enforce') recorder.endOf(blockedURI, effectiveDirective.replace(/-src.*$/, ''), 'blocked')
    return null
  }
}
