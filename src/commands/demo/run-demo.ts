import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findChromium, howToGetChromium } from '../../browser/find-chromium.ts'
import type { RecordedHit } from '../../browser/har-requests.ts'
import type { Config } from '../../config.ts'
import { systemClock } from '../../core/clock.ts'
import { importEvents } from '../../data-folder/import-events.ts'
import { openAllStores } from '../../data-folder/open-folder.ts'
import { DEMO_INBOX_PATH } from '../../http/web-pages.ts'
import { type Invocation, UsageError } from '../command.ts'
import { configOf } from '../command-line-settings.ts'
import { logTo } from '../json-log.ts'
import { parseHar } from '../read-har.ts'
import { type RunningServer, startServer } from '../start-server.ts'
import { untilStopped } from '../until-stopped.ts'
import { type Inbox, type InboxMessage, openInbox } from './demo-inbox.ts'
import { batchesOf, importLine } from './encode-events.ts'
import { exampleRequests } from './example-api-requests.ts'
import {
  FAULTY_AFTER_MS,
  isRecordedAt,
  type ReplayedRequest,
  recordedVisit,
  withoutTransactionId,
} from './recorded-traffic.ts'
import { recordings } from './recordings/index.ts'
import { type FlowTestIds, runFlowTests } from './run-sample-flow-tests.ts'
import { createSampleOrganization, type SampleOrganization } from './sample-organization.ts'
import { type DemoTimeline, demoTimelineOf, HOSTS, SampleSites } from './sample-sites.ts'
import { openShopWebsite, type ShopWebsite } from './shop-website.ts'
import { simulateFirstWeeks, simulateLastDays, splitViolating } from './simulate-history.ts'
import { callOf, SimulatedClock, SimulatedProgram } from './simulated-program.ts'
import type { SiteEvent } from './simulated-site.ts'

const TRAFFIC_EVERY_MS = 1000

