import { type Cast, client } from '../../../../test/fixtures.ts'
import { performer } from '../../../http/perform-call.ts'
import { router } from '../../../http/router.ts'
import { authenticator } from '../../../org/authenticate.ts'
import type { Db } from '../../../store/database.ts'
import { addressGuard } from '../../../transport/address-guard.ts'
import { httpTransport } from '../../../transport/http-transport.ts'
import { type HttpOutbound, transport } from '../../../transport/transport.ts'
import { callbackRoutes } from '../../connect-by-oauth.ts'
import { Dispatcher } from '../../delivery/dispatcher.ts'
import { notifier } from '../../delivery/notifier.ts'
import { outboxFixture } from '../../delivery/outbox.fixture.ts'
import { deliveryRoutes } from '../../delivery/routes.ts'
import { Poller } from '../../inbound/poller.ts'
import { integrationRoutes } from '../../routes.ts'
import { StatusSync } from '../../status/status-sync.ts'
import { CHANNEL_CONNECTORS, CHANNELS } from '../index.ts'
import { desk, deskConnector } from './desk.fixture.ts'
import { BOOK, CLIENT, deskServer } from './desk-server.fixture.ts'

export { BOOK, deskServer }
export type DeskServer = ReturnType<typeof deskServer>

export const SIGNING_SECRET = 's1gning-secret'
const publicUrl = 'https://watch.example'

const isOther = ({ type }: { type: string }) => type !== desk.type

/** Everything that a server supports, with the fictitious tracker in place of Jira. */
const WITH_DESK = {
  channels: [...CHANNELS.filter(isOther), desk],
  connectors: [...CHANNEL_CONNECTORS.filter(isOther), deskConnector],
}

/** The integrations of a server with the fictitious tracker or the given products. */
export function deskFixture(db?: Db, people?: Cast, products: typeof WITH_DESK = WITH_DESK) {
  const fixture = outboxFixture(db, people)
  const reported: unknown[] = []
  const guard = addressGuard(['127.0.0.0/8'])
  const stopping = new AbortController()
  const http = httpTransport({ guard })
  /** `losesResponse`: true if a request takes effect but its response is lost. */
  const network = { losesResponse: (_outbound: HttpOutbound): boolean => false, timeoutMs: 5000 }
  const deps = {
    db: fixture.db,
    clock: fixture.clock,
    box: fixture.box,
    mailConfigured: false,
    jitter: () => 0,
    transport: transport({
      async http(outbound, signal) {
        const reply = await http({ ...outbound, timeoutMs: network.timeoutMs }, signal)
        const isLost = network.losesResponse(outbound)
        return isLost ? { kind: 'error', message: 'the connection failed: ECONNRESET', permanent: false } : reply
      },
      mail: async () => ({ kind: 'error', message: 'e-mail is not available', permanent: true }),
    }),
    report: (error: unknown) => void reported.push(error),
    ...products,
    operator: { DESK_REGION: 'south' },
  }
  const enqueue = notifier({ db: fixture.db, clock: fixture.clock, publicUrl })
  const dispatcher = new Dispatcher(deps, stopping.signal)
  const statusSync = new StatusSync(dispatcher)
  const polls = new Poller(dispatcher, { ...deps, enqueue })
  const routes = integrationRoutes({ ...deps, guard, dispatcher, publicUrl, enqueue })
  const call = client(fixture, ...routes, ...deliveryRoutes(deps))
  const { alice, ada, vera, mallory } = fixture.people
  const noAudit = { db: fixture.db, audit: () => undefined }
  const pages = router(callbackRoutes({ ...deps, enqueue, publicUrl }), {
    authenticate: authenticator(fixture),
    perform: performer(noAudit),
  })

  const input = (server: DeskServer, more: object = {}) => ({
    provider: 'issue_tracker',
    label: 'Desk',
    config: { url: server.url, ...CLIENT, signingSecret: SIGNING_SECRET, ...more },
  })
  const make = (server: DeskServer, more: object = {}) =>
    call('POST', '/v1/integrations', { as: ada.key, body: input(server, more) })

  /** Starts a sign-in and returns the URL and the cookie for the browser. */
  async function startSignIn(id: string) {
    const { status, body, headers } = await call('POST', `/v1/integrations/${id}/connect`, { as: ada.key })
    return { status, url: String(body.url), cookie: headers.get('set-cookie')?.split(';')[0] ?? '' }
  }

  /** Sends the browser back from the sign-in and returns the resulting redirect. */
  async function returnFromSignIn(url: string, cookie: string) {
    const response = await pages.handle(new Request(url, { headers: { cookie } }))
    return { status: response.status, location: response.headers.get('location') ?? '' }
  }

  /** Creates an integration and signs in. */
  async function connected(server: DeskServer, more: object = {}): Promise<{ id: string; webhookUrl: string }> {
    const { body } = await make(server, more)
    const { url, cookie } = await startSignIn(body.id)
    const { location } = await returnFromSignIn(server.consent(url), cookie)
    if (!location.endsWith('#connected')) throw new Error(location)
    return body
  }

  const deliver = async () => {
    dispatcher.start()
    await dispatcher.idle()
  }
  const follow = async () => {
    statusSync.start()
    await dispatcher.idle()
  }
  const poll = async () => {
    polls.start()
    await dispatcher.idle()
  }
  const statusOf = async (id: string) => (await call('GET', `/v1/integrations/${id}`, { as: ada.key })).body.status
  return {
    ...fixture,
    reported,
    stopping,
    network,
    dispatcher,
    routes,
    call,
    alice,
    ada,
    vera,
    mallory,
    input,
    make,
    startSignIn,
    returnFromSignIn,
    connected,
    deliver,
    follow,
    poll,
    statusOf,
    enqueue,
  }
}
