import { type Cast, client } from '../../../../test/fakes.ts'
import { createDomain } from '../../../domains/store.ts'
import type { Db } from '../../../store/database.ts'
import { addressGuard } from '../../address-guard.ts'
import { Dispatcher } from '../../dispatcher.ts'
import { httpTransport } from '../../http-transport.ts'
import { outboxWorld } from '../../outbox.fixture.ts'
import { Polls } from '../../polls.ts'
import { integrationRoutes } from '../../routes.ts'
import { type HttpOutbound, type Reply, transport } from '../../transport.ts'
import type { ProviderChange } from '../context.ts'
import { CONTAINER, KEY_FILE, type TagManagerServer } from './tag-manager-server.fixture.ts'

const publicUrl = 'https://watch.example'

/** The program, as far as it speaks with Tag Manager. `db` and `people` of a world that was killed begin where it ended. */
export function tagManagerWorld(server: TagManagerServer, before?: { db: Db; people: Cast; clock: { now(): number } }) {
  const world = outboxWorld(before?.db, before?.people)
  if (before) world.clock.set(before.clock.now())
  const { db, clock, people, orgId } = world
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const reported: unknown[] = []
  const changes: (ProviderChange & { orgId: string })[] = []
  const http = httpTransport({ guard, timeoutMs: 5000 })
  const wayOut = {
    /** Before a call: what is answered in its place; null: it goes. */
    instead: (_outbound: HttpOutbound): Reply | null => null,
    /** Behind a call that was done: what is heard of it. */
    heard: (_outbound: HttpOutbound, reply: Reply): Reply => reply,
  }
  const parts = {
    ...{ db, clock, box: world.box, mailConfigured: false, jitter: () => 0, operator: server.operator },
    transport: transport({
      http: async (outbound, signal) =>
        wayOut.instead(outbound) ?? wayOut.heard(outbound, await http(outbound, signal)),
      mail: async () => ({ kind: 'error', message: 'no mail', permanent: true }),
    }),
    report: (error: unknown) => void reported.push(error),
  }
  const enqueue = () => ({ queued: 0, heldBack: 0 }) as never
  const dispatcher = new Dispatcher(parts, stopping.signal)
  const noteChange = (change: ProviderChange & { orgId: string }) => void changes.push(change)
  const polls = new Polls(dispatcher, { ...parts, enqueue, noteChange })
  const call = client(world, ...integrationRoutes({ ...parts, guard, dispatcher, publicUrl, enqueue }))
  const { ada } = people

  const connect = (config: object = { serviceAccount: KEY_FILE }) =>
    call('POST', '/v1/integrations', { as: ada.key, body: { provider: 'tag_manager', label: 'Tags', config } })
  const domainId = createDomain(db, clock, orgId, { name: 'shop.example' })
  const container = { name: 'Shop', publicId: 'GTM-SHOP', accountId: '6', containerId: '71' }
  const input = (more: object = {}) => ({ domainId, containerPath: CONTAINER, container, ...more })
  const deploy = (more: object = {}, as = ada.key) =>
    call('POST', '/v1/integrations/tag_manager/deploy', { as, body: input(more) })
  const status = async () =>
    (await call('GET', `/v1/integrations/tag_manager/deploy?containerPath=${CONTAINER}`, { as: ada.key })).body
  const list = () => call('GET', `/v1/integrations/tag_manager/tags?containerPath=${CONTAINER}`, { as: ada.key })

  /** The same request again and again until it is answered, as its caller is told to. */
  async function deployAll(more: object = {}) {
    for (;;) {
      const answer = await deploy(more)
      if (answer.status !== 503) return answer
      if (!answer.headers.get('retry-after')) throw new Error('when to ask again is not said')
    }
  }

  /** Lets time pass, a second every few milliseconds, until `work` has settled. */
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
  const kill = () => stopping.abort()
  const statusOf = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body.status
  return {
    ...{
      ...world,
      ada,
      domainId,
      reported,
      changes,
      wayOut,
      dispatcher,
      call,
      connect,
      input,
      deploy,
      deployAll,
      status,
      list,
    },
    ...{ passing, poll, kill, statusOf },
  }
}
