import { type Cast, client, testClock } from '../../test/fixtures.ts'
import { createDomain } from '../domains/store.ts'
import { Dispatcher } from '../integrations/delivery/dispatcher.ts'
import { outboxFixture } from '../integrations/delivery/outbox.fixture.ts'
import { Poller } from '../integrations/inbound/poller.ts'
import type { ProviderChange } from '../integrations/providers/provider-context.ts'
import { integrationRoutes } from '../integrations/routes.ts'
import type { Db } from '../store/database.ts'
import { addressGuard } from '../transport/address-guard.ts'
import { httpTransport } from '../transport/http-transport.ts'
import { type HttpOutbound, type Reply, transport } from '../transport/transport.ts'
import { googleTagManager } from './google-tag-manager.ts'
import { CONTAINER, KEY_FILE, type TagManagerServer, tagManagerServer } from './google-tag-manager-server.fixture.ts'

const publicUrl = 'https://watch.example'

/** The database, users and time that remain after a server was killed. */
interface SavedState {
  db: Db
  people: Cast
  at: number
}

/** A fake Tag Manager that uses the clock of the most recently created server. It stops when disposed. */
export function tagManagerFixture() {
  const latest: { clock: { now(): number } } = { clock: testClock() }
  const server = tagManagerServer({ now: () => latest.clock.now() })
  const start = (options: FixtureOptions = {}) => {
    const started = integrationsFixture(server, options)
    latest.clock = started.clock
    return started
  }
  return { server, start, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

export interface FixtureOptions {
  saved?: SavedState
  callsPerMinute?: number
  operator?: Record<string, string>
  timeoutMs?: number
}

/** The integrations of a server that is connected to a fake Tag Manager. */
function integrationsFixture(
  server: TagManagerServer,
  { saved, callsPerMinute = 15, operator, timeoutMs = 5000 }: FixtureOptions,
) {
  const fixture = outboxFixture(saved?.db, saved?.people)
  if (saved) fixture.clock.set(saved.at)
  const { db, clock, people, orgId } = fixture
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const reported: unknown[] = []
  const changes: (ProviderChange & { orgId: string })[] = []
  const http = httpTransport({ guard, timeoutMs })
  const network = {
    /** Replaces a call. Null: the call is made. */
    instead: (_outbound: HttpOutbound): Reply | null => null,
    /** Replaces the response to a call that was made. */
    afterCall: (_outbound: HttpOutbound, reply: Reply): Reply => reply,
  }
  const deps = {
    db,
    clock,
    box: fixture.box,
    mailConfigured: false,
    jitter: () => 0,
    operator: { ...server.operator, TAG_MANAGER_CALLS_PER_MINUTE: String(callsPerMinute), ...operator },
    transport: transport({
      http: async (outbound, signal) =>
        network.instead(outbound) ?? network.afterCall(outbound, await http(outbound, signal)),
      mail: async () => ({ kind: 'error', message: 'e-mail is not available', permanent: true }),
    }),
    report: (error: unknown) => void reported.push(error),
  }
  const enqueue = () => ({ queued: 0, heldBack: 0 }) as never
  const dispatcher = new Dispatcher(deps, stopping.signal)
  const noteChange = (change: ProviderChange & { orgId: string }) => void changes.push(change)
  const polls = new Poller(dispatcher, { ...deps, enqueue, noteChange, connectors: [googleTagManager] })
  const call = client(
    fixture,
    ...integrationRoutes({ ...deps, guard, dispatcher, publicUrl, enqueue, connectors: [googleTagManager] }),
  )
  const { ada } = people

  const connect = (config: object = { serviceAccount: KEY_FILE }) =>
    call('POST', '/v1/integrations', { as: ada.key, body: { provider: 'tag_manager', label: 'Tags', config } })
  const domainId =
    db.prepare<[], string>('SELECT id FROM domain').pluck().get() ??
    createDomain(db, clock, orgId, { name: 'shop.example' })
  const container = { name: 'Shop', publicId: 'GTM-SHOP', accountId: '6', containerId: '71' }
  const input = (more: object = {}) => ({ domainId, containerPath: CONTAINER, container, ...more })
  const deploy = (more: object = {}, as = ada.key) =>
    call('POST', '/v1/integrations/tag_manager/deploy', { as, body: input(more) })
  const status = async () =>
    (await call('GET', `/v1/integrations/tag_manager/deploy?containerPath=${CONTAINER}`, { as: ada.key })).body
  const list = () => call('GET', `/v1/integrations/tag_manager/tags?containerPath=${CONTAINER}`, { as: ada.key })

  /** Repeats a deployment request until the deployment is finished. */
  async function deployAll(more: object = {}) {
    for (;;) {
      const answer = await deploy(more)
      // A server that is shutting down always returns 503.
      if (answer.status !== 503 || stopping.signal.aborted) return answer
      if (!answer.headers.get('retry-after')) throw new Error('the response has no Retry-After header')
    }
  }

  /** Advances the clock by one second every few milliseconds until `work` is done. */
  async function passing<T>(work: Promise<T>): Promise<T> {
    const timer = setInterval(() => clock.advance(1000), 2)
    try {
      return await work
    } finally {
      clearInterval(timer)
    }
  }

  const poll = async () => {
    polls.start()
    await dispatcher.idle()
  }
  /** Stops all calls and returns the current database. */
  function kill(): { image: Buffer; at: number } {
    const image = db.serialize()
    stopping.abort()
    return { image, at: clock.now() }
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body.status
  return {
    ...fixture,
    ada,
    domainId,
    reported,
    changes,
    network,
    dispatcher,
    call,
    connect,
    input,
    deploy,
    deployAll,
    status,
    list,
    passing,
    poll,
    kill,
    statusOf,
  }
}
