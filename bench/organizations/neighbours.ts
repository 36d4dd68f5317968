import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAlert } from '../../src/alerts/alert-store.ts'
import { HOUR_MS, SECOND_MS, systemClock } from '../../src/core/clock.ts'
import { openStores } from '../../src/data-folder/open-folder.ts'
import { createDomain, findDomain } from '../../src/domains/store.ts'
import { createKey } from '../../src/org/api-key-store.ts'
import { createOrg, createOwner } from '../../src/org/store.ts'
import { sized } from '../tools/bench-size.ts'
import { type Budget, budget } from '../tools/budget.ts'
import { quantile, spreadOf } from '../tools/percentiles.ts'
import { client, start, tagwarden } from '../tools/server.ts'
import { oneMinuteAlert } from './scale-folder.ts'

/** Number of rounds. Each round is measured first without and then with the hostile organization. */
const ROUNDS = sized(3, 1)
const ROUND_MS = sized(20 * SECOND_MS, SECOND_MS / 2)
/** Pause before each round, in which work left from the previous round finishes. */
const SETTLE_MS = sized(5 * SECOND_MS, 100)
const BATCH_EVERY_MS = 50
const QUERY_EVERY_MS = 500
const PROBE_EVERY_MS = sized(2 * SECOND_MS, SECOND_MS / 2)
const PROBES = Math.ceil((2 * ROUNDS * ROUND_MS) / PROBE_EVERY_MS) + 1

/** Number of domains that the hostile organization has. */
const HOSTILE_DOMAINS = sized(200, 4)
const HOSTILE_ALERTS = sized(2000, 20)
export const HANGING_HOOKS = 100
/** Maximum number of rules to add. Fewer are added once the organization's budget is used up. */
const HOSTILE_RULES = sized(300, 4)
export const EXPENSIVE = '[AB]{2,120}1?[B12]{3,90}[^d]{20,200}[h-z]$'

/** An organization, with its API key and the token of its first property. */
interface Side {
  orgId: string
  key: string
  domainId: string
  token: string
}

/** Input of the process that runs the hostile organization, passed in a file. */
export interface Hostile {
  url: string
  token: string
  readOnlyKey: string
}

/** Times measured for the attacked organization in one round, in ms. */
interface VictimTimes {
  batches: number[]
  hooks: number[]
  queries: number[]
  /** Number of rejected batches and of violations that sent no message. */
  lost: number
}

/**
 * Measures two organizations on one server. One attacks the server in every way at once. Compares the response times of
 * the other with and without the attack.
 */
