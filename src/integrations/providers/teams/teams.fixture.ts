import { type Cast, client } from '../../../../test/fixtures.ts'
import { SECOND_MS } from '../../../core/clock.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { setStatus } from '../../../issues/store.ts'
import type { Db } from '../../../store/database.ts'
import { Dispatcher } from '../../delivery/dispatcher.ts'
import { notifier } from '../../delivery/notifier.ts'
import { outboxFixture } from '../../delivery/outbox.fixture.ts'
import { deliveryRoutes } from '../../delivery/routes.ts'
import { integrationRoutes } from '../../routes.ts'
import { StatusSync } from '../../status/status-sync.ts'
import { addressGuard } from '../../transport/address-guard.ts'
import { httpTransport } from '../../transport/http-transport.ts'
import { type HttpOutbound, transport } from '../../transport/transport.ts'
import { BOT, CHANNEL, teamsServer } from './teams-server.fixture.ts'

export type Server = Awaited<ReturnType<typeof teamsServer>>
export type World = ReturnType<typeof teamsFixture>
export { teamsServer }

const publicUrl = 'https://watch.example'

/** The integrations of a server together with a fake Microsoft cloud. */
export function teamsFixture(server: Pick<Server, 'operator'>, db?: Db, people?: Cast) {
  const world = outboxFixture(db, people)

  const reported: unknown[] = []
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const http = httpTransport({ guard, timeoutMs: 5000 })
  /** True: the call takes effect, but its response is lost. */
  const wayOut = { loses: (_outbound: HttpOutbound): boolean => false }
  const parts = {
    db: world.db,
    clock: world.clock,
    box: world.box,
    mailConfigured: false,
    jitter: () => 0,
    transport: transport({
      async http(outbound, signal) {
        const reply = await http(outbound, signal)
        const isLost = wayOut.loses(outbound)
        return isLost ? { kind: 'error', message: 'the connection failed: ECONNRESET', permanent: false } : reply
      },
      mail: async () => ({ kind: 'error', message: 'no mail', permanent: true }),
    }),
    report: (error: unknown) => void reported.push(error),
    operator: server.operator,
  }
  const enqueue = notifier({ db: world.db, clock: world.clock, publicUrl })
  const dispatcher = new Dispatcher(parts, stopping.signal)
  const statusSync = new StatusSync(dispatcher)
  const routes = integrationRoutes({ ...parts, guard, dispatcher, publicUrl, enqueue })
  const call = client(world, ...routes, ...deliveryRoutes(parts))
  const { ada, alice } = world.people

  const make = async (config: object = BOT, label?: string, as = ada.key) =>
    call('POST', '/v1/integrations', { as, body: { provider: 'office_chat', config, ...(label ? { label } : {}) } })

  /** Sends a call from Teams, with a valid token unless one is given. */
  async function say(teams: Server, activity: object, token?: string | null) {
    const good = token === undefined ? await teams.sign(JSON.stringify(teams.claims(world.clock.now()))) : token
    const headers: Record<string, string> = good === null ? {} : { authorization: `Bearer ${good}` }
    return call('POST', '/v1/integrations/office_chat/messages', { body: activity, headers })
  }

  const choose = (id: string, channelId = CHANNEL, channelName = 'Tag alerts') =>
    call('POST', `/v1/integrations/office_chat/${id}/channel`, { as: ada.key, body: { channelId, channelName } })

  /** An installed bot with a chosen channel. */
  async function connected(teams: Server, config: object = BOT): Promise<string> {
    const { body } = await make(config)
    await say(teams, teams.added())
    const { status } = await choose(body.id)
    if (status !== 200) throw new Error(`the channel was refused with ${status}`)
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
  async function tell(target: string, transition: Parameters<typeof world.tell>[0] = 'opened', issueId = 'iss_1') {
    if (transition === 'opened') world.issue(issueId)
    world.tell(transition, issueId, { channels: [{ type: 'office_chat', target }] })
    await deliver()
  }
  /** Enqueues a delivery about an existing issue without sending it. */
  const tellLater = (target: string, transition: Parameters<typeof world.tell>[0], issueId: string) =>
    world.tell(transition, issueId, { channels: [{ type: 'office_chat', target }] })
  async function later(ms: number = 6 * SECOND_MS) {
    world.clock.advance(ms)
    await deliver()
  }
  const byHand = (status: IssueStatus, issueId = 'iss_1') =>
    setStatus(world.db, { orgId: alice.orgId, by: alice.userId, now: world.clock.now() }, issueId, status, enqueue)
  const get = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body
  const statusOf = async (id: string): Promise<string> => (await get(id)).status
  const stateOf = (id: string) => {
    const row = world.db
      .prepare<[string], { state: string | null }>('SELECT state FROM integration WHERE id = ?')
      .get(id)
    return row?.state ? JSON.parse(row.state) : null
  }
  return {
    ...world,
    reported,
    stopping,
    wayOut,
    dispatcher,
    call,
    ada,
    alice,
    make,
    say,
    choose,
    connected,
    deliver,
    follow,
    tell,
    tellLater,
    later,
    byHand,
    get,
    statusOf,
    stateOf,
    routes,
  }
}
