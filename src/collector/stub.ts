/** Address of the script; put in by the server. */
declare const SCRIPT_URL: string

/** What happened before the script came: the name of the function or event, its receiver and arguments, and when. */
export type EarlyCall = [name: string, self: unknown, args: unknown[], at: number]

/** Commands that wait for the script, and requests that were made before it came. */
export interface CommandQueue extends Array<ArrayLike<unknown>> {
  /** Null once the script looks after requests itself. */
  early?: EarlyCall[] | null
  /** True on pages that have the snippet. */
  isSnippet?: boolean
}

/** The part of the window that pages, tag managers and this script share. */
export interface SharedWindow {
  tagwarden?: (...command: unknown[]) => void
  tagwardenQueue?: CommandQueue
}

/** More are not kept, should the script never come. */
const MAX_EARLY = 100

/** Runs inside the page's head: keeps commands and requests until the script is there, and fetches it. */
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
      // A request can be read once, and the page's own call does.
      const kept = first instanceof Request ? [first.clone(), ...args.slice(1)] : args
      early.push([name, self, kept, performance.now()])
    } catch {
      // Nothing of ours may reach the page.
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
    // By default the browser keeps 250 entries: https://www.w3.org/TR/resource-timing/#sec-extensions-performance-interface
    performance.setResourceTimingBufferSize(1000)
  } catch {
    // Then it keeps fewer.
  }
  const script = document.createElement('script')
  script.async = true
  script.src = SCRIPT_URL
  document.head.append(script)
})()
