import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RecordedHit } from '../../browser/har-requests.ts'
import { DAY_MS, systemClock } from '../../core/clock.ts'
import { importEvents } from '../../data-folder/import-events.ts'
import { openAllStores, openStores } from '../../data-folder/open.ts'
import { createDomain, findDomain } from '../../domains/store.ts'
import { initialize } from '../../org/store.ts'
import { type Invocation, UsageError } from '../command.ts'
import { parseHar } from '../har.ts'
import { logTo, type Running, startServer, untilStopped } from '../server.ts'
import { configOf } from '../settings.ts'
import { HISTORY_DAYS, type PastOfShop, pastOfShop } from './history.ts'
import { type InboxMessage, openInbox } from './inbox.ts'
import { recordings } from './recordings/index.ts'
import { sampleAlerts } from './sample.ts'
import { type Post, questions, tellPast } from './tour.ts'
import { type Replayed, visit } from './traffic.ts'

const TRAFFIC_EVERY_MS = 1000

/** Runs the demo until it is stopped. Returns the exit code. */
export async function runDemo(invocation: Invocation): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-demo-'))
  const inbox = await openInbox(announce)
  try {
    const settings = { data: folder, smtpUrl: inbox.smtpUrl, outboundAllow: '127.0.0.1', logLevel: 'warn' }
    const config = configOf(invocation, settings)
    if (!config.listen) throw new UsageError('demo: --listen is empty')
    const owner = await makeOwner(folder)
    const past = pastOfShop(systemClock.now())
    await importPast(folder, owner.domainId, past)
    const showInbox = (request: Request) =>
      new URL(request.url).pathname === '/demo/inbox'
        ? Promise.resolve(Response.json({ messages: inbox.messages() }))
        : null
    const running = await startServer(config, logTo(config.logLevel), showInbox)
    try {
      const stopTraffic = await fill(running, owner, inbox.webhookUrl, past)
      greet(running.url, owner, folder)
      await untilStopped()
      stopTraffic()
    } finally {
      await running.stop()
    }
    return 0
  } finally {
    await inbox.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The credentials of the owner of the sample organization, and its property. */
interface Owner {
  email: string
  password: string
  key: string
  domainId: string
  token: string
}

async function makeOwner(folder: string): Promise<Owner> {
  const { db, box } = openStores(folder)
  const owner = { email: 'owner@shop.example', password: randomBytes(9).toString('base64url') }
  const { apiKey, orgId } = await initialize(db, box, systemClock, { ...owner, orgName: 'Sample Shop' })
  const shop = { name: 'shop.example', monitoredUrls: ['https://shop.example/'] }
  const domainId = createDomain(db, systemClock, orgId, shop)
  const { token } = findDomain(db, { orgId, id: domainId }, systemClock.now())
  db.close()
  return { ...owner, key: apiKey, domainId, token }
}

/** The shop has a past, which comes into the data folder as anybody's does. */
async function importPast(folder: string, domainId: string, { events }: PastOfShop): Promise<void> {
  const now = systemClock.now()
  const file = join(folder, 'past.ndjson')
  await Bun.write(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const report = (error: unknown) => console.error(error)
  const stores = await openAllStores(folder, systemClock, {
    report,
    log: { info() {}, warn: report },
    tellOperator: ({ subject }) => report(subject),
  })
  try {
    await importEvents(stores, { files: [file], domainId, from: now - HISTORY_DAYS * DAY_MS, now, progress() {} })
  } finally {
    await stores.spool.close()
    stores.close()
    rmSync(file)
  }
}

/** Sets up the sample organization through the API, and starts the traffic. Returns a function that stops it. */
async function fill(
  { url, collectUrl }: Running,
  { key, domainId, token }: Owner,
  webhookUrl: string,
  past: PastOfShop,
): Promise<() => void> {
  const post: Post = async (path, body) => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
  for (const alert of sampleAlerts(domainId, webhookUrl)) await post('/v1/alerts', alert)
  await tellPast(post, domainId, past)
  return sendTraffic(collectUrl, token)
}

function sendTraffic(collectUrl: string, token: string): () => void {
  const recorded = recordings.flatMap((har, index) => parseHar(har, `recording ${index}`)).map(withoutTime)
  const startedAt = Date.now()
  let second = 0
  const timer = setInterval(async () => {
    for (const batch of visit(recorded, second++, Date.now() - startedAt)) {
      const send = fetch(`${collectUrl}/api/v1/events?token=${token}`, { method: 'POST', body: JSON.stringify(batch) })
      await send.catch((error: unknown) => console.error(`traffic: ${error}`))
    }
  }, TRAFFIC_EVERY_MS)
  return () => clearInterval(timer)
}

function withoutTime({ ts, pageUrl, ...hit }: RecordedHit): Replayed {
  return hit
}

function greet(url: string, { email, password, key, domainId }: Owner, folder: string): void {
  const sees = questions(domainId)
  const width = Math.max(...sees.map(([path]) => path.length))
  console.log(
    [
      '',
      'Tagwarden demo: a sample shop whose tags break while you watch.',
      '',
      `  look at   ${url}/#key=${key}&demo`,
      `  sign in   ${email}   ${password}`,
      `  API key   ${key}   (organization Sample Shop, role owner)`,
      `  try       curl -H "Authorization: Bearer ${key}" ${url}PATH`,
      ...sees.map(([path, what]) => `            ${path.padEnd(width)}   ${what}`),
      `  data      ${folder}   (removed at the end)`,
      '',
      'Messages from the built-in inbox follow; stop with Ctrl-C.',
      '',
    ].join('\n'),
  )
}

function announce({ at, via, title }: InboxMessage): void {
  console.log(`${new Date(at).toISOString().slice(11, 19)}  ${via.padEnd(8)} ${title}`)
}
