import puppeteer, { type Browser, type CDPSession, CDPSessionEvent, type Page, type Target } from 'puppeteer-core'
import { SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { addressGuard, type Resolve } from '../transport/address-guard.ts'
import type { Browsing, BrowsingOptions } from './browsing.ts'
import { type Emulation, emulate, emulationOf } from './device-emulation.ts'
import { isVendorSocket } from './fake-vendor-response.ts'
import { versionIn, versionOf } from './find-chromium.ts'
import { hiddenIn } from './find-sensitive-text.ts'
import { openGuardProxy } from './guard-proxy.ts'
import { screenshotOf } from './screenshot.ts'
import { maskerOf } from './secret-mask.ts'
import { type RunningChromium, startChromium } from './start-chromium.ts'
import { trustIn } from './trust-authorities.ts'
import { watchTraffic } from './watch-traffic.ts'

/** Dependencies that tests can replace. */
export interface BrowsingDeps {
  /** Resolves host names. By default, the system's resolver is used. */
  resolve?: Resolve
  /** Called with `host:port` for each connection that the browser requests. */
  onAsked?: (place: string) => void
}

/** Timeout for starting the browser. Long enough for a busy machine. */
const START_MS = 60 * SECOND_MS
/** Timeout for one command to the browser. */
const COMMAND_MS = 60 * SECOND_MS
/** Time for the browser to close before it is killed. */
const CLOSE_MS = 2 * SECOND_MS

/**
 * Starts a Chromium with a clean profile. All its traffic is recorded and passes through the guard. The browser exits
 * when the result is disposed of, when `stopping` is aborted, or when this process exits. When the browser can't be
 * started, rejects with a message that can be shown to users.
 */
export async function openBrowsing(
  options: BrowsingOptions,
  stopping: AbortSignal,
  { resolve, onAsked }: BrowsingDeps = {},
): Promise<Browsing> {
  stopping.throwIfAborted()
  await using starting = new AsyncDisposableStack()
  const guard = addressGuard(options.outboundAllow, { plainHttp: true })
  const keepsIn = options.vendorRequests === 'answer' ? isVendorSocket : undefined
  const { outboundProxy } = options
  const proxy = starting.use(await openGuardProxy({ guard, outboundProxy, resolve, onAsked, keepsIn }))
  trustIn(options.folder, options.outboundCa)
  const version = await versionOf(options.chromium)
  stopping.throwIfAborted()
  const shownWith = (known: string) => emulationOf(options.device, known, options.userAgentSuffix)
  const userAgent = version && shownWith(version).userAgent.userAgent
  const chromium = startChromium(options.chromium, { folder: options.folder, proxyPort: proxy.port, userAgent })
  starting.defer(async () => {
    chromium.kill()
    await chromium.gone
  })
  stopping.addEventListener('abort', chromium.kill, { once: true })
  starting.defer(() => stopping.removeEventListener('abort', chromium.kill))
  const browser = await connect(chromium)
  starting.defer(() => close(browser, chromium))
  const emulation = shownWith(version ?? versionIn(await browser.version()) ?? '0')
  await emulateInNew(browser, chromium.transport.waiting, emulation)
  const mask = maskerOf(options.secrets)
  const traffic = await watchTraffic(browser, {
    vendorRequests: options.vendorRequests,
    mask,
    faultOf: proxy.faultOf,
    userAgent: emulation.userAgent,
  })
  const tabs = await openTabs(browser)
  const [page] = tabs
  if (!page) throw new Error('the browser started without a tab')
  await emulate(await page.createCDPSession(), emulation)
  const running = starting.move()
  return {
    browser,
    page,
    traffic,
    proxy: `http://127.0.0.1:${proxy.port}`,
    faultOf: proxy.faultOf,
    tabs: () => tabs,
    mask,
    screenshot: (of) => screenshotOf(of, hiddenIn(options)),
    gone: chromium.gone,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

async function connect(chromium: RunningChromium): Promise<Browser> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`it did not respond within ${START_MS / SECOND_MS} s`)), START_MS)
  const gone = chromium.gone.then((why) => {
    throw new Error(why)
  })
  const connected = puppeteer.connect({
    transport: chromium.transport,
    defaultViewport: null,
    downloadBehavior: { policy: 'deny' },
    protocolTimeout: COMMAND_MS,
  })
  try {
    return await Promise.race([connected, gone, late])
  } catch (error) {
    connected.catch(() => undefined)
    const words = chromium.lastWords()
    throw new Error(`Chromium did not start: ${messageOf(error)}${words === '' ? '' : `; its output: ${words}`}`)
  } finally {
    clearTimeout(timer)
    gone.catch(() => undefined)
  }
}

async function close(browser: Browser, chromium: RunningChromium): Promise<void> {
  const { promise: tooLong, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, CLOSE_MS)
  browser.close().catch(() => undefined)
  await Promise.race([chromium.gone, tooLong])
  clearTimeout(timer)
}

/**
 * Emulates the device in each new target while the target waits for the debugger. A target in a new process may run its
 * first scripts earlier. These scripts see only the correct user agent, which is set when the browser starts.
 */
async function emulateInNew(browser: Browser, waiting: Set<string>, emulation: Emulation): Promise<void> {
  const session = await browser.target().createCDPSession()
  session.connection()?.on(CDPSessionEvent.SessionAttached, (attached: CDPSession) => {
    if (waiting.delete(attached.id())) void emulate(attached, emulation)
  })
  await session.detach()
}

/** Returns a list of the open tabs, oldest first. The list is updated while the browser runs. */
async function openTabs(browser: Browser): Promise<Page[]> {
  const tabs = [...(await browser.pages())]
  const pages = new Map<Target, Page>(tabs.map((page) => [page.target(), page]))
  browser.on('targetcreated', async (target: Target) => {
    if (target.type() !== 'page' || pages.has(target)) return
    // Null or a rejection means that the tab has been closed.
    const page = await target.page().catch(() => null)
    if (!page || pages.has(target) || page.isClosed()) return
    pages.set(target, page)
    tabs.push(page)
  })
  browser.on('targetdestroyed', (target: Target) => {
    const page = pages.get(target)
    pages.delete(target)
    const at = page ? tabs.indexOf(page) : -1
    if (at !== -1) tabs.splice(at, 1)
  })
  return tabs
}