/** Runs the demo until it is stopped. Returns the exit code. */
export async function runDemo(invocation: Invocation): Promise<number> {
  const plot = demoTimelineOf(systemClock.now())
  const clock = new SimulatedClock(plot.joinedAt)
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-demo-'))
  const messages = announcer()
  const inbox = await openInbox(clock, messages.announce)
  const storefront = openShopWebsite()
  try {
    const settings = { data: folder, smtpUrl: inbox.smtpUrl, outboundAllow: '127.0.0.1', logLevel: 'warn' }
    const config = configOf(invocation, settings)
    if (!config.listen) throw new UsageError('demo: --listen is empty')
    const sample = await createSampleOrganization(folder, clock)
    const sites = new SampleSites(plot)
    const tests = await livePast(config, { sample, sites, plot, clock, inbox, storefront })
    const showInbox = (request: Request) =>
      new URL(request.url).pathname === DEMO_INBOX_PATH
        ? Promise.resolve(Response.json({ messages: inbox.messages() }))
        : null
    const running = await startServer(config, logTo(config.logLevel), showInbox)
    try {
      const stopTraffic = sendTraffic(running, sample, sites)
      greet(running.url, sample, config, folder)
      messages.begin()
      const walks = walkInBackground(running, sample, config, { storefront, tests })
      await untilStopped()
      stopTraffic()
      await walks.stop()
    } finally {
      await running.stop()
    }
    return 0
  } finally {
    await inbox.close()
    await storefront.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface Past {
  sample: SampleOrganization
  sites: SampleSites
  plot: DemoTimeline
  clock: SimulatedClock
  inbox: Inbox
  storefront: ShopWebsite
}

/**
 * Generates the organization's history in the same way as real data is received. Most events are imported. Events that
 * violate rules and those of the last days go through the collector, with the program's own jobs and routes. Returns
 * the flow tests, which have not run yet.
 */
async function livePast(config: Config, { sample, sites, plot, clock, inbox, storefront }: Past): Promise<FlowTestIds> {
  const { events, orders } = sites.until(plot.collectedAt)
  const { noticed, others } = splitViolating(events, plot)
  const live = async <T>(part: (days: SimulatedProgram) => Promise<T>) => {
    const days = await SimulatedProgram.open(config, clock, logTo(config.logLevel))
    try {
      return await part(days)
    } finally {
      await days.close()
    }
  }
  const made = await live((days) => simulateFirstWeeks(days, sample, plot, { noticed, webhookUrl: inbox.webhookUrl }))
  await importPast(config.data, clock, { sample, plot, events: others })
  const { origin } = storefront
  return live(async (days) => {
    const tests = await simulateLastDays(days, sample, plot, { sites, sold: orders, made, origin })
    days.reachPresent()
    return tests
  })
}

async function importPast(
  folder: string,
  clock: SimulatedClock,
  { sample, plot, events }: { sample: SampleOrganization; plot: DemoTimeline; events: readonly SiteEvent[] },
): Promise<void> {
  const file = join(folder, 'past.ndjson')
  const lines = events.map((event) => `${importLine(event, sample.domainIds[event.host] ?? '')}\n`)
  await Bun.write(file, lines.join(''))
  const report = (error: unknown) => console.error(error)
  const log = { info() {}, warn: report }
  const stores = await openAllStores(folder, clock, { report, log, notifyOperator: ({ subject }) => report(subject) })
  try {
    const order = { files: [file], domainId: null, from: plot.from, now: clock.now(), progress() {} }
    const { refused, errors } = await importEvents(stores, order)
    if (refused > 0) throw new Error(`importing past events failed: ${errors[0]?.error}`)
  } finally {
    await stores.spool.close()
    stores.close()
    rmSync(file)
  }
}

/** Sends visitor traffic continuously, partly from recorded requests. Returns a function that stops it. */
function sendTraffic(
  { url, collectUrl }: RunningServer,
  { owner, domainIds, tokens }: SampleOrganization,
  sites: SampleSites,
): () => void {
  const [google = [], ...others] = recordings.map((har, index) => parseHar(har, `recording ${index}`).map(withoutTime))
  const startedAt = systemClock.now()
  const headers = { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' }
  const post = async (to: string, body: unknown) => {
    const sent = fetch(to, { method: 'POST', headers, body: JSON.stringify(body) })
    await sent.catch((error: unknown) => console.error(`traffic: ${error}`))
  }
  let second = 0
  const timer = setInterval(async () => {
    const now = systemClock.now()
    const { events, orders } = sites.until(now)
    const told = now - startedAt < FAULTY_AFTER_MS ? events : events.map(withoutTransactionId)
    const batches = [
      ...batchesOf(told, now),
      ...(isRecordedAt(second) ? [recordedVisit({ google, others }, second, now)] : []),
    ]
    second++
    for (const { host, batch } of batches) await post(`${collectUrl}/api/v1/events?token=${tokens[host]}`, batch)
    const sold = orders.map(({ host, ...order }) => order)
    if (sold.length > 0) await post(`${url}/v1/orders`, { domainId: domainIds[HOSTS.shop], orders: sold })
  }, TRAFFIC_EVERY_MS)
  return () => clearInterval(timer)
}

function withoutTime({ ts, pageUrl, userAgent, ...hit }: RecordedHit): ReplayedRequest {
  return hit
}

/** Runs the flow tests and an audit in the background after startup. Does nothing without a browser. */
function walkInBackground(
  { app }: RunningServer,
  { owner, domainIds }: SampleOrganization,
  { chromium }: Config,
  parts: { storefront: ShopWebsite; tests: FlowTestIds },
): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const walks = async () => {
    if (findChromium(chromium) === null) return
    await runFlowTests(callOf(app, owner.key), { ...parts, domainId: domainIds[HOSTS.shop] ?? '' }, stopping.signal)
  }
  const ended = walks().catch((error: unknown) => console.error(`flow tests: ${error}`))
  return {
    stop() {
      stopping.abort()
      return ended
    },
  }
}

function greet(
  url: string,
  { owner: { email, password, key }, domainIds }: SampleOrganization,
  { chromium }: Config,
  folder: string,
): void {
  const walked =
    findChromium(chromium) === null
      ? `not started: ${howToGetChromium(chromium)}`
      : 'two flow tests and an audit of the shop are running; this takes about a minute'
  const examples = exampleRequests(domainIds[HOSTS.shop] ?? '')
  const width = Math.max(...examples.map(([path]) => path.length))
  console.log(
    [
      '',
      'Tagwarden demo: a sample shop whose tags break while you watch.',
      '',
      `  open      ${url}/#key=${key}&demo`,
      `  sign in   ${email}   ${password}`,
      `  API key   ${key}   (organization Sample Shop, role owner)`,
      `  try       curl -H "Authorization: Bearer ${key}" ${url}PATH`,
      ...examples.map(([path, what]) => `            ${path.padEnd(width)}   ${what}`),
      `  tests     ${walked}`,
      `  data      ${folder}   (deleted on exit)`,
      '',
      'Messages from the built-in inbox appear below. Press Ctrl-C to stop.',
      '',
    ].join('\n'),
  )
}

/** Returns a function that announces messages received after startup. Earlier messages are only stored in the inbox. */
function announcer() {
  let hasBegun = false
  return {
    begin() {
      hasBegun = true
    },
    announce({ at, via, title }: InboxMessage) {
      if (hasBegun) console.log(`${new Date(at).toISOString().slice(11, 19)}  ${via.padEnd(8)} ${title}`)
    },
  }
}
