import type { CommandQueue, SharedWindow } from './shared-window.ts'

/** URL of the script, inserted by the server. */
declare const SCRIPT_URL: string

/** Maximum number of buffered calls, in case the script never loads. */
const MAX_EARLY = 100

/** Runs in the page's head. Loads the script, and buffers commands and requests until the script runs. */
;(() => {
  const shared = window as SharedWindow
  if (shared.tagwardenQueue?.isSnippet) return
  const queue: CommandQueue = shared.tagwardenQueue ?? []
  shared.tagwardenQueue = queue
  shared.tagwarden ??= (...command) => {
    queue.push(command)
  }
  queue.isSnippet = true
  queue.early = []
  const see = (name: string, self: unknown, args: unknown[]) => {
    const { early } = queue
    try {
      if (!early || early.length >= MAX_EARLY) return
      const [first] = args
      // The body of a `Request` can be read only once, and the page's own call reads it.
      const kept = first instanceof Request ? [first.clone(), ...args.slice(1)] : args
      early.push([name, self, kept, performance.now()])
    } catch {
      // Errors of this script must not reach the page.
    }
  }
  const watch = (owner: object | undefined, name: string) => {
    const own = owner && Object.getOwnPropertyDescriptor(owner, name)
    if (typeof own?.value !== 'function') return
    const value = new Proxy(own.value, {
      apply(original, self, args) {
        see(name, self, args)
        return Reflect.apply(original, self, args)
      },
    })
    Reflect.defineProperty(owner ?? window, name, { ...own, value })
  }
  const violation = 'securitypolicyviolation'
  addEventListener(violation, (event) => see(violation, null, [event]))
  watch(window, 'fetch')
  watch(window.Navigator?.prototype, 'sendBeacon')
  watch(window.XMLHttpRequest?.prototype, 'open')
  watch(window.XMLHttpRequest?.prototype, 'send')
  try {
    const script = document.createElement('script')
    script.async = true
    // Required on pages whose content security policy uses a nonce.
    script.nonce = document.currentScript?.nonce ?? ''
    script.src = SCRIPT_URL
    document.head.append(script)
    // By default the browser stores 250 entries:
    // https://www.w3.org/TR/resource-timing/#sec-extensions-performance-interface
    performance.setResourceTimingBufferSize(1000)
  } catch {
    // The page's content security policy may forbid adding scripts.
  }
})()
