import { type Cast, client } from '../../../../test/fixtures.ts'
import type { IssueStatus } from '../../../issues/issue.ts'
import { setStatus } from '../../../issues/store.ts'
import type { Db } from '../../../store/database.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import { httpTransport } from '../../../transport/http-transport.ts'
import { type HttpOutbound, transport } from '../../../transport/transport.ts'
import { webSockets } from '../../../transport/web-socket.ts'
import { Dispatcher } from '../../delivery/dispatcher.ts'
import { notifier } from '../../delivery/notifier.ts'
import { outboxFixture } from '../../delivery/outbox.fixture.ts'
import { deliveryRoutes } from '../../delivery/routes.ts'
import { Listeners } from '../../inbound/inbound-connections.ts'
import { integrationRoutes } from '../../routes.ts'
import { StatusSync } from '../../status/status-sync.ts'
import { slackConnector } from './slack.ts'
import { APP_TOKEN, BOT_TOKEN, CHANNEL, type SlackServer, slackServer } from './slack-server.fixture.ts'

export { APP_TOKEN, BOT_TOKEN, CHANNEL }

/** The integrations of a server with a fake Slack. */
export function slackFixture(db?: Db, people?: Cast, known?: SlackServer) {
  const fixture = outboxFixture(db, people)
  const slack = known ?? slackServer(fixture.clock)

  const reported: unknown[] = []
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const http = httpTransport({ guard, timeoutMs: 5000 })
  /** `losesResponse`: true if a call takes effect but its response is lost. */
  const network = { losesResponse: (_outbound: HttpOutbound): boolean => false, quietMs: 60_000 }
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
      openSocket: (url, signal) => webSockets({ guard, quietMs: network.quietMs })(url, signal),
    }),
    report: (error: unknown) => void reported.push(error),
    operator: { TEAM_CHAT_URL: slack.apiUrl },
  }
  const publicUrl = 'https://watch.example'
  const enqueue = notifier({ db: fixture.db, clock: fixture.clock, publicUrl })
  const dispatcher = new Dispatcher(deps, stopping.signal)
  const statusSync = new StatusSync(dispatcher)
  const listeners = new Listeners(dispatcher, { ...deps, enqueue, connectors: [slackConnector] })
  const routes = integrationRoutes({ ...deps, guard, dispatcher, publicUrl, enqueue, connectors: [slackConnector] })
  const call = client(fixture, ...routes, ...deliveryRoutes(deps))
  const { alice, ada } = fixture.people

  const make = (config: object, label?: string) =>
    call('POST', '/v1/integrations', {
      as: ada.key,
      body: { provider: 'team_chat', config, ...(label ? { label } : {}) },
    })
  const choose = (id: string, channelId = CHANNEL, channelName = '#web') =>
    call('POST', `/v1/integrations/team_chat/${id}/channel`, { as: ada.key, body: { channelId, channelName } })

  /** Creates a bot integration and chooses its channel. The resulting test message is removed. */
  async function connected(config: object = {}): Promise<string> {
    const { body } = await make({ botToken: BOT_TOKEN, ...config })
    const { status, body: chosen } = await choose(body.id)
    if (status !== 200) throw new Error(chosen.error)
    slack.calls.length = 0
    slack.messages.length = 0
    fixture.clock.advance(2000)
    return body.id
  }

  const deliver = async () => {
    dispatcher.start()
    await dispatcher.idle()
  }
  const sync = async () => {
    statusSync.start()
    await dispatcher.idle()
  }
  /** Delivers a transition through the integration, one second after the previous one. */
  async function deliverTransition(
    id: string,
    transition: 'opened' | 'reopened' | 'repeated' | 'resolved',
    issueId = 'iss_1',
  ) {
    fixture.clock.advance(1000)
    if (transition === 'opened') fixture.issue(issueId)
    fixture.tell(transition, issueId, { channels: [{ type: 'team_chat', target: id }] })
    await deliver()
  }
  const setStatusByUser = (status: IssueStatus, issueId = 'iss_1') =>
    setStatus(fixture.db, { orgId: alice.orgId, by: alice.userId, now: fixture.clock.now() }, issueId, status, enqueue)
  const statusOf = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body.status
  async function stop() {
    stopping.abort()
    await Promise.all([dispatcher.idle(), listeners.idle()])
    if (!known) await slack.server.stop(true)
  }
  return {
    ...fixture,
    slack,
    reported,
    network,
    dispatcher,
    listeners,
    stopping,
    call,
    make,
    choose,
    connected,
    deliver,
    sync,
    deliverTransition,
    setStatusByUser,
    statusOf,
    enqueue,
    [Symbol.asyncDispose]: stop,
  }
}

export type SlackFixture = ReturnType<typeof slackFixture>
