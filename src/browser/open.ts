import puppeteer, { type Browser, type CDPSession, CDPSessionEvent, type Page, type Target } from 'puppeteer-core'
import { SECOND_MS } from '../core/clock.ts'
import { messageOf } from '../core/error.ts'
import { addressGuard, type Resolve } from '../integrations/transport/address-guard.ts'
import type { Browsing, BrowsingOptions } from './browsing.ts'
import { versionIn, versionOf } from './chromium.ts'
import { type Emulation, emulate, emulationOf } from './device.ts'
import { openGuardProxy } from './guard-proxy.ts'
import { hiddenIn } from './hidden-parts.ts'
import { maskerOf } from './mask.ts'
import { screenshotOf } from './screenshot.ts'
import { type RunningChromium, startChromium } from './start-chromium.ts'
import { trustIn } from './trust.ts'
import { isVendorSocket } from './vendor-answer.ts'
import { watchTraffic } from './watch.ts'

/** What tests put in place of the real. */
export interface BrowsingParts {
  /** Resolves names; the system's resolver by default. */
  resolve?: Resolve
  /** Called with `host:port` for each connection that the browser asks for. */
  onAsked?: (place: string) => void
}

/** How long the browser may take to start: on a busy machine all else comes first. */
const START_MS = 60 * SECOND_MS
/** How long one command to the browser may take. */
const COMMAND_MS = 60 * SECOND_MS
/** How long the browser may take to close by itself. */
const CLOSE_MS = 2 * SECOND_MS

/**
 * Starts a Chromium with a clean profile, all of whose traffic goes through the guard and is watched. It ends when what is
 * returned is disposed of, when `stopping` is aborted, and with this process. Fails, with a sentence for people, when it
 * does not start.
 */
export async function openBrowsing(
  options: BrowsingOptions,
  stopping: AbortSignal,
  { resolve, onAsked }: BrowsingParts = {},
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
  const timer = setTimeout(() => reject(new Error(`it did not answer within ${START_MS / SECOND_MS} s`)), START_MS)
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
    throw new Error(`Chromium did not start: ${messageOf(error)}${words === '' ? '' : `; it said: ${words}`}`)
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
 * Makes each new target show itself as the device: it is told while it waits for the debugger. One that begins in a process of its own
 * may run its first scripts before it hears of it; of them only the user agent, which the browser has from its start, is sure.
 */
async function emulateInNew(browser: Browser, waiting: Set<string>, emulation: Emulation): Promise<void> {
  const session = await browser.target().createCDPSession()
  session.connection()?.on(CDPSessionEvent.SessionAttached, (attached: CDPSession) => {
    if (waiting.delete(attached.id())) void emulate(attached, emulation)
  })
  await session.detach()
}

/** The open tabs, oldest first; kept up to date as long as the browser runs. */
async function openTabs(browser: Browser): Promise<Page[]> {
  const tabs = [...(await browser.pages())]
  const pages = new Map<Target, Page>(tabs.map((page) => [page.target(), page]))
  browser.on('targetcreated', async (target: Target) => {
    if (target.type() !== 'page' || pages.has(target)) return
    // Null or a failure: it was closed meanwhile.
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
