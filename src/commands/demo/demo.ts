import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStores } from '../../app.ts'
import { systemClock } from '../../core/clock.ts'
import { initialize } from '../../org/store.ts'
import { type Command, UsageError } from '../command.ts'
import { parseHar, type RecordedHit } from '../har.ts'
import { logTo, type Running, startServer, untilStopped } from '../server.ts'
import { configOf, LISTEN_FLAGS } from '../settings.ts'
import { type InboxMessage, openInbox } from './inbox.ts'
import { recordings } from './recordings/index.ts'
import { sampleAlerts } from './sample.ts'
import { type Replayed, visit } from './traffic.ts'

const TRAFFIC_EVERY_MS = 1000

export const demo: Command = {
  name: 'demo',
  summary: 'A server with a sample organization, replayed real traffic, alerts and a built-in inbox.',
  flags: { listen: LISTEN_FLAGS.listen },
  async run(invocation) {
    const folder = mkdtempSync(join(tmpdir(), 'tagwarden-demo-'))
    const inbox = await openInbox(announce)
    try {
      const settings = { data: folder, smtpUrl: inbox.smtpUrl, outboundAllow: '127.0.0.1', logLevel: 'warn' }
      const config = configOf(invocation, settings)
      if (!config.listen) throw new UsageError('demo: --listen is empty')
      const key = await makeOwner(folder)
      const showInbox = (request: Request) =>
        new URL(request.url).pathname === '/demo/inbox'
          ? Promise.resolve(Response.json({ messages: inbox.messages() }))
          : null
      const running = await startServer(config, logTo(config.logLevel), showInbox)
      const stopTraffic = await fill(running, key, inbox.webhookUrl)
      greet(running.url, key, folder)
      await untilStopped()
      stopTraffic()
      await running.stop()
      return 0
    } finally {
      await inbox.close()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}

async function makeOwner(folder: string): Promise<string> {
  const { db, box } = openStores(folder)
  const owner = { orgName: 'Sample Shop', email: 'owner@shop.example', password: null }
  const { apiKey } = await initialize(db, box, systemClock, owner)
  db.close()
  return apiKey
}

/** Sets up the sample organization through the API, as anybody would, and lets traffic flow. Answers how to stop it. */
async function fill({ url, collectUrl }: Running, key: string, webhookUrl: string): Promise<() => void> {
  const post = async <T>(path: string, body: unknown): Promise<T> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const domain = await post<{ id: string; token: string }>('/v1/domains', {
    name: 'shop.example',
    monitoredUrls: ['https://shop.example/'],
  })
  for (const alert of sampleAlerts(domain.id, webhookUrl)) await post('/v1/alerts', alert)
  return sendTraffic(collectUrl, domain.token)
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

function greet(url: string, key: string, folder: string): void {
  console.log(
    [
      '',
      'Tagwarden demo: a sample shop whose tags break while you watch.',
      '',
      `  look at   ${url}/#key=${key}&demo`,
      `  API key   ${key}   (organization Sample Shop, role owner)`,
      `  try       curl -H "Authorization: Bearer ${key}" ${url}/v1/issues`,
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
