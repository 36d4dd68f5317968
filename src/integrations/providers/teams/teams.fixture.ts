import { type Cast, client } from '../../../../test/fixtures.ts'
import { SECOND_MS } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { setStatus } from '../../../issues/store.ts'
import type { Db } from '../../../store/database.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import { httpTransport } from '../../../transport/http-transport.ts'
import { type HttpOutbound, transport } from '../../../transport/transport.ts'
import { Dispatcher } from '../../delivery/dispatcher.ts'
import { notifier } from '../../delivery/notifier.ts'
import { outboxFixture } from '../../delivery/outbox.fixture.ts'
import { deliveryRoutes } from '../../delivery/routes.ts'
import { integrationRoutes } from '../../routes.ts'
import { StatusSync } from '../../status/status-sync.ts'
import { teamsConnector } from './teams.ts'
import { BOT, CHANNEL, teamsServer } from './teams-server.fixture.ts'

export type Server = Awaited<ReturnType<typeof teamsServer>>
export type Fixture = ReturnType<typeof teamsFixture>
export { teamsServer }

const publicUrl = 'https://watch.example'

/** The integrations of a server with a fake Microsoft cloud. */
export function teamsFixture(server: Pick<Server, 'operator'>, db?: Db, people?: Cast) {
  const fixture = outboxFixture(db, people)

  const reported: unknown[] = []
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const http = httpTransport({ guard, timeoutMs: 5000 })
  /** `losesResponse`: true if a call takes effect but its response is lost. */
  const network = { losesResponse: (_outbound: HttpOutbound): boolean => false }
  const deps = {
    db: fixture.db,
    clock: fixture.clock,
    box: fixture.box,
    mailConfigured: false,
    jitter: () => 0,
    transport: transport({
      async http(outbound, signal) {
        const reply = await http(outbound, signal)
        const isLost = network.losesResponse(outbound)
        return isLost ? { kind: 'error', message: 'the connection failed: ECONNRESET', permanent: false } : reply
      },
      mail: async () => ({ kind: 'error', message: 'e-mail is not available', permanent: true }),
    }),
    report: (error: unknown) => void reported.push(error),
    operator: server.operator,
  }
  const enqueue = notifier({ db: fixture.db, clock: fixture.clock, publicUrl })
  const dispatcher = new Dispatcher(deps, stopping.signal)
  const statusSync = new StatusSync(dispatcher)
  const routes = integrationRoutes({ ...deps, guard, dispatcher, publicUrl, enqueue, connectors: [teamsConnector] })
  const call = client(fixture, ...routes, ...deliveryRoutes(deps))
  const { ada, alice } = fixture.people

  const make = async (config: object = BOT, label?: string, as = ada.key) =>
    call('POST', '/v1/integrations', { as, body: { provider: 'office_chat', config, ...(label ? { label } : {}) } })

  /** Sends a call from Teams. It has a valid token unless one is given. */
  async function sendActivity(teams: Server, activity: object, token?: string | null) {
    const good = token === undefined ? await teams.sign(JSON.stringify(teams.claims(fixture.clock.now()))) : token
    const headers: Record<string, string> = good === null ? {} : { authorization: `Bearer ${good}` }
    return call('POST', '/v1/integrations/office_chat/messages', { body: activity, headers })
  }

  const choose = (id: string, channelId = CHANNEL, channelName = 'Tag alerts') =>
    call('POST', `/v1/integrations/office_chat/${id}/channel`, { as: ada.key, body: { channelId, channelName } })

  /** An installed bot with a chosen channel. */
  async function connected(teams: Server, config: object = BOT): Promise<string> {
    const { body } = await make(config)
    await sendActivity(teams, teams.added())
    const { status } = await choose(body.id)
    if (status !== 200) throw new Error(`choosing the channel failed with status ${status}`)
    return body.id
  }

  const deliver = async () => {
    dispatcher.start()
    await dispatcher.idle()
  }
  const follow = async () => {
    statusSync.start()
    await dispatcher.idle()
  }
  /** Delivers a transition to a channel. */
  async function tell(target: string, transition: Parameters<typeof fixture.tell>[0] = 'opened', issueId = 'iss_1') {
    if (transition === 'opened') fixture.issue(issueId)
    fixture.tell(transition, issueId, { channels: [{ type: 'office_chat', target }] })
    await deliver()
  }
  /** Enqueues a delivery about an existing issue without sending it. */
  const enqueueTransition = (target: string, transition: Parameters<typeof fixture.tell>[0], issueId: string) =>
    fixture.tell(transition, issueId, { channels: [{ type: 'office_chat', target }] })
  async function later(ms: number = 6 * SECOND_MS) {
    fixture.clock.advance(ms)
    await deliver()
  }
  const setStatusByUser = (status: IssueStatus, issueId = 'iss_1') =>
    setStatus(fixture.db, { orgId: alice.orgId, by: alice.userId, now: fixture.clock.now() }, issueId, status, enqueue)
  const get = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body
  const statusOf = async (id: string): Promise<string> => (await get(id)).status
  const stateOf = (id: string) => {
    const row = fixture.db
      .prepare<[string], { state: string | null }>('SELECT state FROM integration WHERE id = ?')
      .get(id)
    return row?.state ? JSON.parse(row.state) : null
  }
  return {
    ...fixture,
    reported,
    stopping,
    network,
    dispatcher,
    call,
    ada,
    alice,
    make,
    sendActivity,
    choose,
    connected,
    deliver,
    follow,
    tell,
    enqueueTransition,
    later,
    setStatusByUser,
    get,
    statusOf,
    stateOf,
    routes,
  }
}