export async function benchNeighbours(): Promise<Budget[]> {
  const folder = mkdtempSync(join(tmpdir(), 'tagwarden-neighbours-'))
  const hooks = hookReceiver()
  const hanging = await hangingReceiver()
  const { victim, hostile, readOnlyKey } = makeSides(folder)
  const env = { TAGWARDEN_OUTBOUND_ALLOW: '127.0.0.0/8', TAGWARDEN_DISK_BUDGET: '500MB', TAGWARDEN_LOG_LEVEL: 'error' }
  const server = await start(tagwarden('serve', '--data', folder, '--listen', '127.0.0.1:0'), env)
  try {
    await prepareVictim(server.url, victim, hooks.url)
    const accepted = await prepareHostile(server.url, hostile, hanging.port)
    console.log(`  ${accepted} of ${HOSTILE_RULES} expensive rules were accepted`)
    const order = join(folder, 'hostile.json')
    writeFileSync(order, JSON.stringify({ url: server.url, token: hostile.token, readOnlyKey } satisfies Hostile))
    const fared = { alone: nothingYet(), beside: nothingYet() }
    let probe = 0
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const isBeside = round % 2 === 1
      const neighbour = isBeside ? startNeighbour(order) : null
      await Bun.sleep(SETTLE_MS)
      const one = await fare(server.url, victim, hooks, probe)
      probe += ROUND_MS / PROBE_EVERY_MS
      neighbour?.kill()
      const all = isBeside ? fared.beside : fared.alone
      for (const part of ['batches', 'hooks', 'queries'] as const) all[part].push(...one[part])
      all.lost += one.lost
      console.log(`  ${isBeside ? 'with neighbour' : 'alone'} ${textOf(one)}`)
    }
    return budgetsOf(fared.alone, fared.beside)
  } finally {
    await server.stop()
    hooks.stop()
    hanging.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

const nothingYet = (): VictimTimes => ({ batches: [], hooks: [], queries: [], lost: 0 })

function budgetsOf(alone: VictimTimes, beside: VictimTimes): Budget[] {
  const ratio = (part: 'batches' | 'hooks' | 'queries', share: number) =>
    quantile(beside[part], share) / quantile(alone[part], share)
  return [
    budget('collector p99, with a hostile neighbour / alone', ratio('batches', 0.99), 'at most', 2),
    budget('violation to webhook, median, with a hostile neighbour / alone', ratio('hooks', 0.5), 'at most', 2),
    budget('query, median, with a hostile neighbour / alone', ratio('queries', 0.5), 'at most', 3),
    budget('rejected batches and unreported violations', alone.lost + beside.lost, 'is', 0),
  ]
}

function textOf({ batches, hooks, queries, lost }: VictimTimes): string {
  return `collector ${spreadOf(batches)}; ${hooks.length} webhooks ${spreadOf(hooks)}; queries ${spreadOf(queries)}; lost ${lost}`
}

function makeSides(folder: string): { victim: Side; hostile: Side; readOnlyKey: string } {
  const { db, box } = openStores(folder)
  mkdirSync(join(folder, 'events'), { recursive: true })
  const clock = systemClock
  const sides = ['victim', 'hostile'].map((name) => {
    const { id: orgId } = createOrg(db, box, clock, { name })
    const { id: userId } = createOwner(db, clock, { orgId, email: `${name}@example.com` })
    const key = createKey(db, clock, { userId, orgId, name: 'bench', expiresInDays: null }).secret
    const readOnly = createKey(db, clock, { userId, orgId, name: 'read', expiresInDays: null, readOnly: true }).secret
    const domainId = createDomain(db, clock, orgId, { name: `${name}.example` })
    const { token } = findDomain(db, { orgId, id: domainId }, clock.now())
    return { orgId, key, readOnly, domainId, token }
  })
  const [victim, hostile] = sides
  if (!victim || !hostile) throw new Error('expected two organizations')
  const ids = Array.from({ length: HOSTILE_DOMAINS }, (_, n) =>
    createDomain(db, clock, hostile.orgId, { name: `Shop ${n}` }),
  )
  for (let n = 0; n < HOSTILE_ALERTS; n++) {
    createAlert(db, clock, hostile.orgId, oneMinuteAlert(n, ids[n % ids.length] ?? ''))
  }
  db.close()
  return { victim, hostile, readOnlyKey: hostile.readOnly }
}

export const rule = (name: string, items: object[], channels: object[]) => ({
  name,
  alertType: 'data_validation',
  period: '1h',
  channels,
  conditions: { logic: 'any', items },
})

/** Creates a rule for each violation that is sent later, because a rule with an open issue sends no further message. */
async function prepareVictim(url: string, { key }: Side, hookUrl: string): Promise<void> {
  const call = client(url, key)
  const config = { url: hookUrl }
  const { id } = await call<{ id: string }>('POST', '/v1/integrations', { provider: 'webhook', label: 'Hook', config })
  for (let n = 0; n < PROBES; n++) {
    const items = [{ parameter: 'probe', op: 'equals', values: [`probe-${n}`] }]
    await call('POST', '/v1/alerts', rule(`probe-${n}`, items, [{ type: 'webhook', target: id }]))
  }
}

/** Creates rules whose webhook receivers never respond, and as many expensive rules as the server accepts. */
async function prepareHostile(url: string, { key }: Side, port: number): Promise<number> {
  const call = client(url, key)
  for (let n = 0; n < HANGING_HOOKS; n++) {
    const config = { url: `http://127.0.1.${n + 1}:${port}/` }
    const label = `Hanging ${n}`
    const { id } = await call<{ id: string }>('POST', '/v1/integrations', { provider: 'webhook', label, config })
    const items = [{ parameter: 'value', op: 'starts_with', values: [`hang-${n}-`] }]
    await call('POST', '/v1/alerts', { ...rule(label, items, [{ type: 'webhook', target: id }]), period: '1m' })
  }
  let accepted = 0
  try {
    for (; accepted < HOSTILE_RULES; accepted++) {
      const values = [EXPENSIVE.replace('120', String(20 + (accepted % 100)))]
      const channels = [{ type: 'email', target: 'ops@example.com' }]
      await call(
        'POST',
        '/v1/alerts',
        rule(`Expensive ${accepted}`, [{ parameter: '*', op: 'regex', values }], channels),
      )
    }
  } catch (error) {
    console.log(`  the next rule was rejected: ${String(error).slice(0, 160)}`)
  }
  return accepted
}

function startNeighbour(order: string) {
  return Bun.spawn([process.execPath, join(import.meta.dir, 'hostile-neighbour.ts'), order], {
    stdout: 'inherit',
    stderr: 'inherit',
  })
}

/** Sends batches, occasional violations and queries for the attacked organization during one round. */
async function fare(
  url: string,
  { key, token, domainId }: Side,
  hooks: Hooks,
  firstProbe: number,
): Promise<VictimTimes> {
  const fared = nothingYet()
  const end = performance.now() + ROUND_MS
  const send = async (n: number, params: Record<string, string>) => {
    const sentAt = performance.now()
    const events = Array.from({ length: 5 }, () => ({ vendor: 'Shop', event: 'view', params }))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ batchId: `v-${n}-${sentAt}`, sessionId: `s${n % 50}`, events })
    const response = await fetch(`${url}/api/v1/events`, { method: 'POST', headers, body })
    await response.text()
    if (response.status === 202) fared.batches.push(performance.now() - sentAt)
    else fared.lost++
  }
  const every = async (ms: number, work: (n: number) => Promise<void>) => {
    const under: Promise<void>[] = []
    for (let n = 0; performance.now() < end; n++) {
      under.push(work(n))
      await Bun.sleep(ms)
    }
    await Promise.all(under)
  }
  const call = client(url, key)
  await Promise.all([
    every(BATCH_EVERY_MS, (n) => send(n, { value: `${n}` })),
    every(PROBE_EVERY_MS, async (n) => {
      const name = `probe-${firstProbe + n}`
      const sentAt = performance.now()
      const arrival = hooks.arrivalOf(name)
      await send(n, { probe: name })
      const toldAt = await Promise.race([arrival, Bun.sleep(30 * SECOND_MS).then(() => null)])
      if (toldAt === null) fared.lost++
      else fared.hooks.push(toldAt - sentAt)
    }),
    every(QUERY_EVERY_MS, async () => {
      const askedAt = performance.now()
      await call('GET', `/v1/events?domainId=${domainId}&event=view&limit=50&from=${Date.now() - HOUR_MS}`)
      fared.queries.push(performance.now() - askedAt)
    }),
  ])
  return fared
}

interface Hooks {
  url: string
  /** Resolves with the time at which a message with this name was received. */
  arrivalOf(name: string): Promise<number>
  stop(): void
}

export function hookReceiver(): Hooks {
  const waiting = new Map<string, (at: number) => void>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const body = await request.text()
      const name = /probe-\d+/.exec(body)?.[0] ?? ''
      waiting.get(name)?.(performance.now())
      return new Response('ok')
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    arrivalOf: (name) => new Promise((resolve) => waiting.set(name, resolve)),
    stop: () => void server.stop(true),
  }
}

/** Starts a receiver that accepts connections on every loopback address and never responds. */
async function hangingReceiver(): Promise<{ port: number; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).resume()
  })
  await new Promise<void>((listening) => server.listen(0, '0.0.0.0', listening))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
